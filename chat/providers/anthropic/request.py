"""A request on the Anthropic messages wire: a pure function of the neutral request."""

from collections.abc import Iterable, Iterator
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
from chat.providers.anthropic.call_ids import give_own_ids
from chat.providers.anthropic.citations import text_blocks
from chat.providers.anthropic.server_tools import server_tools, without_lost_calls
from chat.providers.anthropic.thinking import thinking_fields
from chat.providers.file_blocks import base64_of, file_note

_CACHED: Final = {"type": "ephemeral"}
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_IMAGES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")


def request_body(request: ModelRequest) -> JsonObject:
    """The body. A temperature is only for models that do not think."""
    body: JsonObject = {"model": request.model, "messages": _merge(request.messages)}
    if request.system:
        body["system"] = [{"type": "text", "text": request.system}]
    tools: list[JsonObject] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
        for tool in request.tools
    ]
    if tools := [*server_tools(request), *tools]:
        body["tools"] = tools
    if request.cache_key:
        # To write costs more: a request that nothing follows, as for a title, writes nothing.
        _mark_cached(body)
    body |= {"stream": True} | thinking_fields(request)
    thinks = body.get("thinking", {}).get("type") in ("adaptive", "enabled")
    if request.temperature is not None and not thinks:
        body["temperature"] = min(request.temperature, 1.0)
    return body


def _mark_cached(body: JsonObject) -> None:
    """Let the server keep the prompt up to here: the tools, the instructions, and the last two
    turns of the user. Of these the earlier one was the last one of the request before, so what
    that request wrote is read again. Four marks are allowed."""
    turns = [turn["content"] for turn in body["messages"] if turn["role"] == "user"]
    for blocks in (body.get("tools"), body.get("system"), *turns[-2:]):
        if blocks:
            # A copy: the block may be one that is kept as it came.
            blocks[-1] = blocks[-1] | {"cache_control": _CACHED}


def _merge(messages: tuple[ModelMessage, ...]) -> list[JsonObject]:
    """Turns of alternating roles; results come first in the user's turn after their calls."""
    turns = _joined(
        {
            "role": "assistant" if message.role == "assistant" else "user",
            "content": [sent for block in message.content for sent in _blocks(block)],
        }
        for message in messages
    )
    give_own_ids(turns)
    without_lost_calls(turns)
    _without_last_thoughts(turns)
    turns = _joined(turns)
    for turn in turns:
        if turn["role"] == "user":
            turn["content"].sort(key=lambda block: block["type"] != "tool_result")
    return turns


def _joined(turns: Iterable[JsonObject]) -> list[JsonObject]:
    """No turn that says nothing, and no two of the same role in a row."""
    joined: list[JsonObject] = []
    for turn in turns:
        if joined and joined[-1]["role"] == turn["role"]:
            joined[-1]["content"] += turn["content"]
        elif turn["content"]:
            joined.append(turn)
    return joined


def _without_last_thoughts(turns: list[JsonObject]) -> None:
    """A thought that led to nothing is refused, as when an answer is stopped."""
    for turn in turns:
        content = turn["content"]
        while content and content[-1]["type"] in _THOUGHTS:
            content.pop()


def _blocks(block: Block) -> Iterator[JsonObject]:
    match block:
        case TextBlock():
            yield from text_blocks(block)
        case ReasoningBlock():
            yield from _reasoning(block)
        case FileBlock():
            yield _file(block)
        case ToolCallBlock():
            yield {
                "type": "tool_use",
                "id": block.call_id,
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
        "tool_use_id": block.call_id,
        "content": content,
    }
    return result | {"is_error": True} if block.is_error else result
