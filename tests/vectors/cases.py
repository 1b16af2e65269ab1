"""The reference cases: every case of every `*.json` in one folder.

`PARLEY_VECTORS` names another folder, so that more cases of the same form can be run
without touching code. A section that no loader reads is listed here, or the tests fail.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("PARLEY_VECTORS") or HERE / "data")

Case = dict[str, Any]


@dataclass(frozen=True)
class Decision:
    """What we do instead, and why: the case is tested with `ours` in place of what it says."""

    reason: str
    ours: Callable[[Case], Case]


def _without_other_kinds(case: Case) -> Case:
    messages = [
        {**each, "parts": [part for part in each["parts"] if part["type"] not in OTHER_KINDS]}
        for each in case["input"]
    ]
    expect = [
        {**each, "content": [block for block in each["content"] if not _stands_for(block)]}
        for each in case["expect"]
    ]
    return {"input": messages, "expect": expect}


# Of the original, and refused by us: `test_validation.py`.
OTHER_KINDS = {
    "compaction": "What did we do so far?",
    "subtask": "The following tool was executed by the user",
}


def _stands_for(block: Case) -> bool:
    return block.get("text") in OTHER_KINDS.values()


# Cases we decide differently. What we do must really differ from what they say.
DECIDED: dict[str, Decision] = {
    "part-05-user-kinds": Decision(
        "`compaction` and `subtask` are not among the part types of the design (4)",
        _without_other_kinds,
    ),
    "xml-display-7": Decision(
        "a `<` before a blank can become no tag, so it is shown at once (the case is optional)",
        lambda case: {"expect": case["input"]},
    ),
    "blk-13-result-xml-unnamed": Decision(
        "a result is named after its call: upstream's name is a defect (the case is optional)",
        lambda case: json.loads(json.dumps(case).replace("[tool Result]", "[calculator Result]")),
    ),
}

# (suite, section) → the test module that reads it.
LOADERS: dict[tuple[str, str], str] = {
    ("tool_state_and_parts", "transition_cases"): "test_tool_state.py",
    ("tool_state_and_parts", "stream_cases"): "test_streams.py",
    ("tool_state_and_parts", "validation_cases"): "test_validation.py",
    ("tool_state_and_parts", "usage_cases"): "test_usage.py",
    ("toolmessage2_pairing", "cases"): "test_tool_messages.py",
    ("toolmessage2_pairing", "split_cases"): "test_tool_messages.py",
    ("toolmessage2_pairing", "render_cases"): "test_tool_messages.py",
    ("parts_to_model_messages", "cases"): "test_history.py",
    ("chat_protocol", "server_cases"): "test_server_cases.py",
    ("chat_protocol", "client_cases"): "test_client_cases.py",
    ("chat_protocol", "tool_style_cases"): "test_tool_style.py",
    ("chat_protocol", "tool_style_lock_cases"): "test_tool_style.py",
    ("chat_protocol", "migration_cases"): "test_tool_style.py",
    ("history_blocks_to_openai", "cases"): "test_openai_messages.py",
    ("history_blocks_to_openai", "resume_cases"): "test_openai_messages.py",
    ("xml_tool_calls", "cases"): "test_xml_tools.py",
    ("xml_tool_calls", "display_cases"): "test_xml_tools.py",
    ("xml_tool_calls", "format_cases"): "test_xml_tools.py",
    ("claude_stream_json", "cases"): "test_claude_stream.py",
    ("claude_stream_json", "update_cases"): "test_claude_stream.py",
    ("claude_stream_json", "framing_cases"): "test_claude_stream.py",
}

# Read by the tests of the room they are about.
ELSEWHERE: dict[tuple[str, str], str] = {
    ("tool_state_and_parts", "retry_cases"): "providers/test_retry.py",
    ("chat_protocol", "calculator"): "tools/test_calculator_vectors.py",
}

_NOT_SECTIONS = ("suite", "about", "config")


def suites() -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def sections() -> set[tuple[str, str]]:
    return {
        (suite["suite"], name) for suite in suites() for name in suite if name not in _NOT_SECTIONS
    }


def plain_cases(suite: str, section: str) -> list[dict[str, Any]]:
    found = [data for data in suites() if data["suite"] == suite]
    return [case for data in found for case in data.get(section, [])]


def cases(suite: str, section: str) -> list[Any]:
    """The cases as parameters of a test; those decided differently say what we do."""
    return [pytest.param(as_decided(case), id=case["id"]) for case in plain_cases(suite, section)]


def as_decided(case: Case) -> Case:
    decided = DECIDED.get(case["id"])
    return case if decided is None else {**case, **decided.ours(case)}


def only(data: dict[str, Any], *known: str) -> None:
    """A case with a key that the loader does not know fails: its form is new."""
    unknown = set(data) - set(known) - {"id", "kind", "source", "note", "test"}
    assert not unknown, f"unknown form: {sorted(unknown)}"
