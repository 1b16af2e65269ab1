"""What a response brings, read ahead by a task of its own.

The HTTP client gives one piece for every token a provider wrote, also when a hundred have come
together. Here they are taken together, so a burst costs one turn of the reader, not a hundred;
and one timer watches the silence of the whole stream, instead of one for every piece.
"""

import asyncio
from collections.abc import AsyncIterable

_READ_AHEAD = 262_144


class Inflow:
    """Gives all that has come since the last time; `TimeoutError` after too long a silence."""

    def __init__(self, stream: AsyncIterable[bytes], first: float, idle: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle = idle
        self._due = self._loop.time() + first
        self._pieces: list[bytes] = []
        self._size = 0
        self._error: BaseException | None = None
        self._ended = False
        self._news: asyncio.Future[None] | None = None
        self._room = asyncio.Event()
        self._timer = self._loop.call_at(self._due, self._check)
        self._task = self._loop.create_task(self._read(stream))
        self._task.add_done_callback(self._finish)

    async def take(self) -> bytes:
        """What has come; nothing when there will be no more."""
        while not self._pieces and not self._ended:
            self._news = self._loop.create_future()
            await self._news
        taken = b"".join(self._pieces)
        if not taken and self._error is not None:
            raise self._error
        self._pieces.clear()
        self._size = 0
        self._room.set()
        return taken

    async def close(self) -> None:
        """Stop reading; afterwards the response is nobody's but the caller's."""
        self._timer.cancel()
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _read(self, stream: AsyncIterable[bytes]) -> None:
        async for piece in stream:
            self._pieces.append(piece)
            self._size += len(piece)
            self._due = self._loop.time() + self._idle
            self._wake()
            if self._size > _READ_AHEAD:
                self._room.clear()
                await self._room.wait()

    def _finish(self, task: "asyncio.Task[None]") -> None:
        self._ended = True
        if not task.cancelled():
            self._error = task.exception()
        self._wake()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def _check(self) -> None:
        now = self._loop.time()
        if now < self._due or self._size > _READ_AHEAD:
            # Not silent, or it is we who do not read.
            self._timer = self._loop.call_at(max(self._due, now + 0.05), self._check)
            return
        self._error = TimeoutError()
        self._task.cancel()
