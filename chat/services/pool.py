"""The few threads in which the database is used from the event loop.

Each keeps its own connection, so a write costs no new one, and a thousand running answers
need five connections. A connection that has failed is closed and opened again by the next use.
"""

import asyncio
import logging
import select
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any, NamedTuple, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

from asgiref.sync import async_to_sync
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    connections,
    transaction,
)
from django.db.backends.base.base import BaseDatabaseWrapper

from chat.protocol.trail import Trail, trail

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
# For work that takes a processor a while: pictures, the text of PDF files.
WORKERS = 2
# For files that are made piece by piece, for as long as somebody takes them.
EXPORTERS = 2
# How many transactions are committed at once: the first of them is told only when all are written.
AT_ONCE = 25

# The connections of the threads that use the database.
_connections: list[Any] = []


def _note_connection() -> None:
    _connections.append(connections[DEFAULT_DB_ALIAS])


def _database_threads(number: int, name: str) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(number, thread_name_prefix=name, initializer=_note_connection)


_pool = _database_threads(THREADS, "parley-db")
_writer = _database_threads(1, "parley-db-writer")
_workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="parley-work")
_exporters = ThreadPoolExecutor(EXPORTERS, thread_name_prefix="parley-export")
# In each of these: for which event loop it works, and for whom.
_exporting = threading.local()
# In each of our threads: the event loop that waits for what it does.
_waiting = threading.local()


def waiting_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop for which this thread works, if it is one of ours."""
    return getattr(_waiting, "loop", None)


def from_thread(
    work: Callable[P, Coroutine[Any, Any, None]], *args: P.args, **kwargs: P.kwargs
) -> None:
    """Tell those who are in the event loop. A thread of ours has the loop do it that waits for the
    thread, which is told before whatever it does next; any other waits itself."""
    loop = waiting_loop()
    if loop is not None:
        asyncio.run_coroutine_threadsafe(work(*args, **kwargs), loop)
    else:
        async_to_sync(work)(*args, **kwargs)


async def in_worker(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what takes long and uses no database, so that those who do need not wait for it."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_workers, lambda: function(*args, **kwargs))


def by_worker(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a thread that waits; it must not be one of the workers itself."""
    return _workers.submit(function, *args, **kwargs).result()


