"""A history of blocks, as other chats keep it, → OpenAI messages in either style."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from chat.formats.xml_history import call_as_xml, result_as_text
from chat.protocol.interfaces import ToolStyle
from chat.protocol.tool_state import JsonObject

SEE_IMAGE = "(see following user message for image)"
INTERRUPTED = "Task was interrupted before this tool call could be completed."
UNKNOWN = "Unknown Tool"


def blocks_to_openai(messages: Sequence[JsonObject], style: ToolStyle) -> list[JsonObject]:
    """One style for the whole list: natively, or all calls and results as text."""
    names = _names(messages)
    told: list[JsonObject] = []
    called: set[str] = set()
    for message in messages:
        if isinstance(message["content"], str):
            told.append({"role": message["role"], "content": message["content"]})
        elif message["role"] == "assistant":
            calls = _of(message, "tool_use")
            called |= {call["id"] for call in calls if call.get("id")}
            told.append(_assistant(message, calls, style))
        else:
            told.extend(_user(message, style, called, names))
    return told


def resume(messages: Sequence[JsonObject], style: ToolStyle) -> list[JsonObject]:
    """The blocks to go on with: as they are, or all as text. What was open is closed."""
    if style == "json":
        return _with_results(messages)
    names = _names(messages)
    return [_as_text(message, names) for message in messages]


def _as_text(message: JsonObject, names: dict[str, str]) -> JsonObject:
    if isinstance(message["content"], str):
        return message
    return {**message, "content": [_block_as_text(block, names) for block in message["content"]]}


def _block_as_text(block: JsonObject, names: dict[str, str]) -> JsonObject:
    match block["type"]:
        case "tool_use":
            return _text(call_as_xml(block["name"], block.get("input") or {}))
        case "tool_result":
            name = names.get(block["tool_use_id"], UNKNOWN)
            said = "\n\n".join(part["text"] for part in _parts(block) if part["type"] == "text")
            return _text(result_as_text(name, said))
        case _:
            return block


def _with_results(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The last calls that nobody answered are answered as interrupted."""
    kept = list(messages)
    asked = next((at for at in (-1, -2) if _role(kept, at) == "assistant"), None)
    if asked is None:
        return kept
    answered = {block["tool_use_id"] for one in kept[asked:] for block in _of(one, "tool_result")}
    missing = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": INTERRUPTED}
        for call in _of(kept[asked], "tool_use")
        if call["id"] not in answered
    ]
    if missing and asked == -1:
        kept.append({"role": "user", "content": missing})
    elif missing:
        kept[-1] = {**kept[-1], "content": [*_blocks(kept[-1]), *missing]}
    return kept


def _role(messages: Sequence[JsonObject], at: int) -> str:
    return messages[at]["role"] if len(messages) >= -at else ""


def _assistant(message: JsonObject, calls: list[JsonObject], style: ToolStyle) -> JsonObject:
    texts = [block["text"] for block in _of(message, "text")]
    if style == "xml":
        texts += [call_as_xml(call["name"], call.get("input") or {}) for call in calls]
    told: JsonObject = {"role": "assistant"}
    if texts or style == "xml":
        told["content"] = "\n".join(texts)
    # An empty list is refused.
    if calls and style == "json":
        told["tool_calls"] = [_call(call) for call in calls]
    return told


def _call(call: JsonObject) -> JsonObject:
    arguments = json.dumps(call.get("input") or {}, ensure_ascii=False)
    return {
        "id": call["id"],
        "type": "function",
        "function": {"name": call["name"], "arguments": arguments},
    }


def _user(
    message: JsonObject, style: ToolStyle, called: set[str], names: dict[str, str]
) -> Iterator[JsonObject]:
    """Results come first, natively; as text they follow what was said."""
    content = [_content(block) for block in message["content"] if _is_said(block)]
    seen: set[str] = set()
    for result in _of(message, "tool_result"):
        key = result["tool_use_id"]
        if style == "xml":
            name = result.get("tool_name") or names.get(key, "tool")
            content.append(_text(result_as_text(name, _output(result))))
        elif key in called and key not in seen:
            seen.add(key)
            yield {"role": "tool", "tool_call_id": key, "content": _output(result)}
    if content:
        yield {"role": "user", "content": content}


def _is_said(block: JsonObject) -> bool:
    return block["type"] in ("text", "image")


def _content(block: JsonObject) -> JsonObject:
    if block["type"] == "text":
        return _text(block["text"])
    source = block["source"]
    inline = f"data:{source.get('media_type')};base64,{source.get('data')}"
    url = source["url"] if source["type"] == "url" else inline
    return {"type": "image_url", "image_url": {"url": url}}


def _output(result: JsonObject) -> str:
    return "\n".join(
        SEE_IMAGE if part["type"] == "image" else part.get("text", "") for part in _parts(result)
    )


def _parts(result: JsonObject) -> list[JsonObject]:
    content = result.get("content") or []
    return [_text(content)] if isinstance(content, str) else content


def _blocks(message: JsonObject) -> list[JsonObject]:
    content: Any = message["content"]
    return [_text(content)] if isinstance(content, str) else content


def _of(message: JsonObject, kind: str) -> list[JsonObject]:
    return [block for block in _blocks(message) if block["type"] == kind]


def _names(messages: Sequence[JsonObject]) -> dict[str, str]:
    calls = [call for message in messages for call in _of(message, "tool_use")]
    return {call["id"]: call["name"] for call in calls if call.get("id")}


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}
