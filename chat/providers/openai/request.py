"""A request on the OpenAI chat wire: a pure function of the neutral request."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
)
from chat.providers.file_blocks import file_note
from chat.providers.joined_turns import joined
from chat.providers.openai.caching import mark_cached
from chat.providers.openai.quirks import Quirks
from chat.providers.openai.thinking import thinking_fields, thoughts_beside_calls
from chat.providers.openai.thought_details import DETAILS


def request_body(request: ModelRequest, quirks: Quirks) -> JsonObject:
    """The body; what is not set is not sent, so that a server's own defaults hold."""
    body: JsonObject = {
        "model": request.model,
        "messages": _cached(request, joined(_messages(request, quirks))),
        "stream": True,
    }
    if quirks.include_usage:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = function_tools(request.tools)
    thinks = request.thinks or bool(request.thinking.efforts)
    if request.temperature is not None and (quirks.warm_thinking or not thinks):
        body["temperature"] = request.temperature
    if request.output_limit is not None:
        body[quirks.max_tokens_field] = request.output_limit
    if request.cache_key and quirks.cache_key:
        body["prompt_cache_key"] = request.cache_key
    if "web_search" in request.server_tools:
        body |= quirks.web_search
    return body | thinking_fields(request, quirks)


def _cached(request: ModelRequest, messages: list[JsonObject]) -> list[JsonObject]:
    """Nothing follows what has no key: nobody would read it from the cache."""
    return mark_cached(request.model, messages) if request.cache_key else messages


def function_tools(tools: Sequence[ToolSpec]) -> list[JsonObject]:
    """The tools as this wire lists them; Ollama's own wire does the same."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]


def _messages(request: ModelRequest, quirks: Quirks) -> Iterator[JsonObject]:
    if request.system:
        yield {"role": "system", "content": request.system}
    for message in request.messages:
        match message.role:
            case "user":
                yield {"role": "user", "content": _content(message)}
            case "assistant":
                yield from _assistant(message, request.model, quirks)
            case "tool":
                yield from _results(message)
            case _:
                assert_never(message.role)


def _content(message: ModelMessage) -> str | list[JsonObject]:
    blocks = message.content
    if all(isinstance(block, TextBlock) for block in blocks):
        return "\n\n".join(block.text for block in blocks if isinstance(block, TextBlock))
    return [
        _file(block) if isinstance(block, FileBlock) else {"type": "text", "text": block.text}
        for block in blocks
        if isinstance(block, FileBlock | TextBlock)
    ]


def _file(block: FileBlock) -> JsonObject:
    if block.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": block.url}}
    if block.mime == "application/pdf" and block.url.startswith("data:"):
        name = block.filename or "document.pdf"
        return {"type": "file", "file": {"filename": name, "file_data": block.url}}
    return {"type": "text", "text": file_note(block)}


def _assistant(message: ModelMessage, model: str, quirks: Quirks) -> Iterator[JsonObject]:
    texts, thoughts, details, calls = [], [], [], []
    for block in message.content:
        match block:
            case TextBlock():
                texts.append(block.text)
            case ReasoningBlock():
                thoughts.append(block)
                details += block.metadata.get(DETAILS, [])
            case ToolCallBlock():
                calls.append(_call(block))
            case FileBlock() | ToolResultBlock():
                pass  # an assistant's message of this wire has neither
            case _:
                assert_never(block)
    text = "".join(texts)
    if not (text or calls):
        return  # a step that only thought says nothing here, which servers refuse
    result: JsonObject = {"role": "assistant", "content": text if text or not calls else None}
    if calls:
        result["tool_calls"] = calls
        result |= thoughts_beside_calls(thoughts, model, quirks)
    if details:
        # Signed and encrypted: whoever hands them on wants them back.
        result["reasoning_details"] = details
    yield result


def _call(block: ToolCallBlock) -> JsonObject:
    arguments = json.dumps(block.input, ensure_ascii=False)
    call: dict[str, Any] = {
        "id": block.call_id,
        "type": "function",
        "function": {"name": block.name, "arguments": arguments},
    }
    if "extra_content" in block.metadata:
        # Gemini refuses a call that comes back without its signature, whoever stands before it.
        call["extra_content"] = block.metadata["extra_content"]
    return call


def _results(message: ModelMessage) -> Iterator[JsonObject]:
    """One message per result; their files follow as the user's, for results are text only."""
    files: list[FileBlock] = []
    for block in message.content:
        if isinstance(block, ToolResultBlock):
            yield {"role": "tool", "tool_call_id": block.call_id, "content": block.text}
            files.extend(block.files)
    if files:
        note = {"type": "text", "text": "Files returned by the tools above:"}
        yield {"role": "user", "content": [note, *map(_file, files)]}
