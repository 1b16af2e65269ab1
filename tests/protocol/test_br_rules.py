"""The fourteen rules of parts, each by its number (E1 … E4)."""

from decimal import Decimal

import pytest
from pydantic import ValidationError

from chat.engine.usage import Prices, Rates, cost_of_call
from chat.protocol import tool_state
from chat.protocol.errors import (
    InvalidStateTransition,
    MissingRequiredField,
    PartError,
    PartValidationError,
)
from chat.protocol.factories import (
    create_answer,
    create_completed,
    create_error,
    create_pending,
    create_step_finish_part,
    create_text_part,
    create_tool_part,
    create_user_message,
    pending_to_running,
)
from chat.protocol.ids import new_id
from chat.protocol.interfaces import Usage
from chat.protocol.messages import (
    ABORTED,
    AnswerInfo,
    MessageError,
    Summary,
    UserInfo,
    WithParts,
    finish_answer,
)
from chat.protocol.parts import CacheTokens, Tokens
from chat.protocol.validation import part_from_json, part_to_json, validate_part, validate_parts

# Fixed, because they are part of the names of tests, which every worker must agree on.
SESSION = "01a1e2ad-beaf-7fc8-bb24-990fdc58ccc2"
MESSAGE = "01a1e2ad-beb0-7d11-8f3c-5a3f0d9a1b22"
TEXT = part_to_json(create_text_part(SESSION, MESSAGE, "x"))
TOKENS = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}


def without(data, key):
    return {name: value for name, value in data.items() if name != key}


def rules(data):
    return {fault.rule for fault in validate_part(data).faults}


@pytest.mark.parametrize("field", ["id", "sessionID", "messageID"])
def test_br_01_every_part_has_its_three_ids(field):
    assert rules(without(TEXT, field)) == {"BR-01"}
    with pytest.raises(MissingRequiredField) as caught:
        part_from_json(without(TEXT, field))
    assert caught.value.field == field


def test_br_02_an_id_is_used_once_in_a_message():
    assert not validate_parts([TEXT, TEXT]).valid
    assert validate_parts([TEXT, {**TEXT, "id": "other"}]).valid
    part = part_from_json(TEXT)
    info = create_user_message(SESSION, "x").info
    with pytest.raises(PartValidationError, match="BR-02"):
        WithParts(info=info, parts=(part, part))


@pytest.mark.parametrize("field", ["message_id", "session_id"])
def test_br_01_a_message_takes_only_parts_of_its_own(field):
    message = create_user_message(SESSION, "x")
    [part] = message.parts
    foreign = part.model_copy(update={field: new_id()})
    with pytest.raises(PartValidationError, match="BR-01"):
        WithParts(info=message.info, parts=(foreign,))


@pytest.mark.parametrize("kind", ["snapshot", "", 7, None])
def test_br_03_the_type_decides_and_must_be_known(kind):
    assert rules({**TEXT, "type": kind}) == {"BR-03"}
    assert rules(without(TEXT, "type")) == {"BR-03"}


@pytest.mark.parametrize("field", ["sessionID", "messageID"])
@pytest.mark.parametrize(
    "bad", ["session-1", "", "0" * 32, f"{{{SESSION}}}", f"urn:uuid:{SESSION}"]
)
def test_br_04_session_and_message_are_uuids(field, bad):
    assert rules({**TEXT, field: bad}) == {"BR-04"}


def test_br_04_a_factory_refuses_what_is_not_a_uuid():
    with pytest.raises(PartValidationError, match="BR-04") as caught:
        create_text_part("session-1", MESSAGE, "x")
    assert caught.value.field == "sessionID"


PENDING = create_pending({"a": 1}, '{"a":1}')
RUNNING = tool_state.run(PENDING, 1000)
COMPLETED = tool_state.complete(RUNNING, 2000, "out")
ERROR = tool_state.fail(RUNNING, 2000, "boom")
TO = {
    "running": lambda state: tool_state.run(state, 3000),
    "completed": lambda state: tool_state.complete(state, 3000, "later"),
    "error": lambda state: tool_state.fail(state, 3000, "later"),
}


@pytest.mark.parametrize(
    ("state", "to", "valid"),
    [
        (PENDING, "completed", ["running"]),
        (PENDING, "error", ["running"]),
        (COMPLETED, "running", []),
        (COMPLETED, "error", []),
        (ERROR, "running", []),
        (ERROR, "completed", []),
    ],
)
def test_br_05_no_other_way_than_pending_running_end(state, to, valid):
    with pytest.raises(InvalidStateTransition) as caught:
        TO[to](state)
    assert caught.value.details == {
        "currentStatus": state.status,
        "attemptedStatus": to,
        "validTransitions": valid,
    }


@pytest.mark.parametrize("state", [COMPLETED, ERROR])
def test_br_05_the_same_end_again_changes_nothing(state):
    """E2: idempotent."""
    assert TO[state.status](state) is state


def test_br_05_running_again_keeps_its_start():
    again = tool_state.run(RUNNING, 9000, title="t", metadata={"n": 1}, input={"a": 2})
    assert (again.time.start, again.title, again.metadata, again.input) == (
        1000,
        "t",
        {"n": 1},
        {"a": 2},
    )
    assert RUNNING.title is None


def test_br_05_only_an_abort_goes_from_pending_to_error():
    aborted = tool_state.abort(PENDING, 5000)
    assert (aborted.error, aborted.metadata) == ("Tool execution aborted", {"interrupted": True})
    assert (aborted.time.start, aborted.time.end) == (5000, 5000)


