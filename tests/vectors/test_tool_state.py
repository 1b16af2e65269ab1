"""The ToolState machine against the reference cases (E2, BR-05 … BR-10)."""

import copy
from typing import Any

import pytest
from pydantic import TypeAdapter

from chat.protocol import tool_state
from chat.protocol.errors import InvalidStateTransition, PartError, PartValidationError
from chat.protocol.parts import FilePart
from chat.protocol.tool_state import ToolState
from tests.vectors.cases import cases, only, plain_cases

STATE: TypeAdapter[ToolState] = TypeAdapter(ToolState)


def transition(state: ToolState, case: dict[str, Any]) -> ToolState:
    now, args = case["now"], case.get("args", {})
    match case["to"]:
        case "running":
            only(args, "title", "metadata", "input")
            return tool_state.run(state, now, **args)
        case "completed":
            only(args, "output", "title", "metadata", "attachments")
            args = dict(args)
            files = args.pop("attachments", None)
            attachments = files and tuple(FilePart.model_validate(file) for file in files)
            return tool_state.complete(
                state, now, args.pop("output", ""), attachments=attachments, **args
            )
        case "error":
            only(args, "error", "metadata", "interrupted")
            if args.get("interrupted"):
                return tool_state.abort(state, now, args["error"])
            return tool_state.fail(state, now, args["error"], metadata=args.get("metadata"))
        case "abort":
            only(args)
            return tool_state.abort(state, now)
        case "timeout":
            only(args, "limit_ms")
            return tool_state.time_out(state, now, args["limit_ms"])
        case "compact":
            only(args)
            return tool_state.compact(state, now)
        case "pending":
            # There is no way back to pending; the machine has no function for it.
            raise tool_state.refuse(state, "pending")
        case unknown:
            pytest.fail(f"unknown form: to {unknown}")


def check(case: dict[str, Any]) -> None:
    only(case, "now", "state", "to", "args", "expect")
    state = STATE.validate_python(case["state"])
    before = copy.deepcopy(state.model_dump())
    expect = case["expect"]
    names = {"InvalidStateTransition", "PartValidationError", "MissingRequiredField"}
    if expect.get("error") in names and "status" not in expect:
        only(expect, "error", "details", "field", "rule")
        with pytest.raises(PartError) as caught:
            transition(state, case)
        check_error(caught.value, expect)
    else:
        after = transition(state, case)
        assert after.model_dump(by_alias=True, exclude_none=True) == expect
    assert state.model_dump() == before


def check_error(error: PartError, expect: dict[str, Any]) -> None:
    assert type(error).__name__ == expect["error"]
    if "details" in expect:
        assert isinstance(error, InvalidStateTransition)
        assert error.details == expect["details"]
    if "field" in expect:
        assert isinstance(error, PartValidationError)
        assert expect["field"] in error.field
    if "rule" in expect:
        assert isinstance(error, PartValidationError)
        assert error.rule == expect["rule"]


@pytest.mark.parametrize("case", cases("tool_state_and_parts", "transition_cases"))
def test_a_tool_state_changes_as_the_reference_says(case):
    if "property" in case:
        assert "unchanged" in case["property"], "unknown form: property"
        for other in plain_cases("tool_state_and_parts", "transition_cases"):
            if "property" not in other:
                check(other)
        return
    check(case)
