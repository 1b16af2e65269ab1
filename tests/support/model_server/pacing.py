"""Many streams at a steady pace from one timer: no task wakes up per token."""

import asyncio
import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count


@dataclass(order=True)
class _Stream:
    due: float
    order: int
    gap: float = field(compare=False)
    pieces: Iterator[bytes] = field(compare=False)
    write: Callable[[bytes], None] = field(compare=False)
    ended: asyncio.Future[None] = field(compare=False)


class Pacer:
    """Writes each stream's next piece when it is due; late ones catch up."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._streams: list[_Stream] = []
        self._count = count()
        self._timer: asyncio.TimerHandle | None = None

    def run(
        self, pieces: Iterator[bytes], gap: float, write: Callable[[bytes], None]
    ) -> asyncio.Future[None]:
        """Write the pieces, one every `gap` seconds; done when the last is out."""
        ended: asyncio.Future[None] = self._loop.create_future()
        due = self._loop.time() + gap
        stream = _Stream(due, next(self._count), gap, pieces, write, ended)
        heapq.heappush(self._streams, stream)
        self._arm()
        return ended

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self._streams[0].due if self._streams else None
        self._timer = None if due is None else self._loop.call_at(due, self._wake)

    def _wake(self) -> None:
        now = self._loop.time()
        streams = self._streams
        while streams and streams[0].due <= now:
            stream = streams[0]
            piece = None if stream.ended.done() else next(stream.pieces, None)
            if piece is None:
                heapq.heappop(streams)
                if not stream.ended.done():
                    stream.ended.set_result(None)
                continue
            stream.write(piece)
            stream.due += stream.gap
            heapq.heapreplace(streams, stream)
        self._timer = None
        self._arm()
