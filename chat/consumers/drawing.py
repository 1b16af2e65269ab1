"""Drawing much at once, aside of the event loop, with a turn for everybody."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from chat.rendering.highlight import highlight

P = ParamSpec("P")
T = TypeVar("T")

# One thread: several that compute would keep the event loop from the interpreter for long.
_drawing = ThreadPoolExecutor(1, thread_name_prefix="parley-draw")
# What waits to be drawn for each person, whose turn is next first: somebody with many heavy
# pages waits for themselves, and others for one of those pages at the most.
_waiting: dict[str, deque[tuple[Callable[[], Any], Future[Any]]]] = {}
_lock = Lock()


async def draw_aside(person: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Draw in a thread; a person's work is done in its order, and people take turns."""
    drawn: Future[T] = Future()
    with _lock:
        _waiting.setdefault(person, deque()).append((partial(work, *args, **kwargs), drawn))
    _drawing.submit(_draw_next)
    return await asyncio.wrap_future(drawn)


def _draw_next() -> None:
    with _lock:
        person = next(iter(_waiting))
        queue = _waiting.pop(person)
        work, drawn = queue.popleft()
        if queue:
            _waiting[person] = queue  # behind all others
    if not drawn.set_running_or_notify_cancel():
        return
    try:
        drawn.set_result(work())
    except BaseException as error:  # noqa: BLE001 - it is raised to whoever waits
        drawn.set_exception(error)


async def warm_up() -> None:
    """Let the first long code find its languages loaded."""
    await draw_aside("", highlight, "pass", "python")
