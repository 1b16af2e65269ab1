"""How long a provider may be silent, watched without a timer for every piece of its answer.

Pieces come by the hundred a second, nearly all of them long before anybody would give up: to set
and to cancel a timer for each would cost as much as to read it.
"""

import asyncio
from collections.abc import Awaitable
from typing import Self, TypeVar

T = TypeVar("T")


class Silence:
    """Waits for one answer, one after the other, each with an end.

    One timer serves them all. It is set for the first wait, and when it goes off it looks which
    wait there is by then: it ends one that has lasted too long, and is set anew for any other.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        # Of the wait that is under way: who waits, until when, and whether that is over.
        self._task: asyncio.Task[object] | None = None
        self._until = 0.0
        self._has_ended = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop_timer()

    async def wait_for(self, what: Awaitable[T], patience: float) -> T:
        """What comes; `TimeoutError` when it takes longer than so many seconds."""
        task = self._task = asyncio.current_task()
        assert task is not None
        cancelled_before = task.cancelling()
        self._until = self._loop.time() + patience
        if self._timer is None or self._until < self._timer.when():
            self._set_timer()
        try:
            return await what
        except asyncio.CancelledError:
            # Whoever else cancels the task meanwhile comes first.
            if self._has_ended and task.uncancel() <= cancelled_before:
                raise TimeoutError from None
            raise
        finally:
            self._task = None

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        self._stop_timer()
        self._timer = self._loop.call_at(self._until, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._task is None:
            return
        if self._loop.time() < self._until:
            self._set_timer()
        else:
            self._has_ended = True
            self._task.cancel()
