"""Notes: one reader, one writer, and whatever is not ours stays as it came."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.displays import JsonDisplay, SumDisplay, TextDisplay
from chat.protocol.factories import create_completed, create_text_part, create_tool_part
from chat.protocol.ids import new_id
from chat.protocol.notes import (
    PartNotes,
    StateNotes,
    Unreadable,
    of_others,
    part_notes,
    state_notes,
    with_part_notes,
    with_state_notes,
)
from chat.protocol.reasons import reason
from chat.protocol.validation import part_from_json, part_to_json

S, M = new_id(), new_id()
SIGNED = {"signature": "s", "anthropic": {"signature": "t"}, "extra_content": [1, {"a": None}]}


def a_part(metadata=None, state_metadata=None):
    state = create_completed({"q": 1}, "out", "", state_metadata or {}, 1, 2)
    return create_tool_part(S, M, "c", "t", state, metadata)


# What `clean_text` lets through: no NUL, no surrogates.
texts = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=8)
part_notes_of_any_kind = st.builds(
    PartNotes,
    parent_call_id=texts,
    original_call_id=st.none() | texts,
    unpaired=st.booleans(),
    abandoned=st.booleans(),
    unreadable=st.none() | st.builds(Unreadable, type=texts, stored=st.just({"a": [1]})),
)
state_notes_of_any_kind = st.builds(
    StateNotes,
    display=st.none()
    | st.builds(SumDisplay, expression=texts, result=texts)
    | st.builds(JsonDisplay, value=st.lists(st.integers())),
    reasons=st.just(()) | st.just((reason("timed_out", seconds=2.5), reason("silent"))),
    interrupted=st.booleans(),
    partial_output=st.none() | texts,
    raw_arguments=st.none() | texts,
)


@given(part_notes_of_any_kind, state_notes_of_any_kind)
def test_notes_survive_json_and_leave_the_rest_as_it_came(on_part, on_state):
    part = a_part(with_part_notes(SIGNED, on_part), with_state_notes(SIGNED, on_state))
    read = part_from_json(part_to_json(part))
    assert (part_notes(read), state_notes(read.state)) == (on_part, on_state)
    assert of_others(read.metadata) == SIGNED
    assert {key: read.state.metadata[key] for key in SIGNED} == SIGNED


def test_writing_notes_takes_the_place_of_those_that_were_there():
    first = with_part_notes(SIGNED, PartNotes(unpaired=True, parent_call_id="a"))
    assert with_part_notes(first, PartNotes()) == SIGNED
    assert with_part_notes(with_part_notes(None, PartNotes(unpaired=True)), PartNotes()) is None
    shown = with_state_notes({"n": 1}, StateNotes(display=TextDisplay(text="x")))
    assert with_state_notes(shown, StateNotes(interrupted=True)) == {"n": 1, "interrupted": True}


def test_notes_cannot_be_changed_in_place():
    with pytest.raises(TypeError):
        with_part_notes(SIGNED, PartNotes())["extra_content"][1].clear()


def test_old_spellings_are_read():
    assert part_notes(a_part({"parentCallID": "a"})).parent_call_id == "a"
    text = create_text_part(S, M, "").model_copy(update={"metadata": {"unreadable": "tool"}})
    assert part_notes(text).unreadable == Unreadable("tool")
    old = state_notes(a_part(None, {"display": {"type": "todo_read", "todos": []}}).state)
    assert old.display is not None
    assert old.display.type == "todo"


@pytest.mark.parametrize(
    "strange",
    [
        {"parent_call_id": 7, "original_call_id": [], "unpaired": "no", "unreadable": {}},
        {"display": [], "reasons": "x", "output": 1, "raw": {}, "interrupted": ""},
        {"reasons": [{"key": "of_a_newer_version"}]},
        {"reasons": [3]},
    ],
)
def test_what_nobody_wrote_is_read_as_no_note(strange):
    part = a_part(strange, strange)
    assert part_notes(part) == PartNotes()
    assert state_notes(part.state).reasons == ()
