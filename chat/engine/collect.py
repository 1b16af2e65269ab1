"""The text of an answer that nobody watches: a title, a summary, a trial of a model."""

from contextlib import aclosing

from chat.protocol.interfaces import ModelProvider, ModelRequest, TextDelta


async def collect_text(
    provider: ModelProvider, request: ModelRequest, *, limit: int | None = None
) -> str:
    """All text of the answer; with a limit, the stream is left when so many characters came."""
    text = ""
    async with aclosing(provider.stream(request)) as stream:
        async for event in stream:
            if isinstance(event, TextDelta):
                text += event.text
                if limit is not None and len(text) >= limit:
                    return text[:limit]
    return text
