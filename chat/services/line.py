"""A line for what many ask for at once and can wait for, with a turn for everybody."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from weakref import WeakKeyDictionary

# How many of those who come back at once, after a restart say, are read for at a time.
RETURNING = 2


class Line:
    """So many places. Whoever asks for much at once waits for themselves, and others for one of
    those askings at the most."""

    def __init__(self, places: int) -> None:
        self._free = places
        # Those who wait, for each person in their order; whose turn is next first.
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, user_id: int) -> AsyncIterator[None]:
        await self._enter(user_id)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, user_id: int) -> None:
        if self._free:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user_id, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # Whoever has gone in the moment of their turn leaves it to the next.
            if not turn.cancelled():
                self._leave()
            raise

    def _leave(self) -> None:
        while self._waiting:
            user_id = next(iter(self._waiting))
            turns = self._waiting.pop(user_id)
            turn = turns.popleft()
            if turns:
                self._waiting[user_id] = turns  # behind all others
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


_lines: WeakKeyDictionary[asyncio.AbstractEventLoop, Line] = WeakKeyDictionary()


def in_line(user_id: int) -> AbstractAsyncContextManager[None]:
    """A place in the line of this process: whoever sends or opens a page meanwhile finds a thread
    that is free, and not all of these in front."""
    loop = asyncio.get_running_loop()
    return _lines.setdefault(loop, Line(RETURNING)).place(user_id)
