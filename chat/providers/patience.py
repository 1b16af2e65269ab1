"""Waiting that ends: one timer for a whole stream instead of one for every chunk."""

import asyncio
from collections.abc import AsyncIterator

_GRACE = 0.02


class Patience:
    """Waits for the next chunk, for so long and no longer; raises `TimeoutError`.

    What `asyncio.timeout` does for one wait, without making and cancelling a timer each time.
    """

    def __init__(self, seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + seconds
        self._timer = self._loop.call_at(self._due, self._check)
        self._waiting: asyncio.Task[object] | None = None
        self._late = False
        self._over = False

    async def next(self, chunks: AsyncIterator[bytes], seconds: float | None = None) -> bytes:
        """The next chunk; `seconds` counts from now, without it the time given before goes on."""
        if seconds is not None:
            self._due = self._loop.time() + seconds
            if self._timer.when() > self._due:
                self._arm()
        self._late = False
        self._waiting = asyncio.current_task()
        try:
            return await anext(chunks)
        except asyncio.CancelledError:
            if self._over and self._waiting is not None and self._waiting.uncancel() <= 0:
                raise TimeoutError from None
            raise
        finally:
            self._waiting = None

    def close(self) -> None:
        self._timer.cancel()

    def _check(self) -> None:
        if self._loop.time() < self._due:
            self._arm()
        elif self._waiting is None or not self._late:
            # The reader is busy elsewhere, or this process was: what has come in meanwhile
            # must get its turn before the provider is called silent.
            self._late = self._waiting is not None
            self._due = self._loop.time() + _GRACE
            self._arm()
        else:
            self._over = True
            self._waiting.cancel()

    def _arm(self) -> None:
        self._timer.cancel()
        self._timer = self._loop.call_at(self._due, self._check)
