"""Reading a page of a conversation costs the same, however long the conversation is."""

from typing import Any

import pytest

from chat.protocol.notes import part_notes
from chat.services.conversations.history import Window, read_history, read_transcript
from tests.support import factories as make
from tests.support.turn_rows import owner_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.mark.parametrize("messages", [10, 1_000])
def test_a_page_is_read_in_four_queries(messages: int, django_assert_num_queries: Any) -> None:
    talk = make.a_conversation()
    make.a_talk(talk, messages)

    with django_assert_num_queries(4):
        page = read_transcript(owner_of(talk), talk.pk)

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
        page = read_transcript(owner_of(talk), talk.pk, Window(before))
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
    assert [
        message.info.position for message in read_transcript(owner_of(talk), talk.pk).messages
    ] == [1, 2]


def test_a_part_that_breaks_the_rules_is_held_by_a_card_and_hides_no_other() -> None:
    message = make.a_message_with_parts(role="assistant", tools=(make.a_finished_call(),))
    message.parts.filter(type="tool").update(data={"state": {"status": "exploded"}})
    [read] = read_transcript(owner_of(message.conversation), message.conversation_id).messages
    assert [part.type for part in read.parts] == ["text", "text"]
    found = part_notes(read.parts[0]).unreadable
    assert found is not None
    assert (found.type, found.stored["state"]) == ("tool", {"status": "exploded"})
    assert read.text == "Hello"


@pytest.mark.parametrize(
    ("window", "positions", "older", "newer"),
    [
        (Window.around(60), range(35, 85), True, True),
        (Window.around(3), range(1, 28), False, True),
        (Window.around(118), range(93, 121), True, False),
        (Window.after(50), range(51, 101), True, True),
        (Window.after(100), range(101, 121), True, False),
        (Window.after(999), range(0), True, False),
        (Window(51), range(1, 51), False, True),
        (Window(999), range(71, 121), True, False),
    ],
)
def test_a_window_says_what_lies_on_both_sides(
    window: Window, positions: range, older: bool, newer: bool
) -> None:
    talk = make.a_conversation()
    make.a_talk(talk, 120)
    page = read_transcript(owner_of(talk), talk.pk, window)
    assert [message.info.position for message in page.messages] == list(positions)
    assert (page.older, page.newer) == (older, newer)