def test_br_05_a_run_away_tool_times_out():
    """E2: time-out."""
    assert tool_state.time_out(RUNNING, 1999, 1000) is RUNNING
    late = tool_state.time_out(RUNNING, 2000, 1000)
    assert (late.status, late.time.end) == ("error", 2000)
    assert tool_state.time_out(COMPLETED, 99_999, 1) is COMPLETED
    assert tool_state.time_out(PENDING, 99_999, 1) is PENDING


def test_br_06_a_pending_call_keeps_its_raw_arguments():
    assert rules(tool_form({"status": "pending", "input": {}})) == {"BR-06"}
    assert PENDING.raw == '{"a":1}'


def tool_form(state):
    return {**without(TEXT, "text"), "type": "tool", "callID": "c", "tool": "t", "state": state}


def test_br_07_a_running_call_knows_its_start():
    assert RUNNING.time.start == 1000
    assert rules(tool_form({"status": "running", "input": {}})) == {"BR-07"}
    assert rules(tool_form({"status": "running", "input": {}, "time": {}})) == {"BR-07"}
    assert pending_to_running(PENDING).time.start > 1_700_000_000_000


def test_br_08_an_ended_call_knows_its_end():
    assert (COMPLETED.time.start, COMPLETED.time.end) == (1000, 2000)
    assert (ERROR.time.start, ERROR.time.end) == (1000, 2000)
    error = {"status": "error", "input": {}, "error": "x", "time": {"start": 1}}
    assert rules(tool_form(error)) == {"BR-08"}
    assert rules(tool_form(without(error, "time"))) == {"BR-08"}


def test_br_08_a_clock_that_goes_back_does_not_end_a_call_before_its_start():
    assert tool_state.complete(RUNNING, 500, "x").time.end == 1000


def test_br_08_no_call_ends_before_it_starts():
    with pytest.raises(PartValidationError, match="BR-08") as caught:
        create_completed({}, "out", "", {}, start=5, end=1)
    assert caught.value.field == "time.end"
    with pytest.raises(PartValidationError, match="BR-08"):
        create_error({}, "boom", start=5, end=1)
    error = {"status": "error", "input": {}, "error": "x", "time": {"start": 5, "end": 1}}
    assert rules(tool_form(error)) == {"BR-08"}


def test_br_09_an_output_is_never_empty():
    completed = part_to_json(create_tool_part(SESSION, MESSAGE, "c", "t", COMPLETED))
    completed["state"]["output"] = ""
    assert rules(completed) == {"BR-09"}
    assert tool_state.complete(RUNNING, 2000, "").output == "(tool did not return anything)"


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_br_10_an_error_says_what_happened(blank):
    with pytest.raises(PartValidationError, match="BR-10") as caught:
        tool_state.fail(RUNNING, 2000, blank)
    assert caught.value.field == "error"
    error = {"status": "error", "input": {}, "error": blank, "time": {"start": 1, "end": 2}}
    assert rules(tool_form(error)) == {"BR-10"}
    with pytest.raises(PartValidationError):
        create_error({}, blank, 1, 2)


def test_br_11_a_summary_is_there_only_when_it_was_made():
    message = create_user_message(SESSION, "x")
    assert isinstance(message.info, UserInfo)
    assert message.info.summary is None
    compacted = message.info.model_copy(update={"summary": Summary(title="So far")})
    assert compacted.summary == Summary(title="So far")
    with pytest.raises(ValidationError):
        AnswerInfo.model_validate({"id": new_id(), "summary": {}})


def test_br_12_the_cost_is_the_providers_if_it_says_it():
    prices = Prices(Rates(input=Decimal(1_000_000)))
    assert cost_of_call(Usage(Tokens(input=2), cost=0.5), prices) == 0.5
    assert cost_of_call(Usage(Tokens(input=2)), prices) == 2.0


def an_answer(*steps):
    parts = [
        create_step_finish_part(SESSION, MESSAGE, reason, cost, tokens)
        for reason, cost, tokens in steps
    ]
    return create_answer(SESSION, new_id(), parts=parts)


def test_br_12_the_cost_of_an_answer_is_that_of_all_its_steps():
    answer = an_answer(("tool-calls", 0.1, Tokens()), ("stop", 0.2, Tokens()))
    assert finish_answer(answer, 5, status="success").info.cost == 0.3


def test_br_13_tokens_have_four_kinds_and_none_is_left_out():
    step = part_to_json(create_step_finish_part(SESSION, MESSAGE, "stop", 0, Tokens()))
    assert validate_part({**step, "tokens": TOKENS}).valid
    for kind in TOKENS:
        assert not validate_part({**step, "tokens": without(TOKENS, kind)}).valid
    assert not validate_part({**step, "tokens": {**TOKENS, "input": -1}}).valid
    assert not validate_part(without(step, "tokens")).valid


def test_br_13_the_tokens_of_an_answer_are_those_of_its_last_step():
    last = Tokens(input=9, output=8, reasoning=7, cache=CacheTokens(read=6, write=5))
    answer = an_answer(("tool-calls", 0, Tokens(input=100)), ("stop", 0, last))
    finished = finish_answer(answer, 5, status="success").info
    assert (finished.tokens, finished.finish) == (last, "stop")


def test_br_14_an_answer_knows_when_it_was_completed():
    answer = create_answer(SESSION, new_id())
    assert answer.info.time.completed is None
    assert finish_answer(answer, 5000, status="success").info.time.completed == 5000
    assert answer.info.time.completed is None


def test_br_14_a_cancelled_answer_is_an_aborted_one():
    cancelled = finish_answer(create_answer(SESSION, None), 5, status="cancelled").info
    assert (cancelled.status, cancelled.error) == ("cancelled", MessageError(name=ABORTED))


def test_br_14_only_an_answer_is_completed():
    with pytest.raises(PartError, match="BR-14"):
        finish_answer(create_user_message(SESSION, "x"), 5, status="success")