async def in_exporter(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what draws and reads files for long, so that no page waits for it. What it wants of the
    database it asks `by_pool` for."""
    loop, told = asyncio.get_running_loop(), trail.get()

    def work() -> T:
        trail.set(told)
        _exporting.place = (loop, told)
        try:
            return function(*args, **kwargs)
        finally:
            _exporting.place = None

    return await loop.run_in_executor(_exporters, work)


def by_pool(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Use the database from what may run in a thread of the exports: then in one of ours. In any
    other thread, which has a connection of its own, it is done here."""
    place = getattr(_exporting, "place", None)
    if place is None:
        return function(*args, **kwargs)
    loop, told = place
    return _pool.submit(lambda: _call(loop, told, function, *args, **kwargs)).result()


async def in_pool(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in one of our threads."""
    loop = asyncio.get_running_loop()
    told = trail.get()
    return await loop.run_in_executor(_pool, lambda: _call(loop, told, function, *args, **kwargs))


async def in_writer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for what writes. SQLite lets one write at a time, and lets the others try again
    after ever longer pauses: in one thread they wait in line, and none of them in vain."""
    if not _has_one_writer():
        return await in_pool(function, *args, **kwargs)
    loop, told = asyncio.get_running_loop(), trail.get()
    return await loop.run_in_executor(_writer, lambda: _call(loop, told, function, *args, **kwargs))


class _Transaction(NamedTuple):
    """One that waits for the writer, and whoever waits for it."""

    told: Trail
    work: Callable[[], Any]
    done: asyncio.Future[Any]


class _Outcome(NamedTuple):
    done: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, deque[_Transaction]] = WeakKeyDictionary()


async def in_transaction(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for what is one short transaction. Those that come while the writer is busy are
    committed together: of a turn that writes little, that is a good part of its time. Where that
    fails each is done again by itself, so it may write rows and nothing else; the rest is for
    `on_commit`."""
    if not _has_one_writer():
        return await in_pool(function, *args, **kwargs)
    loop = asyncio.get_running_loop()
    line = _lines.setdefault(loop, deque())
    done: asyncio.Future[T] = loop.create_future()
    line.append(_Transaction(trail.get(), partial(function, *args, **kwargs), done))
    # Whoever finds others waiting is written with them.
    if len(line) == 1:
        _writer.submit(_write_line, loop, line)
    return await done


def _write_line(loop: asyncio.AbstractEventLoop, line: deque[_Transaction]) -> None:
    """Write those that wait, and tell whoever waits for them, all in one turn of the loop."""
    waiting: list[_Transaction] = []
    while line and len(waiting) < AT_ONCE:
        waiting.append(line.popleft())
    if line:
        _writer.submit(_write_line, loop, line)
    wanted = [each for each in waiting if not each.done.cancelled()]
    try:
        outcomes = _call(loop, Trail(), _commit, wanted)
    except Exception as error:  # noqa: BLE001 - it is raised to everybody who waits
        outcomes = [_Outcome(each.done, error=error) for each in wanted]
    if not loop.is_closed():
        loop.call_soon_threadsafe(_tell, outcomes)


def _commit(wanted: list[_Transaction]) -> list[_Outcome]:
    """All of them together; if that cannot be, each by itself."""
    if len(wanted) > 1:
        try:
            with transaction.atomic():
                outcomes = [_outcome(each) for each in wanted]
                if transaction.get_rollback():
                    raise DatabaseError("one has broken the transaction of the others")
                _keep_apart_what_follows()
            return outcomes
        except (DatabaseError, InterfaceError):
            log.warning("transactions are written one by one", exc_info=True)
    return [_outcome(each) for each in wanted]


def _keep_apart_what_follows() -> None:
    """What one does after the commit may fail, where a file cannot be removed say: that is logged,
    and keeps nobody from what they do then, nor from being told that they are written."""
    # Its stubs do not know the last of the three.
    connection: Any = connections[DEFAULT_DB_ALIAS]
    connection.run_on_commit = [(ids, hook, True) for ids, hook, _ in connection.run_on_commit]


def _outcome(wanted: _Transaction) -> _Outcome:
    trail.set(wanted.told)
    try:
        return _Outcome(wanted.done, wanted.work())
    except Exception as error:  # noqa: BLE001 - it is raised to whoever waits
        return _Outcome(wanted.done, error=error)


def _tell(outcomes: list[_Outcome]) -> None:
    for done, result, error in outcomes:
        if done.done():
            continue
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)


@cache
def _has_one_writer() -> bool:
    """Asked once: whoever asks in a task of the event loop is made a connection for it first."""
    return connections[DEFAULT_DB_ALIAS].vendor == "sqlite"


def _call(
    loop: asyncio.AbstractEventLoop,
    told: Trail,
    function: Callable[P, T],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    _waiting.loop = loop
    _drop_if_cut(connections[DEFAULT_DB_ALIAS])
    # Each call brings its own: what the one before has left counts for nobody.
    trail.set(told)
    try:
        return function(*args, **kwargs)
    finally:
        _waiting.loop = None
        for connection in connections.all(initialized_only=True):
            if connection.errors_occurred:
                connection.close()


def _drop_if_cut(connection: BaseDatabaseWrapper) -> None:
    """Close a connection that the server has ended while nobody used it: then something lies in it
    to be read. Whoever comes next would be told that it failed."""
    driver: Any = connection.connection
    if connection.vendor == "sqlite" or driver is None or connection.in_atomic_block:
        return
    waiting = select.poll()
    if not driver.closed:
        waiting.register(driver.fileno(), select.POLLIN)
    if driver.closed or waiting.poll(0):
        connection.close()


def waiting_work() -> dict[str, int]:
    """How much waits for a thread, by what the threads do."""
    pools = {"database": _pool, "writer": _writer, "worker": _workers}
    waiting = {name: each._work_queue.qsize() for name, each in pools.items()}
    # The transactions of a line are one piece of work for the writer.
    waiting["writer"] += sum(len(line) - 1 for line in tuple(_lines.values()) if line)
    return waiting


def close_connections() -> None:
    """Close every thread's connections (before a test database is dropped)."""
    global _pool, _writer
    for threads in (_pool, _writer):
        threads.shutdown(wait=True)
    for connection in _connections:
        # Its own thread has ended, so nobody else uses it.
        connection.inc_thread_sharing()
        connection.close()
    _connections.clear()
    _pool = _database_threads(THREADS, "parley-db")
    _writer = _database_threads(1, "parley-db-writer")
