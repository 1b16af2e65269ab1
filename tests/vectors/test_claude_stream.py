"""What Claude's command line writes, against the reference cases (D1, D4)."""

import json
from typing import Any

import pytest

from chat.formats.claude_stream import BadLine, ClaudeReader, Line, LineReader
from chat.formats.imported.conversation import ImportedConversation
from chat.protocol.ids import new_id
from chat.protocol.messages import WithParts
from chat.protocol.notes import part_notes
from chat.protocol.parts import Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.validation import part_to_json
from tests.vectors.cases import cases, only


def fold(lines: list[dict[str, Any]]) -> tuple[ImportedConversation, list[Part], list[WithParts]]:
    """The conversation, all its parts so far, and the messages that are whole."""
    reader, conversation = ClaudeReader(), ImportedConversation(new_id())
    messages = []
    for line in lines:
        for update in reader.read(line):
            messages += [each for each in conversation.apply(update) if isinstance(each, WithParts)]
    parts = [part for each in messages for part in each.parts if each.info.role == "assistant"]
    return conversation, [*parts, *conversation.parts], messages


def seen(parts: list[Part], parent: str = "") -> list[Part]:
    """What a person sees of one level: no marks of steps, no thoughts without words."""
    shown = (part for part in parts if isinstance(part, TextPart | ReasoningPart | ToolPart))
    here = (part for part in shown if part_notes(part).parent_call_id == parent)
    return [part for part in here if not isinstance(part, ReasoningPart) or part.text]


def matches(part: Part, expected: dict[str, Any]) -> None:
    form = part_to_json(part)
    state = form.get("state", {})
    for key, value in expected.items():
        if key == "state":
            assert {name: state.get(name) for name in value} == value
        else:
            assert form[key] == value


def all_match(parts: list[Part], expected: list[dict[str, Any]]) -> None:
    assert len(parts) == len(expected)
    for part, form in zip(parts, expected, strict=True):
        matches(part, form)


@pytest.mark.parametrize("case", cases("claude_stream_json", "cases"))
def test_lines_become_parts(case: dict[str, Any]) -> None:
    only(case, "lines", "expect")
    expect = case["expect"]
    only(
        expect,
        "parts",
        "top_level_parts",
        "children_of",
        "turn",
        "session_id",
        "reasoned",
        "errors",
    )
    conversation, parts, _ = fold(case["lines"])
    for key in ("parts", "top_level_parts"):
        if key in expect:
            all_match(seen(parts), expect[key])
    for call_id, inner in expect.get("children_of", {}).items():
        all_match(seen(parts, call_id), inner)
    if "session_id" in expect:
        assert conversation.external_id == expect["session_id"]
    if "reasoned" in expect:
        assert any(isinstance(part, ReasoningPart) for part in parts) is expect["reasoned"]
    faults = [{"code": fault.code, "id": fault.call_id} for fault in conversation.faults]
    assert faults == expect.get("errors", [])
    check_turn(conversation, expect.get("turn", {}))


def check_turn(conversation: ImportedConversation, expect: dict[str, Any]) -> None:
    only(expect, "status", "finish", "cost", "tokens", "error_code", "http_status", "message")
    for key, value in expect.items():
        found = getattr(conversation.ended, key)
        assert (found.model_dump() if key == "tokens" else found) == value


STATUSES = {"completed": "completed", "error": "failed", "running": "running", "pending": "pending"}


@pytest.mark.parametrize("case", cases("claude_stream_json", "update_cases"))
def test_updates_become_calls(case: dict[str, Any]) -> None:
    only(case, "updates", "expect")
    only(case["expect"], "tool_calls", "assistant_messages")
    _, parts, messages = fold(case["updates"])
    assert not messages
    calls = [part for part in parts if isinstance(part, ToolPart)]
    for call, expected in zip(calls, case["expect"]["tool_calls"], strict=True):
        only(expected, "id", "name", "status", "result", "error")
        form = part_to_json(call)["state"]
        assert (call.call_id, call.tool) == (expected["id"], expected["name"])
        assert STATUSES[form["status"]] == expected["status"]
        assert form.get("error") == expected.get("error")
        if "result" in expected:
            assert json.loads(form["output"]) == expected["result"]


@pytest.mark.parametrize("case", cases("claude_stream_json", "framing_cases"))
def test_chunks_become_lines(case: dict[str, Any]) -> None:
    only(case, "chunks", "expect", "max_line_chars", "generate")
    only(case["expect"], "objects", "error")
    chunks = case.get("chunks") or [written(each) for each in case["generate"]["chunks"]]
    reader = LineReader(case.get("max_line_chars", 1024 * 1024))
    found = [*(line for chunk in chunks for line in reader.feed(chunk)), *reader.close()]
    if "objects" in case["expect"]:
        values = [line.value for line in found if isinstance(line, Line)]
        assert values == case["expect"]["objects"]
    if "error" in case["expect"]:
        assert [bad.fault for bad in found if isinstance(bad, BadLine)] == [case["expect"]["error"]]


def written(chunk: str | dict[str, Any]) -> str:
    if isinstance(chunk, str):
        return chunk
    only(chunk, "json")
    data = chunk["json"]["data"]
    return json.dumps(chunk["json"] | {"data": data["repeat"] * data["times"]})
