"""Parts → model messages against the reference cases (C2, E5)."""

import json
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from chat.engine.history import HistoryOptions, to_model_messages
from chat.protocol.ids import is_uuid
from chat.protocol.interfaces import (
    Block,
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.protocol.messages import ModelRef, WithParts
from tests.vectors.cases import cases, only


def with_uuids(value: Any, key: str = "") -> Any:
    """The cases have short ids for messages; ours are UUIDs (BR-04)."""
    if isinstance(value, dict):
        return {
            name: item if name == "input" else with_uuids(item, name)
            for name, item in value.items()
        }
    if isinstance(value, list):
        return [with_uuids(item, key) for item in value]
    if key in ("id", "messageID", "parentID") and isinstance(value, str) and not is_uuid(value):
        return str(uuid5(NAMESPACE_URL, value))
    return value


def neutral(message: ModelMessage) -> dict[str, Any]:
    return {"role": message.role, "content": [neutral_block(block) for block in message.content]}


def neutral_block(block: Block) -> dict[str, Any]:
    match block:
        case TextBlock(text):
            return {"type": "text", "text": text}
        case ReasoningBlock(text):
            return {"type": "reasoning", "text": text}
        case FileBlock(mime, url, filename):
            name = {"filename": filename} if filename else {}
            return {"type": "file", "mediaType": mime, **name, "data": url}
        case ToolCallBlock(call_id, name, arguments):
            return {
                "type": "tool-call",
                "toolCallId": call_id,
                "toolName": name,
                "input": arguments,
            }
        case ToolResultBlock(call_id, name):
            output = neutral_output(block)
            return {
                "type": "tool-result",
                "toolCallId": call_id,
                "toolName": name,
                "output": output,
            }


def neutral_output(block: ToolResultBlock) -> dict[str, Any]:
    if not block.files:
        return {"type": "error-text" if block.is_error else "text", "value": block.text}
    media = [
        {"type": "media", "mediaType": file.mime, "data": file.url.partition("base64,")[2]}
        for file in block.files
    ]
    return {"type": "content", "value": [{"type": "text", "text": block.text}, *media]}


@pytest.mark.parametrize("case", cases("parts_to_model_messages", "cases"))
def test_parts_become_the_messages_of_a_request(case):
    only(case, "target_model", "input", "expect", "options")
    given = case.get("options", {})
    only(given, "toolOutputMaxChars", "stripMedia", "provider_supports_media_in_tool_result")
    options = HistoryOptions(
        model=ModelRef.model_validate(case["target_model"]),
        media_in_results=given.get("provider_supports_media_in_tool_result", False),
        strip_media=given.get("stripMedia", False),
        tool_characters=given.get("toolOutputMaxChars"),
    )
    messages = [
        WithParts.model_validate_json(json.dumps(with_uuids(message))) for message in case["input"]
    ]
    told = [neutral(message) for message in to_model_messages(messages, options)]
    assert told == without_provider_options(case["expect"])


def without_provider_options(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_provider_options(v) for k, v in value.items() if k != "providerOptions"}
    if isinstance(value, list):
        return [without_provider_options(item) for item in value]
    return value
