"""The tabs of `--load`: idle ones, ones that stream, ones that ask again and again, and pages.

`python -m tests.benchmark.load_tabs` reads a job per line. `{"open": [tab, …]}` opens tabs and
keeps them; `{"load": …}` lets others work beside them, and says what came of it; `{"close": true}`
closes those that were kept.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from tests.benchmark.viewers import Crowd, View

# A round that takes longer than this has broken.
LONGEST = 240
# So many sockets are opened at a time.
TOGETHER = 8


class IdleView(View):
    """A tab that shows a conversation in which nothing happens."""

    def __init__(self, tab: dict[str, str]) -> None:
        super().__init__(tab, Crowd(0))

    def fail(self, reason: str) -> None:
        self.failed = reason
        if not self.attached.done():
            self.attached.set_exception(ConnectionError(reason))

    def end(self) -> None:
        """Nothing that it is told ends it."""


class AskingView(View):
    """A tab that asks, reads the answer, and asks again."""

    def __init__(self, tab: dict[str, str]) -> None:
        super().__init__(tab, Crowd(0))
        # When each question was asked, its first words came and its end.
        self.turns: list[tuple[float, float, float]] = []
        self.is_busy = False
        self._first = 0.0

    def ask(self) -> None:
        self.is_busy, self.ended, self._first = True, 0.0, 0.0
        super().ask()

    def take(self, frame: bytes, now: float) -> None:
        if self.is_busy and not self._first and self.begins(frame):
            self._first = now
        super().take(frame, now)
        self.came.clear()

    def end(self) -> None:
        # The foot of the answer before is drawn once more when the next one begins.
        if not self.is_busy or not (self._first or self.failed):
            return
        self.ended = time.monotonic()
        self.is_busy = False
        if not self.failed:
            self.turns.append((self.asked, self._first, self.ended))


@dataclass
class Load:
    """What works beside the idle tabs."""

    streams: list[dict[str, str]]
    # The streams begin within so many seconds.
    spread: float
    asking: list[dict[str, str]]
    asks_per_second: float
    pages: list[dict[str, str]]
    pages_per_second: float
    # Questions that were put off because every tab was still reading.
    put_off: int = 0
    seconds_of_pages: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    _tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    async def run(self) -> dict[str, Any]:
        crowd = Crowd(len(self.streams))
        views = [View(tab, crowd) for tab in self.streams]
        asking = [AskingView(tab) for tab in self.asking]
        await _open([*views, *asking])
        _print("ready")
        await asyncio.to_thread(sys.stdin.readline)
        crowd.watch()
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for at, view in enumerate(views):
            loop.call_at(begin + self.spread * at / len(views), view.ask)
        beside = [
            asyncio.create_task(self._ask(asking, crowd.done)),
            asyncio.create_task(self._load_pages(crowd.done)),
        ]
        async with asyncio.timeout(LONGEST):
            await crowd.done.wait()
            await asyncio.gather(*beside, *self._tasks)
            while any(view.is_busy for view in asking):  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        for view in [*views, *asking]:
            view.socket.close()
        self.failed += [view.failed for view in asking if view.failed]
        return {
            "streams": [view.found() for view in views],
            "turns": [turn for view in asking for turn in view.turns],
            "put_off": self.put_off,
            "pages": self.seconds_of_pages,
            "failed": self.failed,
            "late": crowd.late,
        }

    async def _ask(self, views: list[AskingView], done: asyncio.Event) -> None:
        """At its pace, whoever is free."""
        async for _ in _paced(self.asks_per_second if views else 0, done):
            for at, view in enumerate(views):
                if not view.is_busy and not view.failed:
                    view.ask()
                    # It is somebody else's turn next.
                    views.append(views.pop(at))
                    break
            else:
                self.put_off += 1

    async def _load_pages(self, done: asyncio.Event) -> None:
        pages = cycle(self.pages)
        async for _ in _paced(self.pages_per_second if self.pages else 0, done):
            task = asyncio.create_task(self._load_page(next(pages)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _load_page(self, page: dict[str, str]) -> None:
        began = time.monotonic()
        try:
            status = await _get(page["address"], page["page"], page["cookie"])
        except OSError as error:
            self.failed.append(f"page: {error}")
            return
        if status != 200:
            self.failed.append(f"page: {status}")
        self.seconds_of_pages.append(time.monotonic() - began)


async def _paced(per_second: float, done: asyncio.Event) -> AsyncIterator[None]:
    """Rings so often a second, also after it was late, until it is done."""
    if not per_second:
        return
    loop = asyncio.get_running_loop()
    due = loop.time()
    while not done.is_set():
        yield
        due += 1 / per_second
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _get(address: str, path: str, cookie: str) -> int:
    """Read a page whole; its status."""
    host, port = address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    lines = (f"GET {path} HTTP/1.1", f"Host: {address}", f"Cookie: {cookie}", "Connection: close")
    writer.write("\r\n".join([*lines, "", ""]).encode())
    answer = await reader.read()
    writer.close()
    return int(answer.split(b" ", 2)[1]) if answer else 0


async def _open(views: list[Any]) -> None:
    for at in range(0, len(views), TOGETHER):
        await asyncio.gather(*(view.open() for view in views[at : at + TOGETHER]))


def _print(value: object) -> None:
    print(json.dumps(value), flush=True)


async def main() -> None:
    kept: list[IdleView] = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        job = json.loads(line)
        if "open" in job:
            opening = [IdleView(tab) for tab in job["open"]]
            began = time.monotonic()
            await _open(opening)
            kept += opening
            _print({"seconds": time.monotonic() - began})
        elif "load" in job:
            _print(await Load(**job["load"]).run())
        else:
            failed = [view.failed for view in kept if view.failed]
            for view in kept:
                view.socket.close()
            kept.clear()
            _print({"failed": failed})


if __name__ == "__main__":
    asyncio.run(main())
