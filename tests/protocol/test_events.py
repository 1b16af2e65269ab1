"""A3: every event is a value with exactly its fields, on the wire and back."""

import json
from dataclasses import fields
from typing import Any

import pytest
from pydantic import ValidationError

from chat.protocol.events import (
    EVENTS,
    Choice,
    Chunk,
    Complete,
    Deleted,
    Edited,
    Error,
    Event,
    Header,
    Kept,
    Queue,
    Retry,
    Start,
    Step,
    Stopped,
    Thinking,
    Title,
    Tool,
    UserMessage,
    ending_of,
    event_to_wire,
    events_from_bytes,
    events_to_bytes,
)
from chat.protocol.factories import (
    create_answer,
    create_completed,
    create_step_start_part,
    create_text_part,
    create_tool_part,
    create_user_message,
)
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerInfo, MessageError, WithParts
from chat.protocol.parts import OpenSpan
from tests.support.event_table import README, current_table, event_table

TALK, MESSAGE, PART = new_id(), new_id(), new_id()
ANSWER = create_answer(TALK, None, parts=(create_text_part(TALK, MESSAGE, "你好 🙂"),))
HEADER = {
    "conversation_id": TALK, "rev": 3, "tab_id": "w:t", "request_id": new_id(), "seq": 7,
    "message_id": MESSAGE,
}  # fmt: skip


def ended(status: str, **changes: object) -> WithParts:
    info = ANSWER.info.model_copy(update={"status": status, "finish": "stop", **changes})
    return WithParts(info=info, parts=ANSWER.parts)


def one_of_each() -> list[Event]:
    assert isinstance(ANSWER.info, AnswerInfo)
    call = create_tool_part(
        TALK, MESSAGE, "k1", "calculator", create_completed({"a": 1}, "42", "", {}, 1, 2)
    )
    place = {"part_id": PART, "position": 1}
    text = {**place, "offset": 2, "delta": "字"}
    return [
        Start(**HEADER, position=2, user_message_id=MESSAGE, info=ANSWER.info),
        Chunk(**HEADER, **text, done=True, time=OpenSpan(start=1, end=2)),
        Thinking(**HEADER, **text),
        Tool(
            **HEADER, **place, type="result", tool_call_id="k1", tool_name="calculator",
            args_json='{"a": 1}', result_json="42", part=call,
        ),
        Step(**HEADER, **place, type="start", part=create_step_start_part(TALK, MESSAGE)),
        Retry(**HEADER, error_key="error.x", attempt=1, attempts=5, wait=2.0),
        ending_of(ended("success")),
        ending_of(ended("cancelled", error=MessageError(name="x", data={"by": "Ada"}))),
        ending_of(ended("error", error=MessageError(name="x", key="error.y", data={"n": 1}))),
        UserMessage(**HEADER, message=create_user_message(TALK, "Hi"), client_id="c", title="T"),
        Edited(**HEADER, messages=(create_user_message(TALK, "Hi"),), removed=(4, 5)),
        Queue(**HEADER, messages=(create_user_message(TALK, "Hi"),), removed=("b",), held=True),
        Title(**HEADER, title="T"),
        Choice(**HEADER, agent="a", model="m"),
        Kept(**HEADER, title="Kept"),
        Deleted(**HEADER),
    ]  # fmt: skip


def told(event: Event) -> Any:
    """As a program is told it."""
    return json.loads(event_to_wire(event))


def test_there_is_an_example_of_every_event() -> None:
    assert [type(event) for event in one_of_each()] == list(EVENTS)


@pytest.mark.parametrize("event", one_of_each(), ids=lambda event: event.name)
def test_an_event_is_the_same_after_a_trip_over_the_wire(event: Event) -> None:
    to_other_processes = events_to_bytes([event])
    assert events_from_bytes(to_other_processes) == [event]
    assert [told(event)] == json.loads(to_other_processes)
    assert {field.name for field in fields(Header)} <= set(told(event))


def test_what_is_no_event_is_refused() -> None:
    for bad in ({}, {"name": "chat:unknown"}, {**HEADER, "name": "chat:title"}):
        with pytest.raises(ValidationError):
            events_from_bytes(json.dumps([bad]).encode())


def test_the_names_of_the_reference_come_first() -> None:
    """What the first system's clients read of an event is there under the same name."""
    start, chunk, _, tool, *_ = map(told, one_of_each())
    assert (start["status"], start["message_id"]) == ("streaming", MESSAGE)
    assert chunk["delta"] == "字"
    assert {"type", "tool_call_id", "tool_name", "args_json", "result_json"} <= set(tool)
    complete, stopped, failed = (told(each) for each in one_of_each()[6:9])
    assert (complete["status"], complete["finish_reason"]) == ("success", "stop")
    assert stopped["status"] == "cancelled"
    assert (failed["status"], failed["error_key"], failed["error_data"]) == (
        "error", "error.y", {"n": 1},
    )  # fmt: skip


def test_how_an_answer_ended_is_made_from_the_answer() -> None:
    done, stop, fault = (ending_of(ended(status)) for status in ("success", "cancelled", "error"))
    assert isinstance(done, Complete)
    assert isinstance(stop, Stopped)
    assert stop.lengths == {ANSWER.parts[0].id: 4}
    assert isinstance(fault, Error)
    with pytest.raises(ValueError, match="no longer being written"):
        ending_of(ended("streaming"))


def test_the_table_in_the_readme_is_made_from_the_classes() -> None:
    """`python -m tests.support.event_table` writes it anew."""
    assert current_table(README.read_text("utf-8")) == event_table()
