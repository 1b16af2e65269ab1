"""Parts as values: made, told apart, checked, never changed (E1, E2, E4, E5)."""

import copy
import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from chat.protocol import parts as values
from chat.protocol import tool_state
from chat.protocol.displays import TodoItem, in_reading_order
from chat.protocol.errors import InvalidStateTransition, PartValidationError
from chat.protocol.factories import (
    create_answer,
    create_completed,
    create_error,
    create_file_part,
    create_pending,
    create_reasoning_part,
    create_running,
    create_step_finish_part,
    create_step_start_part,
    create_text_part,
    create_tool_part,
    create_user_message,
    running_to_completed,
    running_to_error,
)
from chat.protocol.ids import is_uuid, new_id
from chat.protocol.messages import ModelRef, WithParts, finish_answer
from chat.protocol.projections import role_rows
from chat.protocol.validation import part_from_json, part_to_json, validate_part

S, M = new_id(), new_id()
EXCERPT = values.Excerpt(value="x", start=0, end=1)
SOURCES = [
    values.FileSource(path="a.py", text=EXCERPT),
    values.SymbolSource(path="a.py", name="f", kind=12, range={"start": 1}, text=EXCERPT),
    values.ResourceSource(uri="mcp://x", client_name="c", text=EXCERPT),
]
FILES = [create_file_part(S, M, "image/png", "data:,", "a.png", source) for source in SOURCES]
COMPLETED = create_completed({"a": None}, "out", "T", {"n": [1]}, 1, 2).model_copy(
    update={"attachments": tuple(FILES)}
)
ALL = [
    create_text_part(S, M, "hi", synthetic=True, ignored=True),
    create_reasoning_part(S, M, "hm", {"signature": "s"}),
    create_tool_part(S, M, "c1", "t", create_pending({}, "")),
    create_tool_part(S, M, "c2", "t", create_running({}, "T")),
    create_tool_part(S, M, "c3", "t", COMPLETED, {"k": 1}),
    create_tool_part(S, M, "c4", "t", create_error({}, "boom", 1, 2)),
    create_step_start_part(S, M),
    create_step_finish_part(S, M, "stop", 0.5, values.Tokens(input=1)),
    *FILES,
]
GUARDS = {
    "text": values.is_text,
    "reasoning": values.is_reasoning,
    "tool": values.is_tool,
    "step-start": values.is_step_start,
    "step-finish": values.is_step_finish,
    "file": values.is_file,
}


@pytest.mark.parametrize("part", ALL, ids=lambda part: part.type)
def test_a_part_is_the_same_after_a_trip_through_json(part):
    assert part_from_json(json.loads(json.dumps(part_to_json(part)))) == part
    assert validate_part(part).valid


@pytest.mark.parametrize("part", ALL, ids=lambda part: part.type)
def test_exactly_one_guard_knows_a_part(part):
    assert [kind for kind, guard in GUARDS.items() if guard(part)] == [part.type]
    assert is_uuid(part.id)


@pytest.mark.parametrize("part", ALL, ids=lambda part: part.type)
def test_a_part_cannot_be_changed(part):
    with pytest.raises(ValidationError):
        part.id = "other"


def test_the_json_of_a_state_is_its_own_and_cannot_be_changed_in_place():
    """E2: immutable, also inside."""
    given = {"a": {"b": [1, {"c": 2}]}}
    notes = {"n": [1]}
    state = create_completed(given, "out", "T", notes, 1, 2)
    given["a"]["b"].append(3)
    notes["n"].append(2)
    assert (state.input, state.metadata) == ({"a": {"b": [1, {"c": 2}]}}, {"n": [1]})
    for change in (
        lambda: state.input.update(x=1),
        lambda: state.input["a"]["b"].append(3),
        lambda: state.input["a"]["b"][1].pop("c"),
        state.metadata["n"].sort,
    ):
        with pytest.raises(TypeError, match="cannot be changed"):
            change()


def test_the_json_of_a_part_leaves_as_plain_json_that_can_be_changed():
    form = part_to_json(ALL[4])
    form["state"]["input"]["a"] = 1
    form["state"]["metadata"]["n"].append(2)
    assert ALL[4].state.input == {"a": None}
    assert json.loads(ALL[4].model_dump_json())["state"]["metadata"] == {"n": [1]}
    assert (copy.deepcopy(COMPLETED), pickle.loads(pickle.dumps(COMPLETED))) == (COMPLETED,) * 2


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("text", lambda: create_text_part(S, M, 5)),
        ("text", lambda: create_reasoning_part(S, M, None)),
        ("tool", lambda: create_tool_part(S, M, "c", "", create_pending({}, ""))),
        ("callID", lambda: create_tool_part(S, M, "", "t", create_pending({}, ""))),
        ("input", lambda: create_pending([], "")),
        ("mime", lambda: create_file_part(S, M, "", "data:,")),
        ("text", lambda: part_from_json({**part_to_json(ALL[0]), "text": 5})),
        ("tool", lambda: part_from_json({**part_to_json(ALL[2]), "tool": ""})),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_the_name_of_its_field(field, make):
    """E4."""
    with pytest.raises(PartValidationError) as caught:
        make()
    assert caught.value.field == field


