"""What goes out of a socket, and how much of it was read.

Daphne takes whatever it is given and keeps it until the client reads, so the client says how
far it has come, and one that does not read is sent nothing more.
"""

import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from autobahn.exception import Disconnected

Send = Callable[[dict[str, Any]], Awaitable[None]]

# How servers say that the other end has left in the meantime.
GONE = (Disconnected, OSError)
# The close code for a client that lets even its replies lie.
NOT_READING = 4408


class Frame(NamedTuple):
    """One that was sent and not acknowledged yet. Programs say how far they have read by the number
    of an event, which begins anew with each answer; other frames have none."""

    size: int
    answer: int
    seq: int


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
        self._under_way: deque[Frame] = deque()
        # How many answers there were before the one that is being told, and its last event.
        self._answer = self._seq = 0
        # Whether it should first read what it has; then it is given the state of that moment.
        self.is_full = False

    @property
    def _is_overfull(self) -> bool:
        """Whether more lies unread than a slow reader can have. One long redraw may take them a
        while, and is not counted."""
        if self._unread <= 2 * self.window:
            return False
        longest = max(frame.size for frame in self._under_way)
        return self._unread - longest > 2 * self.window

    async def say(self, frames: list[str], seq: int = 0) -> None:
        """Send these; a program that has read them says the number of their last event."""
        if self._is_overfull:
            await self.close(NOT_READING)
        if frames:
            self.said_at = time.monotonic()
        if seq:
            self._answer += seq < self._seq
            self._seq = seq
        for frame in frames:
            if self.closed:
                return
            # Servers keep it as bytes: a Chinese letter is three of them.
            size = len(frame) if frame.isascii() else len(frame.encode("utf-8", "replace"))
            self._under_way.append(Frame(size, self._answer, seq))
            self._unread += size
            self.is_full |= self._unread > self.window
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
        while self._under_way and self._acknowledged < frames:
            self._take_off()
        return self._can_go_on()

    def acknowledge_events(self, seq: int) -> bool:
        """The same from whoever counts the events of the answer that is being written: all up to
        this one were read, and what stands before it. What has no number goes with it."""
        newest = self._under_way[-1].answer if self._under_way else 0
        while self._under_way:
            frame = self._under_way[0]
            if frame.answer == newest and frame.seq > seq:
                break
            self._take_off()
        return self._can_go_on()

    def _take_off(self) -> None:
        self._acknowledged += 1
        self._unread -= self._under_way.popleft().size

    def _can_go_on(self) -> bool:
        """Whether it was sent nothing more until now, and has read all that it was sent."""
        can_go_on = self.is_full and not self._unread
        self.is_full &= not can_go_on
        return can_go_on
