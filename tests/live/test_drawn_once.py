"""A hundred tabs are shown what was drawn for the first of them; other readers are not."""

from dataclasses import replace

import pytest
from django.template import Template

from chat.protocol.events import Complete, Event, Start, UserMessage
from chat.protocol.factories import create_answer, create_user_message
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerInfo
from chat.protocol.transcript import Transcript
from chat.rendering.live.once import REMEMBERED, Once
from chat.rendering.live.transcript import LiveTranscript
from chat.rendering.reader import Reader

TALK = new_id()
ADA = Reader(id="1", name="Ada")


def a_turn() -> list[Event]:
    """A question, and an answer without a word."""
    asked = create_user_message(TALK, "What is *that*?")
    answer = create_answer(TALK, None).info
    assert isinstance(answer, AnswerInfo)
    answer = answer.model_copy(update={"position": 2})
    ended = answer.model_copy(update={"status": "success"})
    of = {"conversation_id": TALK, "rev": 1}
    run = {**of, "request_id": "r1", "message_id": answer.id}
    return [
        UserMessage(**of, message_id=asked.info.id, message=asked, client_id="", title="That"),
        Start(**run, seq=1, position=2, user_message_id=asked.info.id, info=answer),
        Complete(**run, seq=2, finish_reason="stop", usage=ended.tokens, info=ended),
    ]


def drawn(reader: Reader, events: list[Event]) -> str:
    page = LiveTranscript(reader)
    page.catch_up(Transcript(TALK, 0, "", ()))
    return "".join(page.apply(event) for event in events)


def test_other_tabs_are_told_the_same_and_nothing_is_drawn_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = a_turn()
    first = drawn(ADA, events)
    assert "What is" in first
    monkeypatch.setattr(Template, "render", lambda *_: pytest.fail("drawn again"))
    # A tab has a reader of its own, who is the same person.
    assert drawn(replace(ADA), events) == first


def test_readers_who_differ_are_drawn_for_apart() -> None:
    events = a_turn()
    english = drawn(ADA, events)
    chinese = drawn(replace(ADA, language="zh-hans"), events)
    assert "Copy" in english
    assert "Copy" not in chinese
    assert "复制" in chinese


def test_only_the_latest_are_remembered() -> None:
    asked: list[object] = []
    values = [object() for _ in range(REMEMBERED + 1)]
    once = Once[object](lambda value, reader: str(asked.append(value)))
    for value in values:
        once(value, ADA)
    once(values[-1], ADA)
    assert asked == values
    once(values[0], ADA)
    assert asked == [*values, values[0]]