def test_the_names_on_the_wire_are_those_of_the_document():
    form = part_to_json(ALL[2])
    assert set(form) == {"id", "sessionID", "messageID", "type", "callID", "tool", "state"}


def test_a_field_nobody_knows_is_a_fault():
    assert not validate_part({**part_to_json(ALL[0]), "colour": "red"}).valid


@pytest.mark.parametrize("bad", [{"id": object()}, 5, None, [], "text", {"type": {1: 2}}])
def test_validation_never_raises(bad):
    assert not validate_part(bad).valid


def test_what_is_not_json_is_refused_by_name():
    with pytest.raises(PartValidationError, match="not JSON"):
        part_from_json({"id": object()})


def test_the_order_of_parts_is_kept():
    """E5."""
    message = create_answer(S, None, parts=ALL)
    again = WithParts.model_validate_json(message.model_dump_json(by_alias=True))
    assert again == message
    assert [part.id for part in again.parts] == [part.id for part in ALL]


def test_ignored_text_is_not_what_was_said():
    message = create_user_message(S, "asked")
    hidden = create_text_part(S, message.info.id, "hidden", ignored=True)
    both = WithParts(info=message.info, parts=(*message.parts, hidden))
    assert both.text == "asked"


STATES = [create_pending({}, ""), create_running({}), COMPLETED, create_error({}, "x", 1, 2)]
STEPS = {
    "run": lambda state: tool_state.run(state, 9),
    "complete": lambda state: tool_state.complete(state, 9, "o"),
    "fail": lambda state: tool_state.fail(state, 9, "e"),
    "abort": lambda state: tool_state.abort(state, 9),
    "time_out": lambda state: tool_state.time_out(state, 9**15, 1),
    "compact": lambda state: tool_state.compact(state, 9),
    "amend": lambda state: tool_state.amend(state, input={"new": 1}),
}


@given(st.sampled_from(STATES), st.lists(st.sampled_from(sorted(STEPS)), max_size=8))
def test_no_history_of_changes_brings_an_ended_call_back(state, names):
    """E2: whatever is asked, in whatever order, states are replaced and only go forward."""
    rank = {"pending": 0, "running": 1, "completed": 2, "error": 2}
    for name in names:
        before = state.model_dump_json()
        try:
            after = STEPS[name](state)
        except InvalidStateTransition:
            continue
        assert state.model_dump_json() == before
        assert rank[after.status] >= rank[state.status]
        if rank[state.status] == 2:
            assert after.status == state.status
        state = after


def test_two_ends_at_the_same_moment_do_not_touch_each_other():
    """E2: transitions are pure, so threads need no lock."""
    running = create_running({"n": 1})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda n: running_to_completed(running, str(n), n), range(200)))
        failed = list(pool.map(lambda n: running_to_error(running, f"e{n}", n), range(200)))
    assert [state.output for state in made] == [str(n) for n in range(200)]
    assert [state.error for state in failed] == [f"e{n}" for n in range(200)]
    assert running.status == "running"


def test_an_output_is_compacted_once_and_kept():
    first = tool_state.compact(COMPLETED, 50)
    assert (first.time.compacted, first.output) == (50, "out")
    assert tool_state.compact(first, 60).time.compacted == 50
    for state in (STATES[0], STATES[1], STATES[3]):
        with pytest.raises(InvalidStateTransition):
            tool_state.compact(state, 50)


def test_an_amended_call_is_checked_like_a_new_one():
    assert tool_state.amend(COMPLETED, output="better").output == "better"
    with pytest.raises(ValidationError):
        tool_state.amend(COMPLETED, output="")
    with pytest.raises(InvalidStateTransition):
        tool_state.amend(STATES[1], title="x")


def test_todos_are_read_done_first_then_by_importance():
    """B4."""
    rows = [("1", "pending", "low"), ("2", "in_progress", "medium"), ("3", "completed", "low")]
    rows.append(("4", "pending", "high"))
    items = [TodoItem(id=i, content=i, status=s, priority=p) for i, s, p in rows]
    assert [item.id for item in in_reading_order(items)] == ["3", "2", "4", "1"]


def test_a_message_is_readable_as_rows_with_roles():
    """A15, A1: the columns of the first document are computed from parts."""
    answer = create_answer(S, None, model=ModelRef(provider_id="p", model_id="m"), parts=ALL)
    rows = role_rows(finish_answer(answer, 9, status="success"))
    row, *results = rows
    assert (row["role"], row["provider_id"], row["model_id"]) == ("assistant", "p", "m")
    assert (row["thinking_content"], row["finish_reason"], row["input_tokens"]) == ("hm", "stop", 1)
    assert [call["id"] for call in row["tool_calls"]] == ["c1", "c2", "c3", "c4"]
    assert row["tool_calls"][2]["function"] == {"name": "t", "arguments": '{"a": null}'}
    assert [(r["role"], r["tool_call_id"], r["content"]) for r in results] == [
        ("tool", "c3", '"out"'),
        ("tool", "c4", '{"error": "boom"}'),
    ]
    asked = role_rows(create_user_message(S, "1+2?"))
    assert [(r["role"], r["content"], r["status"]) for r in asked] == [("user", "1+2?", "success")]
