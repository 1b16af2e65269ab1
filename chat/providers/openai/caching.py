"""Marks for what is cached, where a model behind the OpenAI chat wire wants them."""

import re
from typing import Final

from chat.protocol.frozen import JsonObject

# Anthropic's models cache what they are told to, whichever gateway stands before them; all others
# cache by themselves.
_MARKED: Final = re.compile(r"(^|[/.])claude-")
_CACHED: Final = {"type": "ephemeral"}


def mark_cached(model: str, messages: list[JsonObject]) -> list[JsonObject]:
    """The same messages with marks at the instructions and the last two turns of the user, as on
    Anthropic's own wire. The tools stand before the instructions, so they are kept with them."""
    if not _MARKED.search(model):
        return messages
    places = [n for n, message in enumerate(messages) if message["role"] == "user"][-2:]
    if messages and messages[0]["role"] == "system":
        places.append(0)
    return [_marked(message) if n in places else message for n, message in enumerate(messages)]


def _marked(message: JsonObject) -> JsonObject:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    texts = [n for n, block in enumerate(blocks) if block["type"] == "text" and block["text"]]
    if not texts:
        return message
    blocks[texts[-1]] = blocks[texts[-1]] | {"cache_control": _CACHED}
    return message | {"content": blocks}
