"""Messages of one role in a row made one: templates of many open models refuse a conversation in
which the person speaks twice, as after an answer that was stopped before it said anything."""

from collections.abc import Collection, Iterable
from typing import Any

from chat.protocol.frozen import JsonObject


def joined(
    messages: Iterable[JsonObject],
    roles: Collection[str] = ("user", "assistant"),
    text_type: str = "text",
) -> list[JsonObject]:
    """The messages, of these roles no two in a row; `text_type` is what the wire calls a text."""
    turns: list[JsonObject] = []
    for message in messages:
        last = turns[-1] if turns else {}
        alike = message.get("role") in roles and message["role"] == last.get("role")
        # Whoever called is answered first.
        if alike and "tool_calls" not in last:
            turns[-1] = _one(last, message, text_type)
        else:
            turns.append(message)
    return turns


def _one(first: JsonObject, second: JsonObject, text_type: str) -> JsonObject:
    content = _content(first["content"], second["content"], text_type)
    one = {**first, **second, "content": content}
    details = [*first.get("reasoning_details", ()), *second.get("reasoning_details", ())]
    return one | {"reasoning_details": details} if details else one


def _content(first: Any, second: Any, text_type: str) -> Any:
    if isinstance(first, list) or isinstance(second, list):
        return [*_blocks(first, text_type), *_blocks(second, text_type)]
    return "\n\n".join(text for text in (first, second) if text)


def _blocks(content: Any, text_type: str) -> list[JsonObject]:
    if isinstance(content, list):
        return content
    return [{"type": text_type, "text": content}] if content else []
