"""Results among the blocks of a user message, as Anthropic's API and ToolMessage2's forerunner have
them → messages of ToolMessage2, which is read from here on."""

from collections.abc import Iterable, Iterator

from chat.formats.imported import openai, shapes
from chat.formats.imported.updates import LeftOut
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id

_OF_TOOLS = ("tool-result", "tool_use", "tool_result")
_OF_THINKING = ("thinking", "redacted_thinking")
# The blocks of ToolMessage2, by the role of their message. Of a locked thought nothing is said.
_KNOWN = {
    "user": ("text", "image"),
    "assistant": ("text", "image", "reasoning", "tool_use", "redacted_thinking"),
}


def has_blocks(message: JsonObject) -> bool:
    """Whether a message has blocks that OpenAI's form has not."""
    known = (*_OF_TOOLS, *_OF_THINKING)
    return any(block.get("type") in known for block in shapes.objects(message.get("content")))


def as_tool_messages(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        content = message.get("content")
        if not isinstance(content, list):
            yield message if isinstance(content, str) else {**message, "content": ""}
            continue
        blocks = [_block(block) for block in _all_blocks(content)]
        results = [block for block in blocks if block.get("type") == "tool-result"]
        if message.get("role") == "tool" or not results:
            yield {**message, "content": blocks}
            continue
        yield {"role": "tool", "content": results}
        if rest := [block for block in blocks if block.get("type") != "tool-result"]:
            yield {**message, "content": rest}


def lost_of_tool_messages(messages: Iterable[JsonObject]) -> Iterator[LeftOut]:
    """Of what is in such messages nothing is kept."""
    for message in messages:
        role = shapes.text(message.get("role"))
        if role == "tool":
            continue
        if role not in _KNOWN:
            yield LeftOut("message", role)
            continue
        for block in shapes.objects(message.get("content")):
            kind = shapes.text(block.get("type"))
            is_elsewhere = kind == "image" and not shapes.text(block.get("data"))
            if kind not in _KNOWN[role] or is_elsewhere:
                yield LeftOut("content", kind)


def _all_blocks(content: list[object]) -> Iterator[JsonObject]:
    for block in content:
        if isinstance(block, dict):
            yield block
        elif isinstance(block, str):
            yield {"type": "text", "text": block}


def _block(block: JsonObject) -> JsonObject:
    match block.get("type"):
        case "tool_use":
            return {**block, "id": block.get("id") or f"call_{new_id()}"}
        case "tool_result":
            return _result(block)
        case "thinking":
            return {"type": "reasoning", "text": shapes.text(block.get("thinking"))}
        case "tool-result":
            return block
        case _ if found := openai.file_in(block):
            told = {"data": found.url, "mimeType": found.mime, "name": found.name}
            return {"type": "image", **told}
        case _:
            return block


def _result(block: JsonObject) -> JsonObject:
    made: JsonObject = {"type": "tool-result"}
    if "tool_use_id" in block:
        content = block.get("content")
        if isinstance(content, list):
            content = [_block(each) for each in _all_blocks(content)]
        told = {"llmContent": content or "", "isError": block.get("is_error") is True}
        return {**made, "toolCallId": shapes.text(block["tool_use_id"]), "result": told}
    names = {"id": "toolCallId", "name": "toolName", "input": "input", "result": "result"}
    return made | {new: block[old] for old, new in names.items() if old in block}
