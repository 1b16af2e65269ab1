"""A request on Ollama's own wire: a pure function of the neutral request."""

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


def request_body(request: ModelRequest) -> JsonObject:
    """The body; on this wire temperature and limits are `options`."""
    options: JsonObject = {}
    if request.temperature is not None:
        options["temperature"] = request.temperature
    if request.max_output is not None:
        options["num_predict"] = request.max_output
    body: JsonObject = {
        "model": request.model,
        "messages": list(_messages(request)),
        "stream": True,
    }
    if options:
        body["options"] = options
    if request.tools:
        body["tools"] = function_tools(request.tools)
    if request.effort:
        # A switch or, for models that have them, a step.
        body["think"] = _SWITCH.get(request.effort, request.effort)
    return body


def _messages(request: ModelRequest) -> Iterator[JsonObject]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        if message.role == "tool":
            yield from _results(message)
        else:
            yield _message(message)


def _message(message: ModelMessage) -> JsonObject:
    texts: list[str] = []
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
            case ReasoningBlock() | ToolResultBlock():
                pass  # reasoning does not go back; results have messages of their own
            case _:
                assert_never(block)
    glue = "\n\n" if message.role == "user" else ""
    result: JsonObject = {"role": message.role, "content": glue.join(texts)}
    return result | {name: values for name, values in fields.items() if values}


def _results(message: ModelMessage) -> Iterator[JsonObject]:
    images: list[str] = []
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            yield {"role": "tool", "tool_name": block.name, "content": block.text}
            images += [data for file in block.files if (data := base64_of(file.url))]
    if images:
        yield {"role": "user", "content": "Images returned by the tools above:", "images": images}
