"""A request on the Anthropic messages wire: a pure function of the neutral request."""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.protocol.tool_state import JsonObject
from chat.providers.data_urls import base64_of

_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


def request_body(
    request: ModelRequest, *, max_tokens: int, sampling: bool, cache: bool
) -> JsonObject:
    """The body; newer models refuse any temperature, so it is sent only where allowed."""
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_output or max_tokens,
        "messages": _merged(request.messages),
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if cache:
        body["cache_control"] = {"type": "ephemeral"}
    if sampling and request.temperature is not None:
        body["temperature"] = request.temperature
    return body


def _merged(messages: tuple[ModelMessage, ...]) -> list[JsonObject]:
    """Turns of alternating roles; results come first in the user's turn after their calls."""
    turns: list[JsonObject] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [found for block in message.content for found in _blocks(block)]
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] += blocks
        else:
            turns.append({"role": role, "content": blocks})
    for turn in turns:
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
    return turns


def _blocks(block: Block) -> Iterator[JsonObject]:
    match block:
        case TextBlock():
            if block.text:
                yield {"type": "text", "text": block.text}
        case ReasoningBlock():
            yield from _thought(block)
        case FileBlock():
            yield _file(block)
        case ToolCallBlock():
            yield {
                "type": "tool_use",
                "id": _id(block.call_id),
                "name": block.name,
                "input": block.input,
            }
        case ToolResultBlock():
            yield _result(block)
        case _:
            assert_never(block)


def _thought(block: ReasoningBlock) -> Iterator[JsonObject]:
    """A thought goes back as it came: with its signature, or the block as it was."""
    kept = block.metadata.get("block")
    if isinstance(kept, dict):
        yield kept
    elif signature := block.metadata.get("signature"):
        yield {"type": "thinking", "thinking": block.text, "signature": signature}


def _file(block: FileBlock) -> JsonObject:
    data = base64_of(block.url)
    kind = "image" if block.mime in _IMAGES else "document"
    if block.mime not in (*_IMAGES, "application/pdf"):
        return {"type": "text", "text": f"[File {block.filename or block.mime} ({block.mime})]"}
    if data is None:
        return {"type": kind, "source": {"type": "url", "url": block.url}}
    source = {"type": "base64", "media_type": block.mime, "data": data}
    return {"type": kind, "source": source}


def _result(block: ToolResultBlock) -> JsonObject:
    content: str | list[JsonObject] = block.text
    if block.files:
        said: list[JsonObject] = [{"type": "text", "text": block.text}] if block.text else []
        content = [*said, *map(_file, block.files)]
    result: JsonObject = {
        "type": "tool_result",
        "tool_use_id": _id(block.call_id),
        "content": content,
    }
    return result | {"is_error": True} if block.is_error else result


def _id(call_id: str) -> str:
    """Ids made by another provider may hold characters that this one refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)
