"""The few threads in which the database is used from the event loop.

Each keeps its own connection, so a write costs no new one, and a thousand running answers
need five connections. A connection that has failed is closed and opened again by the next use.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4
# For work that takes a processor a while: pictures, the text of PDF files.
WORKERS = 2

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="parley-db")
_writer = ThreadPoolExecutor(1, thread_name_prefix="parley-db-writer")
_workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="parley-work")


async def in_worker(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run what takes long and uses no database, so that those who do need not wait for it."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_workers, lambda: function(*args, **kwargs))


def by_worker(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for a thread that waits; it must not be one of the workers itself."""
    return _workers.submit(function, *args, **kwargs).result()


async def in_pool(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in one of our threads."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, lambda: _call(function, *args, **kwargs))


async def in_writer(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """The same for what writes. SQLite lets one write at a time, and lets the others try again
    after ever longer pauses: in one thread they wait in line, and none of them in vain."""
    if connections[DEFAULT_DB_ALIAS].vendor != "sqlite":
        return await in_pool(function, *args, **kwargs)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_writer, lambda: _call(function, *args, **kwargs))


def _call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.errors_occurred:
                connection.close()


def close_connections() -> None:
    """Close every thread's connections (before a test database is dropped)."""
    global _pool, _writer
    # Only a thread itself can close its connections, and whoever waits here can do so only once.
    together = threading.Barrier(THREADS)

    def close() -> None:
        together.wait()
        connections.close_all()

    closings = [_pool.submit(close) for _ in range(THREADS)]
    for closing in (*closings, _writer.submit(connections.close_all)):
        closing.result()
    for threads in (_pool, _writer):
        threads.shutdown(wait=True)
    _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="parley-db")
    _writer = ThreadPoolExecutor(1, thread_name_prefix="parley-db-writer")
