"""ToolMessage2 against the reference cases: pairing, pending, what is shown (B1 … B4)."""

import copy
from typing import Any

import pytest

from chat.formats.tool_messages import PairedMessages, pair, split_pending
from chat.formats.tool_results import result_from_wire
from chat.protocol.displays import (
    DiffDisplay,
    Display,
    TextDisplay,
    TodoDisplay,
    in_reading_order,
)
from chat.protocol.ids import new_id
from tests.vectors.cases import cases, only, plain_cases


def check(case: dict[str, Any]) -> None:
    only(case, "input", "expect")
    only(case["expect"], "ui_messages", "errors")
    given = copy.deepcopy(case["input"])
    paired = pair(case["input"])
    assert paired.messages == case["expect"]["ui_messages"]
    assert [fault.as_json() for fault in paired.faults] == case["expect"].get("errors", [])
    assert case["input"] == given


@pytest.mark.parametrize("case", cases("toolmessage2_pairing", "cases"))
def test_results_find_their_calls(case):
    """B2, B3."""
    if "property" not in case:
        check(case)
        return
    assert "one at a time" in case["property"], "unknown form: property"
    for other in plain_cases("toolmessage2_pairing", "cases"):
        if "property" not in other:
            live = PairedMessages()
            for length, message in enumerate(other["input"], 1):
                live.feed(message)
                assert live == pair(other["input"][:length])


@pytest.mark.parametrize("case", cases("toolmessage2_pairing", "split_cases"))
def test_what_is_complete_is_split_from_what_waits(case):
    only(case, "input", "expect")
    only(case["expect"], "completed", "pending")
    completed, pending = split_pending(case["input"])
    assert [len(completed), len(pending)] == [
        case["expect"]["completed"],
        case["expect"]["pending"],
    ]


COMPONENTS = {"diff": "DiffViewer", "todo": "TodoList", "text": "Text", "json": "Json"}


@pytest.mark.parametrize("case", cases("toolmessage2_pairing", "render_cases"))
def test_a_result_says_what_is_shown(case):
    """B4: the error comes first, then the display, then what the model read."""
    only(case, "part", "expect")
    part, expect = case["part"], case["expect"]
    only(expect, "component", "original", "new", "file", "order", "empty", "text_from", "text")
    result = result_from_wire(part.get("result"), part.get("input", {}), new_id(), new_id())
    display = result.display or TextDisplay(text=result.text)
    component = "Error" if result.is_error else COMPONENTS[display.type]
    assert component == expect["component"]
    check_display(display, expect)


def check_display(display: Display, expect: dict[str, Any]) -> None:
    if "order" in expect or "empty" in expect:
        assert isinstance(display, TodoDisplay)
        order = [item.id for item in in_reading_order(display.items)]
        assert order == expect.get("order", [])
    if "original" in expect:
        assert isinstance(display, DiffDisplay)
        shown = {"original": display.before, "new": display.after, "file": display.path}
        assert shown == {key: expect[key] for key in shown}
