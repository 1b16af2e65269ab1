"""A request on the Anthropic messages wire: a pure function of the neutral request."""

import re
from collections.abc import Iterator
from typing import Final, assert_never

from chat.protocol.frozen import JsonObject
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
from chat.providers.file_blocks import base64_of, file_note

# The wire wants a limit; this one is for models whose own is not known.
_MAX_TOKENS: Final = 8192
# From the generation of 4.6 on a model thinks as much as it wants to, and is asked to show it.
_CLAUDE: Final = re.compile(r"claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)")
_ADAPTIVE: Final = (4, 6)
_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


def request_body(request: ModelRequest, *, cache: bool) -> JsonObject:
    """The body; without a temperature, which newer models refuse. `cache`: cache the prompt."""
    body: JsonObject = {
        "model": request.model,
        "max_tokens": request.max_output or _MAX_TOKENS,
        "messages": _merge(request.messages),
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if _thinks_adaptively(request.model):
        # Newer ones leave the text of their thoughts away unless they are asked for it.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if cache:
        body["cache_control"] = {"type": "ephemeral"}
    return body


def _thinks_adaptively(model: str) -> bool:
    if (found := _CLAUDE.search(model)) is None:
        return False
    return (int(found[1]), int(found[2] or 0)) >= _ADAPTIVE


def _merge(messages: tuple[ModelMessage, ...]) -> list[JsonObject]:
    """Turns of alternating roles; results come first in the user's turn after their calls."""
    turns: list[JsonObject] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [sent for block in message.content for sent in _blocks(block)]
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
            yield from _reasoning(block)
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


def _reasoning(block: ReasoningBlock) -> Iterator[JsonObject]:
    """Reasoning goes back as it came: with its signature, or the block as it was."""
    kept = block.metadata.get("block")
    if isinstance(kept, dict):
        yield kept
    elif signature := block.metadata.get("signature"):
        yield {"type": "thinking", "thinking": block.text, "signature": signature}


def _file(block: FileBlock) -> JsonObject:
    data = base64_of(block.url)
    kind = "image" if block.mime in _IMAGES else "document"
    if block.mime not in (*_IMAGES, "application/pdf"):
        return {"type": "text", "text": file_note(block)}
    if data is None:
        return {"type": kind, "source": {"type": "url", "url": block.url}}
    source = {"type": "base64", "media_type": block.mime, "data": data}
    return {"type": kind, "source": source}


def _result(block: ToolResultBlock) -> JsonObject:
    content: str | list[JsonObject] = block.text
    if block.files:
        texts: list[JsonObject] = [{"type": "text", "text": block.text}] if block.text else []
        content = [*texts, *map(_file, block.files)]
    result: JsonObject = {
        "type": "tool_result",
        "tool_use_id": _id(block.call_id),
        "content": content,
    }
    return result | {"is_error": True} if block.is_error else result


def _id(call_id: str) -> str:
    """Ids made by another provider may hold characters that this one refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)
