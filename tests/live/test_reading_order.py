"""A conversation is read in several statements, between which a turn may end and another begin."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from chat.models import Conversation, Message
from chat.protocol.events import Tool
from chat.protocol.factories import create_step_finish_part, create_step_start_part
from chat.protocol.follow import Gap
from chat.protocol.ids import new_id
from chat.protocol.parts import Part, Tokens, ToolPart
from chat.protocol.tool_state import Started, ToolRunning
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.live.transcript import LiveTranscript
from chat.rendering.reader import Reader
from chat.services.caller import Caller
from chat.services.conversations.history import read_transcript
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def read_while(happens: Callable[[], object], talk: Conversation) -> Transcript:
    """Read; this happens when the conversation was read, and nothing else yet."""
    done: list[object] = []

    def before_the_run(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "chat_generation" in sql and not done:
            done.append(None)
            happens()
        return execute(sql, params, many, context)

    with connection.execute_wrapper(before_the_run):
        found = read_transcript(Caller(talk.owner_id), talk.pk)
    assert done
    return found


def an_answer(talk: Conversation) -> Message:
    """A question, and an answer that is being written."""
    make.a_message_with_parts(talk)
    answer = make.a_message(talk, "assistant", status="streaming")
    make.a_generation(answer)
    make.a_part(create_step_start_part(str(talk.pk), str(answer.pk)))
    make.a_text_part(answer)
    return answer


def end(answer: Message) -> None:
    of = str(answer.conversation_id), str(answer.pk)
    make.a_part(create_step_finish_part(*of, "stop", 0.0, Tokens()))
    answer.generations.update(status="done", finished=timezone.now())
    Message.objects.filter(pk=answer.pk).update(status="success", completed_at=timezone.now())


def a_call(answer: Message, transcript: Transcript) -> Tool:
    """The next thing that is told of a run: a tool is used."""
    part: Part = ToolPart(
        id=new_id(),
        **make.of(answer),
        call_id="c1",
        tool="calculator",
        state=ToolRunning(input={}, time=Started(start=1)),
    )
    return Tool(
        conversation_id=transcript.conversation_id,
        rev=transcript.rev,
        request_id=transcript.request_id,
        seq=transcript.seq + 1,
        message_id=str(answer.pk),
        type="call",
        part_id=part.id,
        position=2,
        tool_call_id="c1",
        tool_name="calculator",
        args_json="{}",
        part=part,
    )


def test_who_sees_a_run_sees_the_message_that_it_writes() -> None:
    talk = make.a_conversation()
    end(an_answer(talk))
    begun: list[Message] = []
    found = read_while(lambda: begun.append(an_answer(talk)), talk)
    run = begun[0].generations.get()
    assert (UUID(found.request_id), found.messages[-1].info.id) == (run.pk, str(begun[0].pk))


def test_a_card_is_drawn_in_the_answer_that_it_belongs_to() -> None:
    """A page that was told nothing of an end and of a beginning, and reads between them."""
    talk = make.a_conversation()
    first = an_answer(talk)
    page = LiveTranscript(Reader())
    page.attach(read_transcript(Caller(talk.owner_id), talk.pk), Shown())
    begun: list[Message] = []

    def meanwhile() -> None:
        end(first)
        begun.append(an_answer(talk))

    found = read_while(meanwhile, talk)
    page.catch_up(found)
    drawn = page.apply(a_call(begun[0], found))
    assert 'id="p4-2"' in drawn
    assert "p2-2" not in drawn


def test_what_is_told_of_another_answer_is_not_drawn_in_this_one() -> None:
    """Whatever was read: a card for a place that the page does not have would break it."""
    talk = make.a_conversation()
    first = an_answer(talk)
    page = LiveTranscript(Reader())
    shown = read_transcript(Caller(talk.owner_id), talk.pk)
    page.attach(shown, Shown())
    end(first)
    other = an_answer(talk)
    with pytest.raises(Gap):
        page.apply(a_call(other, shown))
