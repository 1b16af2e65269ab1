"""Tabs without a browser: sockets that attach, send, acknowledge, and note what came when.

`python -m chat.benchmark.viewers` reads a job per line. It answers with a line when every answer
has begun, with one when the first has ended, and then with what was seen.
"""

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from chat.benchmark.plan import wire_size
from chat.benchmark.relay import END

ACKNOWLEDGE = 0.25
# No round takes this long: something has broken.
LONGEST = 300
# People do not ask in the same instant.
STAGGER = 0.02
CURSOR = re.compile(r"<!--p\d+-\d+:(\d+)-->")
# The only answer of its conversation.
ENDED = re.compile(r'<footer [^>]*data-state="(done|stopped|failed)"')
# More characters than any answer has.
WHOLE = 1_000_000_000
# Frames that are not of the answer: the question, the title, the column of conversations.
ELSEWHERE = re.compile(r'data-role="user"|id="(?:title|column|c-)')


@dataclass
class View:
    """One tab: what it saw (when, characters shown by then) and what it cost."""

    socket: ClientConnection
    crowd: "Crowd"
    is_relay: bool
    frames: int = 0
    acknowledged: int = 0
    seen: list[tuple[float, int]] = field(default_factory=list)
    size: int = 0

    async def attach(self) -> None:
        if self.is_relay:
            return
        shown = {"rev": -1, "messages": {}, "parts": {}}
        await self.say(command="attach", tab_id="bench:1", shown=shown, column=[])
        while '"reply": "attach"' not in await self.hear():
            pass

    async def say(self, **command: Any) -> None:
        await self.socket.send(json.dumps(command))

    async def hear(self) -> str:
        frame = await self.socket.recv()
        assert isinstance(frame, str)
        self.frames += 1
        return frame

    async def watch(self, content: str) -> None:
        """Send, and read until the whole answer is here."""
        await self.say(command="send", client_id=f"{time.time_ns()}", content=content)
        acknowledging = asyncio.create_task(self._acknowledge())
        try:
            while True:
                frame = await self.hear()
                ended = self._take(frame, time.monotonic())
                if ended:
                    self.crowd.ended()
                    return
        finally:
            acknowledging.cancel()

    def _take(self, frame: str, now: float) -> bool:
        """Note a frame; whether it is the last."""
        if self.is_relay:
            self._show(now, (self.seen[-1][1] if self.seen else 0) + len(frame))
            return frame == END
        if frame.startswith("{"):
            answer = json.loads(frame)
            if not answer["ok"]:
                raise RuntimeError(f"refused: {answer}")
            return False
        if not ELSEWHERE.search(frame):
            self.size += wire_size(frame)
        shown = CURSOR.findall(frame)
        if shown:
            self._show(now, int(shown[-1]))
        ended = ENDED.search(frame)
        if ended and ended[1] != "done":
            raise RuntimeError(f"an answer ended as {ended[1]}")
        if ended:
            # Also where the answer was drawn at once, because something was missed.
            self._show(now, WHOLE)
        return ended is not None

    def _show(self, now: float, characters: int) -> None:
        if not self.seen:
            self.crowd.began()
        self.seen.append((now, characters))

    async def _acknowledge(self) -> None:
        while True:
            await asyncio.sleep(ACKNOWLEDGE)
            if not self.is_relay and self.frames != self.acknowledged:
                self.acknowledged = self.frames
                await self.say(command="ack", frames=self.frames)


class Crowd:
    """The tabs of one job, and when all of them stream."""

    def __init__(self, size: int) -> None:
        # A few at a time: what is measured is streaming, not a stampede at the door.
        self.door = asyncio.Semaphore(4)
        self.everybody = asyncio.Barrier(size)
        self._waiting = size
        self._ended = False

    def began(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            _print("all began")
            # Short answers may end before the last has begun.
            if self._ended:
                _print("one ended")

    def ended(self) -> None:
        if not self._ended and not self._waiting:
            _print("one ended")
        self._ended = True


async def view(tab: dict[str, str], crowd: Crowd, wait: float) -> dict[str, Any]:
    """Open a tab, ask, watch the answer to its end."""
    async with crowd.door:
        socket = await _connected(tab)
        seen = View(socket, crowd, is_relay=not tab["cookie"])
        await seen.attach()
    async with socket:
        await crowd.everybody.wait()
        await asyncio.sleep(wait)
        asked = time.monotonic()
        await seen.watch(tab["content"])
        return {"asked": asked, "seen": seen.seen, "bytes": seen.size}


async def _connected(tab: dict[str, str]) -> ClientConnection:
    headers = {"cookie": tab["cookie"]} if tab["cookie"] else {}
    return await connect(
        tab["url"], origin=Origin(tab["origin"]), additional_headers=headers, open_timeout=60,
        compression=None, max_size=None, ping_interval=None, proxy=None,
    )  # fmt: skip


async def run(tabs: list[dict[str, str]]) -> dict[str, Any]:
    crowd = Crowd(len(tabs))
    views = (view(tab, crowd, at * STAGGER) for at, tab in enumerate(tabs))
    async with asyncio.timeout(LONGEST):
        results = await asyncio.gather(*views)
    return {tab["name"]: result for tab, result in zip(tabs, results, strict=True)}


def _print(value: object) -> None:
    print(json.dumps(value), flush=True)


async def main() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        _print(await run(json.loads(line)))


if __name__ == "__main__":
    asyncio.run(main())
