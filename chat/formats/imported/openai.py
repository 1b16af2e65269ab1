"""Messages as OpenAI's API and its many imitators have them: `tool_calls`, and `role: tool`."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from chat.formats.imported import shapes
from chat.formats.imported.call_ids import CallIds
from chat.formats.imported.updates import (
    Called,
    InlineFile,
    LeftOut,
    Prompt,
    Returned,
    SessionSeen,
    Step,
    Update,
    Words,
)
from chat.protocol.frozen import JsonObject

ANY_FILE = "application/octet-stream"
# The blocks with words, and where these are.
_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
# Where servers put what the model thought.
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


def read_messages(messages: Iterable[JsonObject]) -> Iterator[Update]:
    """What each message adds; instructions of the system are no part of a conversation."""
    ids = CallIds()
    for number, message in enumerate(messages):
        match message.get("role"):
            case "user":
                ids.new_turn()
                content = _content(message)
                yield from content.left_out
                yield Prompt(content.text, content.files, _at(message))
            case "assistant":
                yield from _answer(message, number, ids)
            case "tool" | "function":
                yield _result(message, ids)
            case role:
                yield LeftOut("message", shapes.text(role))


def _answer(message: JsonObject, number: int, ids: CallIds) -> Iterator[Update]:
    key, at = str(number), _at(message)
    model = shapes.text(message.get("model"))
    if model:
        yield SessionSeen("", model)
    yield Step(key, model, at=at)
    thought = next((found for name in _THOUGHTS if (found := shapes.text(message.get(name)))), "")
    if thought:
        yield Words("thinking", f"{key}:thinking", thought, at=at)
    content = _content(message)
    yield from content.left_out
    yield from (LeftOut("content", file.mime) for file in content.files)
    spoken = shapes.an_object(message.get("audio")).get("transcript")
    words = content.text or shapes.text(message.get("refusal")) or shapes.text(spoken)
    if words:
        yield Words("text", f"{key}:text", words, at=at)
    for call in shapes.objects(message.get("tool_calls")):
        function = shapes.an_object(call.get("function"))
        yield _call(function, shapes.text(call.get("id")), ids, at)
    # The form before `tool_calls`: one call, without an id.
    if function := shapes.an_object(message.get("function_call")):
        yield _call(function, "", ids, at)


def _call(function: JsonObject, wanted: str, ids: CallIds, at: int | None) -> Called:
    name = _name(function)
    call_id = ids.called(wanted, name)
    original = None if call_id == wanted else wanted
    return Called(call_id, name, _arguments(function), at=at, original_id=original)


def _result(message: JsonObject, ids: CallIds) -> Returned:
    names = (shapes.text(message.get(key)) for key in ("name", "tool_name"))
    call_id = ids.returned(shapes.text(message.get("tool_call_id")), next(filter(None, names), ""))
    content = message.get("content")
    files, others = [], []
    for block in content if isinstance(content, list) else ():
        found = file_in(block) if isinstance(block, dict) else None
        files.append(found) if found else others.append(block)
    output = shapes.output(others if isinstance(content, list) else content)
    return Returned(call_id, output, files=tuple(files), at=_at(message))


def _name(function: JsonObject) -> str:
    return shapes.text(function.get("name")) or "Tool"


def _arguments(function: JsonObject) -> JsonObject:
    given: Any = function.get("arguments")
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            return {"arguments": given}
    return shapes.arguments(given)


@dataclass(frozen=True, slots=True)
class _Content:
    text: str
    files: tuple[InlineFile, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def _content(message: JsonObject) -> _Content:
    """What a message says, the files that came with it, and what of it cannot be kept."""
    content = message.get("content")
    if not isinstance(content, list):
        return _Content(shapes.text(content))
    texts: list[str] = []
    files: list[InlineFile] = []
    left_out: list[LeftOut] = []
    for block in content:
        if isinstance(block, str):
            texts.append(block)
        elif not isinstance(block, dict):
            left_out.append(LeftOut("content", type(block).__name__))
        elif (kind := shapes.text(block.get("type"))) in _TEXTS:
            texts.append(shapes.text(block.get(_TEXTS[kind])))
        elif found := file_in(block):
            files.append(found)
        else:
            left_out.append(LeftOut("content", kind))
    return _Content("\n\n".join(filter(None, texts)), tuple(files), tuple(left_out))


def file_in(block: JsonObject) -> InlineFile | None:
    """A file that lies in its block; addresses elsewhere are not asked."""
    match block.get("type"):
        case "image_url" | "input_image":
            given = block.get("image_url")
            url = shapes.text(shapes.an_object(given).get("url")) or shapes.text(given)
            return InlineFile(_mime(url), url) if url.startswith("data:image/") else None
        case "file" | "input_file":
            file = shapes.an_object(block.get("file")) or block
            data, name = shapes.text(file.get("file_data")), shapes.text(file.get("filename"))
            if data and not data.startswith("data:"):
                data = f"data:{ANY_FILE};base64,{data}"
            return InlineFile(_mime(data), data, name or "file") if data else None
        case _:
            return shapes.file_in(block)


def _mime(url: str) -> str:
    return url.removeprefix("data:").partition(";")[0] or ANY_FILE


def _at(message: JsonObject) -> int | None:
    """Some programs keep when a message was written, in seconds or in milliseconds."""
    for name in ("created_at", "created", "timestamp"):
        if (at := shapes.stamp(message.get(name))) is not None:
            return at
    return shapes.moment(message)
