"""Two writers at the same moment: the database settles it, not a dictionary."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F

from chat.models import Conversation, Generation, Message
from chat.services import Caller
from chat.services.access import lock_conversation
from tests.support import factories as make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]


def together(*actions: Callable[[], bool]) -> list[bool]:
    """Every action in a thread and a connection of its own, all let go at one moment."""
    gate = threading.Barrier(len(actions))

    def run(action: Callable[[], bool]) -> bool:
        try:
            connection.ensure_connection()
            gate.wait(10)
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


@pytest.mark.parametrize("round", range(5))
def test_of_two_answers_started_at_once_exactly_one_runs(round: int) -> None:
    """A4: the partial unique constraint decides, also between processes."""
    talk = make.a_conversation()
    messages = [make.a_message(talk, "assistant", status="streaming") for _ in range(2)]

    def start(message: Message) -> bool:
        try:
            Generation.objects.create(conversation=talk, message=message)
        except IntegrityError:
            return False
        return True

    won = together(*(lambda message=message: start(message) for message in messages))

    assert sorted(won) == [False, True]
    assert talk.generations.filter(status="active").count() == 1


def test_writers_that_meet_never_take_the_same_position() -> None:
    """E5: a position is taken under the conversation's lock."""
    talk = make.a_conversation()

    def say() -> bool:
        with transaction.atomic():
            row = lock_conversation(Caller(talk.owner_id), talk.pk)
            row.last_position += 1
            row.save(update_fields=["last_position"])
            Message.objects.create(conversation=row, position=row.last_position, role="user")
        return True

    assert all(together(*[say] * 8))
    assert sorted(talk.messages.values_list("position", flat=True)) == list(range(1, 9))


def test_a_position_is_never_given_out_again() -> None:
    """E5: a deleted message leaves a hole; `last_position` remembers it."""
    talk = make.a_conversation()
    make.a_message(talk)
    last = make.a_message(talk)
    last.delete()
    assert make.a_message(talk).position == last.position + 1


def test_revisions_counted_by_many_are_all_counted() -> None:
    talk = make.a_conversation()

    def bump() -> bool:
        return bool(Conversation.objects.filter(pk=talk.pk).update(rev=F("rev") + 1))

    assert all(together(*[bump] * 8))
    talk.refresh_from_db()
    assert talk.rev == 8
