"""Short transactions that come at once are committed together, and each stands for itself."""

import asyncio
import threading

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction

from chat.protocol.errors import ChatError
from chat.services.pool import close_connections, in_transaction, in_writer, waiting_work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def only_sqlite():
    if connection.vendor != "sqlite":
        pytest.skip("elsewhere many write at a time")
    yield
    close_connections()


@transaction.atomic
def add(name: str) -> bool:
    """Whether others were written in the same transaction."""
    User.objects.create(username=name)
    return bool(connection.savepoint_ids)


@transaction.atomic
def add_and_refuse(name: str) -> None:
    User.objects.create(username=name)
    raise ChatError("error.chat_stale")


@transaction.atomic
def lose_the_transaction() -> None:
    """As SQLite does by itself where a disk is full."""
    if connection.savepoint_ids:
        connection.connection.rollback()
    raise OperationalError("database or disk is full")


@transaction.atomic
def add_and_break_afterwards(name: str) -> None:
    """As where a file cannot be removed."""

    def remove() -> None:
        raise PermissionError(name)

    User.objects.create(username=name)
    transaction.on_commit(remove)


@transaction.atomic
def add_and_tell(name: str, told: list[str]) -> None:
    User.objects.create(username=name)
    transaction.on_commit(lambda: told.append(name))


async def at_once(*works):
    """What comes of works that all wait for the writer."""
    free = threading.Event()
    busy = asyncio.ensure_future(in_writer(free.wait))
    waiting = [asyncio.ensure_future(in_transaction(work, *args)) for work, *args in works]
    await asyncio.sleep(0)
    free.set()
    await busy
    return await asyncio.gather(*waiting, return_exceptions=True)


def names() -> set[str]:
    return set(User.objects.values_list("username", flat=True))


async def test_one_that_comes_alone_is_a_transaction_of_its_own() -> None:
    assert await in_transaction(add, "ada") is False


async def test_those_that_wait_are_committed_together_and_refused_alone() -> None:
    one, refused, other = await at_once((add, "ada"), (add_and_refuse, "eve"), (add, "bob"))
    assert (one, other) == (True, True)
    assert isinstance(refused, ChatError)
    assert await in_writer(names) == {"ada", "bob"}


async def test_one_that_breaks_takes_no_other_with_it() -> None:
    one, broken, other = await at_once((add, "ada"), (lose_the_transaction,), (add, "bob"))
    assert (one, other) == (False, False)
    assert isinstance(broken, OperationalError)
    assert await in_writer(names) == {"ada", "bob"}


async def test_what_breaks_after_the_commit_keeps_nobody_from_theirs() -> None:
    told: list[str] = []
    works = ((add, "ada"), (add_and_break_afterwards, "eve"), (add_and_tell, "bob", told))
    assert await at_once(*works) == [True, None, None]
    assert told == ["bob"]
    assert await in_writer(names) == {"ada", "eve", "bob"}


async def test_all_that_wait_are_counted() -> None:
    free, begun = threading.Event(), threading.Event()
    busy = asyncio.ensure_future(in_writer(lambda: (begun.set(), free.wait())))
    await asyncio.to_thread(begun.wait)
    waiting = [asyncio.ensure_future(in_transaction(add, f"person-{n}")) for n in range(3)]
    await asyncio.sleep(0)
    assert waiting_work()["writer"] == 3
    free.set()
    await asyncio.gather(busy, *waiting)
    assert waiting_work()["writer"] == 0


async def test_more_than_fit_are_all_written() -> None:
    found = await at_once(*((add, f"person-{n}") for n in range(60)))
    assert len(found) == len(await in_writer(names)) == 60
