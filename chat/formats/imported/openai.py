"""Messages as OpenAI's API and its many imitators have them: `tool_calls`, and `role: tool`."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.updates import (
    Called,
    Image,
    Prompt,
    Returned,
    SessionSeen,
    Step,
    Update,
    Words,
)
from chat.protocol.frozen import JsonObject

# Where servers put what the model thought.
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def read_messages(messages: Iterable[JsonObject]) -> Iterator[Update]:
    """What each message adds; instructions of the system are no part of a conversation."""
    for number, message in enumerate(messages):
        match message.get("role"):
            case "user":
                yield Prompt(_text(message), _images(message.get("content")), _at(message))
            case "assistant":
                yield from _answer(message, number)
            case "tool" | "function":
                call_id = shapes.text(message.get("tool_call_id")) or _function_id(message)
                yield Returned(call_id, shapes.output(message.get("content")), at=_at(message))


def _answer(message: JsonObject, number: int) -> Iterator[Update]:
    key, at = str(number), _at(message)
    model = shapes.text(message.get("model"))
    if model:
        yield SessionSeen("", model)
    yield Step(key, model, at=at)
    thought = next((found for name in _THOUGHTS if (found := shapes.text(message.get(name)))), "")
    if thought:
        yield Words("thinking", f"{key}:thinking", thought, at=at)
    words = _text(message) or shapes.text(message.get("refusal"))
    if words:
        yield Words("text", f"{key}:text", words, at=at)
    for call in shapes.objects(message.get("tool_calls")):
        function = shapes.an_object(call.get("function"))
        if call_id := shapes.text(call.get("id")):
            yield Called(call_id, _name(function), _arguments(function), at=at)
    # The form before `tool_calls`: one call, without an id.
    if function := shapes.an_object(message.get("function_call")):
        yield Called(f"function:{_name(function)}", _name(function), _arguments(function), at=at)


def _name(function: JsonObject) -> str:
    return shapes.text(function.get("name")) or "Tool"


def _function_id(message: JsonObject) -> str:
    name = shapes.text(message.get("name"))
    return f"function:{name}" if name else ""


def _arguments(function: JsonObject) -> JsonObject:
    given: Any = function.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            return {"arguments": given}
    return shapes.arguments(given)


def _text(message: JsonObject) -> str:
    return "\n\n".join(part for part in shapes.texts(message.get("content")) if part)


def _images(content: Any) -> tuple[Image, ...]:
    """Pictures that came with the message itself; addresses elsewhere are not asked."""
    found = []
    for block in shapes.objects(content):
        given = block.get("image_url")
        url = shapes.text(shapes.an_object(given).get("url")) or shapes.text(given)
        if url.startswith("data:image/") and ";base64," in url:
            found.append(Image(url[5:].partition(";")[0], url))
    return (*found, *shapes.images(content))


def _at(message: JsonObject) -> int | None:
    """Some programs keep when a message was written, in seconds or in milliseconds."""
    for name in ("created_at", "created", "timestamp"):
        value = message.get(name)
        if isinstance(value, int | float) and 0 < value < 1e14:
            return int(value if value > 1e11 else value * 1000)
    return shapes.moment(message)
