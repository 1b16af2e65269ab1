"""The few threads in which the database is used from the event loop.

Each keeps its own connection, so a write costs no new one, and a thousand running answers
need four connections. A connection that has failed is closed and opened again by the next use.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 4

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="parley-db")


async def in_pool(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function that uses the database in one of our threads."""
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(_pool, lambda: _call(function, *args, **kwargs))


def _call(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return function(*args, **kwargs)
    finally:
        for connection in connections.all(initialized_only=True):
            if connection.errors_occurred:
                connection.close()


def close_connections() -> None:
    """Close every thread's connections (before a test database is dropped)."""
    global _pool
    done = [_pool.submit(connections.close_all) for _ in range(THREADS * 4)]
    for future in done:
        future.result()
    _pool.shutdown(wait=True)
    _pool = ThreadPoolExecutor(THREADS, thread_name_prefix="parley-db")
