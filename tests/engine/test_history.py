"""What a model is sent: no call without its result, and always the same beginning (C2, E5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.engine.history import INTERRUPTED, HistoryOptions, to_model_messages
from chat.protocol import tool_state
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
)
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    FileBlock,
    ModelMessage,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.protocol.messages import AnswerInfo, MessageError, ModelRef, WithParts, finish_answer
from chat.protocol.parts import Tokens

S = new_id()
OURS = ModelRef(provider_id="p", model_id="m")
M = new_id()
DONE = create_completed({"a": 1}, "3", "", {}, 1, 2)


def answer(*parts, **changes) -> WithParts:
    made = create_answer(S, None, model=OURS, parts=parts)
    return WithParts(info=made.info.model_copy(update=changes), parts=made.parts)


def tool(state=DONE, call_id="c", metadata=None):
    return create_tool_part(S, M, call_id, "t", state, metadata)


def text(words, **marks):
    return create_text_part(S, M, words, **marks)


def result_of(state, **options):
    sent = to_model_messages([answer(tool(state))], HistoryOptions(**options))
    return sent[1].content[0]


@pytest.mark.parametrize("state", [create_pending({}, ""), create_running({})])
def test_an_open_call_is_answered_as_interrupted(state):
    assert result_of(state) == ToolResultBlock("c", "t", INTERRUPTED, is_error=True)


def test_an_aborted_call_is_answered_as_interrupted():
    assert result_of(tool_state.abort(create_running({}), 5)).text == INTERRUPTED


def test_what_a_stopped_tool_had_put_out_is_sent():
    running = create_running({}).model_copy(update={"metadata": {"output": "row1"}})
    assert result_of(tool_state.abort(running, 5)) == ToolResultBlock("c", "t", "row1")


def test_an_error_is_sent_as_one():
    assert result_of(create_error({}, "boom", 1, 2)) == ToolResultBlock("c", "t", "boom", True)


def test_a_compacted_output_is_not_sent_with_its_files():
    file = create_file_part(S, M, "image/png", "data:,")
    state = tool_state.compact(DONE.model_copy(update={"attachments": (file,)}), 9)
    sent = to_model_messages([answer(tool(state))])
    assert sent[1].content[0].text == "[Old tool result content cleared]"
    assert len(sent) == 2


def test_files_of_a_result_follow_it_where_a_result_cannot_hold_them():
    file = create_file_part(S, M, "image/png", "data:,", "a.png")
    state = DONE.model_copy(update={"attachments": (file,)})
    block = FileBlock("image/png", "data:,", "a.png")
    after = to_model_messages([answer(tool(state))])[2]
    assert after == ModelMessage("user", (TextBlock("Attached media from tool result:"), block))
    assert result_of(state, media_in_results=True).files == (block,)
    stripped = result_of(state, media_in_results=True, strip_media=True)
    assert (stripped.text, stripped.files) == ("3", ())


def test_each_step_is_a_message_followed_by_its_results():
    """A2: text after a tool comes after its result."""
    parts = [
        create_step_start_part(S, M),
        text("one"),
        tool(call_id="c1"),
        tool(call_id="c2"),
        create_step_finish_part(S, M, "tool-calls", 0, Tokens()),
        create_step_start_part(S, M),
        text("two"),
    ]
    sent = to_model_messages([create_user_message(S, "hi"), answer(*parts)])
    assert [message.role for message in sent] == ["user", "assistant", "tool", "assistant"]
    assert [block.call_id for block in sent[2].content] == ["c1", "c2"]


def test_ignored_text_is_not_sent_and_synthetic_text_is():
    """E5."""
    sent = to_model_messages([answer(text("a", ignored=True), text("b", synthetic=True))])
    assert sent == (ModelMessage("assistant", (TextBlock("b"),)),)


def test_an_empty_question_is_not_sent():
    assert to_model_messages([create_user_message(S, "")]) == ()


def test_a_question_brings_its_files():
    """A17."""
    asked = create_user_message(S, "look")
    image = create_file_part(S, asked.info.id, "image/png", "data:,", "a.png")
    note = create_file_part(S, asked.info.id, "text/plain", "data:,", "n.txt")
    message = WithParts(info=asked.info, parts=(*asked.parts, image, note))
    [sent] = to_model_messages([message])
    assert sent.content == (TextBlock("look"), FileBlock("image/png", "data:,", "a.png"))
    [stripped] = to_model_messages([message], HistoryOptions(strip_media=True))
    assert stripped.content[1] == TextBlock("[Attached image/png: a.png]")


def test_thoughts_go_back_only_to_the_model_that_had_them():
    reasoning = create_reasoning_part(S, M, "why", {"signature": "s"})
    message = answer(reasoning, text("so"), tool(metadata={"k": 1}))
    own = to_model_messages([message], HistoryOptions(model=OURS))[0].content
    assert own[0] == ReasoningBlock("why", {"signature": "s"})
    assert own[2] == ToolCallBlock("c", "t", {"a": 1}, {"k": 1})
    other = ModelRef(provider_id="p", model_id="other")
    foreign = to_model_messages([message], HistoryOptions(model=other))[0].content
    assert foreign == (TextBlock("why"), TextBlock("so"), ToolCallBlock("c", "t", {"a": 1}, {}))


def test_an_empty_text_keeps_its_place_beside_a_signed_thought():
    for metadata in ({"signature": "s"}, {"anthropic": {"signature": "s"}}):
        reasoning = create_reasoning_part(S, M, "why", metadata)
        sent = to_model_messages([answer(reasoning, text(""))], HistoryOptions(model=OURS))
        assert sent[0].content[1] == TextBlock(" ")


def test_an_abandoned_thought_is_not_sent():
    reasoning = create_reasoning_part(S, M, "why", {"abandoned": True})
    assert to_model_messages([answer(reasoning)]) == ()


def test_the_calls_of_a_sub_agent_are_not_the_models_own():
    """D1."""
    sent = to_model_messages([answer(tool(), tool(call_id="n", metadata={"parent_call_id": "c"}))])
    assert [block.call_id for block in sent[0].content] == ["c"]


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"status": "success"}, True),
        ({"status": "streaming"}, True),
        ({"status": "cancelled", "error": MessageError(name="MessageAbortedError")}, True),
        ({"status": "error", "error": MessageError(name="E", key="error.chat_interrupted")}, True),
        ({"status": "error", "error": MessageError(name="E", key="error.chat_max_steps")}, True),
        ({"status": "error", "error": MessageError(name="E", key="error.chat_other")}, False),
        ({"status": "error"}, False),
    ],
)
def test_a_failed_answer_is_not_sent_a_stopped_one_is(changes, sent):
    assert bool(to_model_messages([answer(text("x"), **changes)])) is sent


def test_a_stopped_answer_that_said_nothing_is_not_sent():
    parts = [create_step_start_part(S, M), create_reasoning_part(S, M, "hm")]
    stopped = finish_answer(answer(*parts), 5, status="cancelled")
    assert isinstance(stopped.info, AnswerInfo)
    assert to_model_messages([stopped]) == ()


states = st.sampled_from(
    [DONE, create_error({}, "x", 1, 2), create_pending({}, ""), create_running({})]
)
pieces = st.one_of(
    st.sampled_from(["", "hi"]).map(text),
    st.just("think").map(lambda words: create_reasoning_part(S, M, words)),
    states.map(lambda state: tool(state, call_id=new_id())),
    st.builds(create_step_start_part, st.just(S), st.just(M)),
)
messages = st.one_of(
    st.sampled_from(["", "hi"]).map(lambda words: create_user_message(S, words)),
    st.lists(pieces, max_size=6, unique_by=lambda part: part.id).map(lambda parts: answer(*parts)),
)


@given(st.lists(messages, max_size=6))
def test_every_turn_begins_as_the_one_before_and_no_call_goes_unanswered(conversation):
    whole = to_model_messages(conversation)
    for length in range(len(conversation)):
        begun = to_model_messages(conversation[:length])
        assert whole[: len(begun)] == begun
    for index, message in enumerate(whole):
        calls = [block.call_id for block in message.content if isinstance(block, ToolCallBlock)]
        if calls:
            assert whole[index + 1].role == "tool"
            assert [block.call_id for block in whole[index + 1].content] == calls
        if message.role == "tool":
            assert whole[index - 1].role == "assistant"
