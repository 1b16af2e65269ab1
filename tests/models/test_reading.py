"""Reading a page of a conversation costs the same, however long the conversation is."""

from typing import Any

import pytest

from chat.services.answering import Caller
from chat.services.catalog import ensure_defaults
from chat.services.reading import read_history, read_transcript
from chat.services.send import send_message
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize("messages", [10, 1_000])
def test_a_page_is_read_in_four_queries(messages: int, django_assert_num_queries: Any) -> None:
    talk = make.a_conversation()
    make.a_talk(talk, messages)

    with django_assert_num_queries(4):
        page = read_transcript(talk.pk)

    assert len(page.messages) == min(messages, 50)
    assert page.older is (messages > 50)
    assert page.messages[-1].text == f"Text {messages}"


@pytest.mark.parametrize("messages", [10, 1_000])
def test_the_history_for_the_model_is_read_in_two(
    messages: int, django_assert_num_queries: Any
) -> None:
    talk = make.a_conversation()
    make.a_talk(talk, messages)
    with django_assert_num_queries(2):
        assert len(read_history(talk.pk, before=messages + 1)) == messages


def test_older_messages_come_page_by_page_without_gap_or_double() -> None:
    """A18: `before` goes on where the page before ended."""
    talk = make.a_conversation()
    make.a_talk(talk, 120)
    seen: list[int] = []
    before = None
    while True:
        page = read_transcript(talk.pk, before=before)
        seen = [message.info.position for message in page.messages] + seen
        if not page.older:
            break
        before = page.messages[0].info.position
    assert seen == list(range(1, 121))


def test_archived_messages_are_not_read() -> None:
    """A6: what an edit set aside is not part of the conversation."""
    talk = make.a_conversation()
    make.a_talk(talk, 4)
    talk.messages.filter(position__gt=2).update(archived_at=make.timezone.now())
    assert [message.info.position for message in read_transcript(talk.pk).messages] == [1, 2]


def test_a_part_that_breaks_the_rules_is_held_by_a_card_and_hides_no_other() -> None:
    message = make.a_message_with_parts(role="assistant", tools=(make.a_finished_call(),))
    message.parts.filter(type="tool").update(data={"state": {"status": "exploded"}})
    [read] = read_transcript(message.conversation_id).messages
    assert [part.type for part in read.parts] == ["text", "text"]
    assert getattr(read.parts[0], "metadata", None) == {"unreadable": "tool"}
    assert read.text == "Hello"


def test_a_message_is_sent_in_few_queries(django_assert_max_num_queries: Any) -> None:
    """The first of a conversation, which also gets its title and its style of tools."""
    ensure_defaults()
    talk = make.a_conversation(make.a_user("alice"))
    caller = Caller(user_id=talk.owner_id, name="alice", client_id="c")
    with django_assert_max_num_queries(27):
        assert send_message(caller, talk.pk, "Hello").request_id
