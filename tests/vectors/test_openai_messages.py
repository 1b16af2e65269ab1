"""Histories of blocks → OpenAI messages in both styles, and going on with them (C2, C6)."""

import json
from typing import Any

import pytest

from chat.formats.openai_messages import blocks_to_openai, resume
from tests.vectors.cases import cases, only


def parsed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Arguments are compared as what they say."""
    messages = json.loads(json.dumps(messages))
    for message in messages:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return messages


@pytest.mark.parametrize("case", cases("history_blocks_to_openai", "cases"))
def test_blocks_become_messages(case):
    only(case, "tool_style", "input", "expect")
    assert parsed(blocks_to_openai(case["input"], case["tool_style"])) == parsed(case["expect"])


@pytest.mark.parametrize("case", cases("history_blocks_to_openai", "resume_cases"))
def test_a_history_is_taken_up_again(case):
    only(case, "tool_style", "input", "expect", "property")
    if "expect" in case:
        assert resume(case["input"], case["tool_style"]) == case["expect"]
        return
    assert "no outgoing message may contain both" in case["property"], "unknown form: property"
    names = [
        block["name"]
        for message in case["input"]
        for block in message["content"]
        if isinstance(block, dict) and block["type"] == "tool_use"
    ]
    for style in ("json", "xml"):
        sent = blocks_to_openai(resume(case["input"], style), style)
        as_text = any(f"<{name}>" in json.dumps(sent) for name in names)
        natively = any("tool_calls" in m or m["role"] == "tool" for m in sent)
        assert (as_text, natively) == ((False, True) if style == "json" else (True, False))
