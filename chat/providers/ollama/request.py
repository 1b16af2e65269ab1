"""A request on Ollama's own wire: a pure function of the neutral request."""

import json
from collections.abc import Iterator
from typing import Any, Final, assert_never

from chat.protocol.effort import NONE, ON
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.providers.file_blocks import base64_of, file_note
from chat.providers.openai.request import function_tools

_SWITCH: Final = {NONE: False, ON: True}
# Tokens: the least room that is asked for, what an answer and a picture may take, and the most
# room for a model that does not say how much it has.
_LEAST_ROOM: Final = 8192
_ANSWER: Final = 2048
_PICTURE: Final = 1000
_UNKNOWN_WINDOW: Final = 32_768


def request_body(request: ModelRequest) -> JsonObject:
    """The body; on this wire temperature and limits are `options`."""
    options: JsonObject = {}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.output_limit is not None:
        options["num_predict"] = request.output_limit
    body: JsonObject = {
        "model": request.model,
        "messages": list(_messages(request)),
        "stream": True,
        "options": options,
    }
    if request.tools:
        body["tools"] = function_tools(request.tools)
    options["num_ctx"] = _room_for(request, body)
    if request.effort:
        # A switch or, for models that have them, a step.
        body["think"] = _SWITCH.get(request.effort, request.effort)
    return body


def _room_for(request: ModelRequest, body: JsonObject) -> int:
    """How many tokens the server makes room for. Without it, it takes a few thousand and silently
    forgets the beginning of what is longer. Each size costs memory, and another one loads the
    model anew: so it doubles, and only where that is needed."""
    told = [body["messages"], body.get("tools", ())]
    pictures = sum(len(message.get("images", ())) for message in body["messages"])
    text = json.dumps([_without_images(told[0]), told[1]], ensure_ascii=False)
    # This is done on the event loop: a text without wide letters is not gone through.
    wide = 0 if text.isascii() else sum(character > "\u2e7f" for character in text)
    needed = (
        (len(text) - wide) // 3 + wide + pictures * _PICTURE + (request.output_limit or _ANSWER)
    )
    most = request.window or _UNKNOWN_WINDOW
    room = _LEAST_ROOM
    while room < min(needed, most):
        room *= 2
    return min(room, most)


def _without_images(messages: list[JsonObject]) -> list[JsonObject]:
    return [
        {name: value for name, value in message.items() if name != "images"} for message in messages
    ]


def _messages(request: ModelRequest) -> Iterator[JsonObject]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if message.role == "tool":
            yield from _results(message)
        else:
            yield from _message(message)


def _message(message: ModelMessage) -> Iterator[JsonObject]:
    texts: list[str] = []
    thoughts: list[str] = []
    fields: dict[str, list[Any]] = {"images": [], "tool_calls": []}
    for block in message.content:
        match block:
            case TextBlock():
                texts.append(block.text)
            case FileBlock():
                data = base64_of(block.url) if block.mime.startswith("image/") else None
                if data is None:
                    texts.append(file_note(block))
                else:
                    fields["images"].append(data)
            case ToolCallBlock():
                function = {"name": block.name, "arguments": block.input}
                fields["tool_calls"].append({"function": function})
            case ReasoningBlock():
                thoughts.append(block.text)
            case ToolResultBlock():
                pass  # results have messages of their own
            case _:
                assert_never(block)
    glue = "\n\n" if message.role == "user" else ""
    result: JsonObject = {"role": message.role, "content": glue.join(texts)}
    if fields["tool_calls"] and any(thoughts):
        # What led to calls is read again by models that think on between their tools.
        result["thinking"] = "".join(thoughts)
    result |= {name: values for name, values in fields.items() if values}
    if result["content"] or len(result) > 2:
        # A step that only thought says nothing here.
        yield result


def _results(message: ModelMessage) -> Iterator[JsonObject]:
    images: list[str] = []
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            yield {"role": "tool", "tool_name": block.name, "content": block.text}
            images += [data for file in block.files if (data := base64_of(file.url))]
    if images:
        yield {"role": "user", "content": "Images returned by the tools above:", "images": images}
