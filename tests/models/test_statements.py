"""What a turn asks of the database: few statements, and no more of them in a long conversation."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Conversation
from chat.protocol.factories import create_text_part
from chat.protocol.messages import WithParts
from chat.services import Caller
from chat.services.catalog.defaults import ensure_defaults
from chat.services.catalog.known import current_catalog
from chat.services.conversations.sidebar import list_conversations
from chat.services.conversations.snapshot import _read_digests
from chat.services.processes.lease import this_process
from chat.services.processes.presence import _attach
from chat.services.runs.flush import write_batch
from chat.services.runs.rows import Placed
from chat.services.runs.settle import Outcome, settle
from chat.services.turns.start import Started
from tests.support import factories as make
from tests.support.turn_rows import write_send

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def known() -> None:
    """What a process reads or makes once."""
    ensure_defaults()
    current_catalog()
    this_process()


def statements(do: Callable[[], Any]) -> int:
    """How many are run; one for many rows counts as often as there are rows."""
    return sum(times_of_each(do))


def times_of_each(do: Callable[[], Any]) -> list[int]:
    """For how many rows each statement is run, the marks of the transaction apart."""
    with CaptureQueriesContext(connection) as asked:
        do()
    marks = ("BEGIN", "SAVEPOINT", "RELEASE")
    told = [query["sql"] for query in asked.captured_queries]
    return [_times(sql) for sql in told if not sql.startswith(marks)]


def _times(sql: str) -> int:
    """Django's record of a statement that is run for many rows begins with their number."""
    many = re.match(r"(\d+) times: ", sql)
    return int(many[1]) if many else 1


def a_talk(messages: int = 0, **fields: Any) -> Conversation:
    talk = make.a_conversation(**fields)
    if messages:
        make.a_talk(talk, messages)
    return talk


def send(talk: Conversation) -> Started:
    return write_send(Caller(talk.owner_id, client_id="c"), talk.pk, "Hello")


def a_text(started: Started) -> list[Placed]:
    assert started.spec is not None
    info = started.spec.info
    return [(0, create_text_part(info.session_id, info.id, "An answer."))]


def in_line() -> int:
    """On PostgreSQL one more stands in line with others who begin an answer of this person."""
    return int(connection.vendor == "postgresql")


def test_a_first_message_takes_ten_its_title_among_them() -> None:
    talk = a_talk(title="")
    assert statements(lambda: send(talk)) == 10 + in_line()


@pytest.mark.parametrize("messages", [10, 300])
def test_a_later_message_takes_eleven_however_long_the_conversation_is(messages: int) -> None:
    talk = a_talk(messages)
    assert statements(lambda: send(talk)) == 11 + in_line()


@pytest.mark.parametrize("runs", [1, 20])
def test_a_flush_takes_three_of_which_two_are_for_each_run(runs: int) -> None:
    started = [send(a_talk()) for _ in range(runs)]
    batch = [((each.request_id, 0), 1, a_text(each)) for each in started]
    assert times_of_each(lambda: write_batch(batch)) == [1, runs, runs]


@pytest.mark.parametrize("messages", [0, 300])
def test_an_end_takes_seven_however_long_the_conversation_is(messages: int) -> None:
    talk = a_talk(messages)
    started = send(talk)
    assert started.spec is not None
    placed = a_text(started)
    answer = WithParts(info=started.spec.info, parts=tuple(part for _, part in placed))
    ended = Outcome(status="success")
    assert statements(lambda: settle(started.request_id, talk.owner_id, answer, ended, placed)) == 7


@pytest.mark.parametrize("talks", [1, 100])
def test_a_column_takes_one_however_many_conversations_there_are(talks: int) -> None:
    owner = make.a_user()
    for _ in range(talks):
        make.a_conversation(owner)
    assert statements(lambda: list_conversations(Caller(owner.pk), 60)) == 1


def test_a_column_has_the_times_of_its_rows() -> None:
    """Whatever zone the server is in: a time without one would be taken for a local one."""
    talk = a_talk()
    [listed] = list_conversations(Caller(talk.owner_id), 60)
    talk.refresh_from_db()
    assert listed.updated == talk.updated


def test_many_sockets_compare_themselves_with_one() -> None:
    keys = [str(make.a_conversation().pk) for _ in range(20)]
    assert statements(lambda: _read_digests(keys)) == 1


def test_a_view_takes_three() -> None:
    talk = a_talk()
    assert statements(lambda: _attach(Caller(talk.owner_id), str(talk.pk), "socket", False)) == 3
