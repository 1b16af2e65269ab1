"""What goes out of a socket, and how much of it was read.

Daphne takes whatever it is given and keeps it until the client reads, so the client says how
far it has come, and one that does not read is sent nothing more.
"""

import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from autobahn.exception import Disconnected

Send = Callable[[dict[str, Any]], Awaitable[None]]

# How servers say that the other end has left in the meantime.
GONE = (Disconnected, OSError)
# The close code for a client that lets even its replies lie.
NOT_READING = 4408
MANY = 20


class Outbox:
    """The way out of one socket."""

    # What may be under way to a client that does not say it has read it, in bytes.
    window = 1_500_000

    def __init__(self, send: Send) -> None:
        self._send = send
        self.closed = False
        # When something was said last.
        self.said_at = time.monotonic()
        self._unread = 0
        self._acknowledged = 0
        # The sizes of the frames that were not acknowledged yet.
        self._under_way: deque[int] = deque()

    @property
    def is_full(self) -> bool:
        """Whether it should first read what it has; later it gets the state of then."""
        return self._unread > self.window

    async def say(self, frames: list[str]) -> None:
        # One long redraw is not yet a client that does not read.
        if self._unread > 2 * self.window and len(self._under_way) > MANY:
            await self.close(NOT_READING)
        if frames:
            self.said_at = time.monotonic()
        for frame in frames:
            if self.closed:
                return
            # Servers keep it as bytes: a Chinese letter is three of them.
            size = len(frame) if frame.isascii() else len(frame.encode("utf-8", "replace"))
            self._under_way.append(size)
            self._unread += size
            try:
                await self._send({"type": "websocket.send", "text": frame})
            except GONE:
                self.closed = True

    async def close(self, code: int) -> None:
        """Close; whatever the other end still says or is about to be told counts no more."""
        if not self.closed:
            self.closed = True
            with contextlib.suppress(*GONE):
                await self._send({"type": "websocket.close", "code": code})

    def acknowledge(self, frames: int) -> bool:
        """The other end has read this many frames; whether it can take more again."""
        was_full = self.is_full
        while self._under_way and self._acknowledged < frames:
            self._acknowledged += 1
            self._unread -= self._under_way.popleft()
        return was_full and not self._unread

    def acknowledge_all(self) -> bool:
        return self.acknowledge(self._acknowledged + len(self._under_way))
