"""The text of an answer that nobody watches: a title, a summary."""

from contextlib import aclosing
from dataclasses import dataclass, field

from chat.protocol.interfaces import Adjusted, ModelProvider, ModelRequest, TextDelta, Usage


@dataclass(slots=True)
class Collected:
    """What has come so far; it counts also when the answer breaks off."""

    text: str = ""
    usage: Usage | None = None
    # What the server refused, and how it was asked then.
    adjusted: list[Adjusted] = field(default_factory=list)

    async def collect(self, provider: ModelProvider, request: ModelRequest) -> str:
        """All text of the answer."""
        async with aclosing(provider.stream(request)) as stream:
            async for event in stream:
                if isinstance(event, Usage):
                    self.usage = event
                elif isinstance(event, Adjusted):
                    self.adjusted.append(event)
                elif isinstance(event, TextDelta):
                    self.text += event.text
        return self.text
