"""A request on the Responses wire: a pure function of the neutral request.

The history is ours: nothing is stored at the provider (`store: false`), so thoughts come back
encrypted and are sent again in front of what they led to.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, assert_never

from chat.protocol.effort import NONE, ON, Effort
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
from chat.providers.file_blocks import file_note
from chat.providers.joined_turns import joined
from chat.providers.responses.server_tools import included, server_tools

# Where an item that must go back unchanged is kept in the metadata of a thought.
ITEM: Final = "item"
# The field of a message that says what it is, kept with its text under the same name.
PHASE: Final = "phase"
# Models that think, by name, of which nothing else is known; the others refuse to be asked for it.
_THINKING: Final = re.compile(r"^(o\d|gpt-[5-9]|codex|grok-([4-9]|\d{2}))")


def request_body(request: ModelRequest) -> JsonObject:
    """The body; what is not set is not sent, so that a server's own defaults hold."""
    items = (item for message in request.messages for item in _items(message))
    body: JsonObject = {
        "model": request.model,
        # Answers stay apart: each has its phase.
        "input": joined(items, roles=("user",), text_type="input_text"),
        "store": False,
        "stream": True,
    }
    if request.system:
        body["instructions"] = request.system
    tools = server_tools(request.server_tools)
    if request.tools:
        tools += [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                # Strict schemas let a model fill in every field, also those it has no use for.
                "strict": False,
            }
            for tool in request.tools
        ]
    if tools:
        body["tools"] = tools
    if request.cache_key:
        body["prompt_cache_key"] = request.cache_key
    if request.output_limit is not None:
        body["max_output_tokens"] = request.output_limit
    if _thinks(request):
        body["reasoning"] = _reasoning(request.effort)
    elif request.temperature is not None:
        # Models that think refuse any temperature but their own.
        body["temperature"] = request.temperature
    thoughts = ("reasoning.encrypted_content",) if _thinks(request) else ()
    if wanted := [*thoughts, *included(request.server_tools)]:
        body["include"] = wanted
    return body


def _thinks(request: ModelRequest) -> bool:
    if request.thinking.efforts:
        return True
    if request.thinks is not None:
        return request.thinks
    return _THINKING.match(request.model.rsplit("/", 1)[-1]) is not None


def _reasoning(effort: Effort) -> JsonObject:
    """How hard it shall think, and that it tells of it."""
    if effort == NONE:
        return {"effort": NONE}
    return {"effort": effort, "summary": "auto"} if effort not in ("", ON) else {"summary": "auto"}


def _items(message: ModelMessage) -> Iterator[JsonObject]:
    match message.role:
        case "user":
            yield {"role": "user", "content": _content(message)}
        case "assistant":
            yield from _said(message.content)
        case "tool":
            yield from _results(message)
        case _:
            assert_never(message.role)


def _content(message: ModelMessage) -> str | list[JsonObject]:
    blocks = message.content
    if all(isinstance(block, TextBlock) for block in blocks):
        return "\n\n".join(block.text for block in blocks if isinstance(block, TextBlock))
    return [
        _file(block) if isinstance(block, FileBlock) else _text(block.text)
        for block in blocks
        if isinstance(block, FileBlock | TextBlock)
    ]


def _said(blocks: tuple[Block, ...]) -> list[JsonObject]:
    """What the model said, item by item."""
    items = [item for block in blocks for item in _item(block)]
    # A thought that led to nothing is refused, as when an answer is stopped. What the provider did
    # itself, such as a search, stays, and wants the thought in front of it back.
    while items and items[-1].get("type") == "reasoning":
        items.pop()
    return items


def _item(block: Block) -> Iterator[JsonObject]:
    match block:
        case ReasoningBlock():
            item = block.metadata.get(ITEM)
            if isinstance(item, dict) and _can_go_back(item):
                yield item
        case TextBlock() if block.text.strip():
            # Without its type llama.cpp does not know what it is.
            said = {"type": "message", "role": "assistant", "content": block.text}
            yield said | _phase(block)
        case ToolCallBlock():
            yield {
                "type": "function_call",
                "call_id": block.call_id,
                "name": block.name,
                "arguments": json.dumps(block.input, ensure_ascii=False),
            }
        case TextBlock() | FileBlock() | ToolResultBlock():
            pass  # an assistant's turn has neither, and says nothing by an empty text
        case _:
            assert_never(block)


def _can_go_back(item: JsonObject) -> bool:
    """A thought without its words is a name that its server has not kept."""
    is_thought = item.get("type") == "reasoning"
    return not is_thought or bool(item.get("encrypted_content") or item.get("content"))


def _phase(block: TextBlock) -> JsonObject:
    """Whether it was said on the way or is the answer: models go on worse that are not told."""
    phase = block.metadata.get(PHASE)
    return {PHASE: phase} if isinstance(phase, str) else {}


def _results(message: ModelMessage) -> Iterator[JsonObject]:
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            output: str | list[JsonObject] = block.text
            if block.files:
                output = [_text(block.text), *map(_file, block.files)]
            yield {"type": "function_call_output", "call_id": block.call_id, "output": output}


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _file(block: FileBlock) -> JsonObject:
    if block.mime.startswith("image/"):
        return {"type": "input_image", "image_url": block.url, "detail": "auto"}
    if block.mime == "application/pdf" and block.url.startswith("data:"):
        name = block.filename or "document.pdf"
        return {"type": "input_file", "filename": name, "file_data": block.url}
    return _text(file_note(block))
