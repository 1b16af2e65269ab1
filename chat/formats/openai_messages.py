"""A history of blocks, as other chats keep it, → OpenAI messages in either style."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from chat.formats.xml_history import call_as_xml, result_as_text
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolStyle

SEE_IMAGE = "(see following user message for image)"
INTERRUPTED = "Task was interrupted before this tool call could be completed."
UNKNOWN = "Unknown Tool"


def blocks_to_openai(messages: Sequence[JsonObject], style: ToolStyle) -> list[JsonObject]:
    """All messages in one style: native calls and results, or all of them as text."""
    names = _names(messages)
    sent: list[JsonObject] = []
    called: set[str] = set()
    for message in messages:
        if isinstance(message["content"], str):
            sent.append({"role": message["role"], "content": message["content"]})
        elif message["role"] == "assistant":
            calls = _of(message, "tool_use")
            called |= {call["id"] for call in calls if call.get("id")}
            sent.append(_assistant(message, calls, style))
        else:
            sent.extend(_user(message, style, called, names))
    return sent


def style_of_blocks(messages: Sequence[JsonObject]) -> ToolStyle | None:
    """The style of the latest calls, if there are any: a call written as XML has no id."""
    for message in reversed(messages):
        calls = _of(message, "tool_use") if message["role"] == "assistant" else []
        if calls:
            return "json" if calls[0].get("id") else "xml"
    return None


def resume(messages: Sequence[JsonObject], style: ToolStyle) -> list[JsonObject]:
    """The blocks to go on with: as they are, with open calls answered, or all as text."""
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
            output = "\n\n".join(part["text"] for part in _parts(block) if part["type"] == "text")
            return _text(result_as_text(name, output))
        case _:
            return block


def _with_results(messages: Sequence[JsonObject]) -> list[JsonObject]:
    """The last calls that nobody answered are answered as interrupted."""
    kept = list(messages)
    last = next((at for at in (-1, -2) if _role(kept, at) == "assistant"), None)
    if last is None:
        return kept
    answered = {block["tool_use_id"] for one in kept[last:] for block in _of(one, "tool_result")}
    missing = [
        {"type": "tool_result", "tool_use_id": call["id"], "content": INTERRUPTED}
        for call in _of(kept[last], "tool_use")
        if call["id"] not in answered
    ]
    if missing and last == -1:
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
    sent: JsonObject = {"role": "assistant"}
    if texts or style == "xml":
        sent["content"] = "\n".join(texts)
    # An empty list is refused.
    if calls and style == "json":
        sent["tool_calls"] = [_call(call) for call in calls]
    return sent


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
    """Native results come before the user's own text; as text they follow it."""
    content = [_content(block) for block in message["content"] if _is_content(block)]
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


def _is_content(block: JsonObject) -> bool:
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
