"""Tabs without a browser: sockets that attach, send, acknowledge, and note what came when.

`python -m tests.benchmark.viewers` reads a job per line. It says when all tabs are open and waits
for a line; then it says when every tab shows something, when the first has the whole answer, and
what all of them saw. With another line it closes them: as long as they are open, they are told what
comes after an answer, too. Frames are only kept while the clock runs, and read afterwards.
"""

import asyncio
import json
import re
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from tests.benchmark.plan import wire_size
from tests.benchmark.relay import END
from tests.benchmark.sockets import Socket

ACKNOWLEDGE = 1.0
# No round takes this long: something has broken.
LONGEST = 120
# How often the tabs look at the clock, to know how late they are themselves.
TICK = 0.010
CURSOR = re.compile(rb"<!--p\d+-\d+:(\d+)-->")
ENDED = re.compile(rb'<footer [^>]*data-state="(done|stopped|failed)"')
# Frames that are not of the answer: the question, the title, the column of conversations.
ELSEWHERE = re.compile(rb'data-role="user"|id="(?:title|column|c-)')
ANSWER = b'data-role="answer"'


class View:
    """One tab of Parley."""

    socket: Socket

    def __init__(self, tab: dict[str, str], crowd: "Crowd") -> None:
        self.tab = tab
        self.crowd = crowd
        self.asked = 0.0
        self.failed = ""
        self.frames = 0
        self.came: list[tuple[float, bytes]] = []
        self.attached: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # When the answer was whole.
        self.ended = 0.0
        self._has_begun = False
        self._acknowledged = 0

    async def open(self) -> None:
        tab = self.tab
        self.socket = await Socket.open(
            tab["url"], tab["origin"], tab["cookie"], self.take, self.fail
        )
        await self.attach()

    async def attach(self) -> None:
        self.say(command="attach", tab_id=f"bench:{id(self)}", **self.greeting())
        await self.attached
        self.came.clear()
        self._acknowledge()

    def greeting(self) -> dict[str, Any]:
        """What it says that it shows: nothing."""
        return {"shown": {"rev": -1, "messages": {}, "parts": {}}, "column": []}

    def ask(self) -> None:
        self.asked = time.monotonic()
        self.say(command="send", client_id=f"{time.time_ns()}", content=self.tab["content"])

    def say(self, **command: Any) -> None:
        self.socket.send(json.dumps(command))

    def take(self, frame: bytes, now: float) -> None:
        self.frames += 1
        self.came.append((now, frame))
        if frame.startswith(b"{"):
            self._reply(json.loads(frame))
        elif not self._has_begun and self.begins(frame):
            self._has_begun = True
            self.crowd.began()
        if not self.ended and self.ends(frame):
            self.end()

    def begins(self, frame: bytes) -> bool:
        return b"<!--p" in frame

    def ends(self, frame: bytes) -> bool:
        if b"data-state=" not in frame or not self.attached.done():
            return False
        found = ENDED.search(frame)
        if found and found[1] != b"done":
            self.failed = f"ended as {found[1].decode()}"
        return found is not None

    def fail(self, reason: str) -> None:
        if not self.ended:
            self.failed = reason
            self.end()

    def end(self) -> None:
        """The answer is whole, or will never be."""
        if not self._has_begun:
            self._has_begun = True
            self.crowd.began()
        self.ended = time.monotonic()
        self.crowd.ended()

    def _reply(self, reply: dict[str, Any]) -> None:
        if not reply["ok"]:
            self.fail(str(reply.get("error_key", "refused")))
        elif reply["reply"] == "attach":
            self.attached.set_result(None)

    def _acknowledge(self) -> None:
        if self.ended:
            return
        if self.frames != self._acknowledged:
            self._acknowledged = self.frames
            self.say(command="ack", frames=self.frames)
        asyncio.get_running_loop().call_later(ACKNOWLEDGE, self._acknowledge)

    def found(self) -> dict[str, Any]:
        return {
            "asked": self.asked,
            "ended": self.ended,
            "failed": self.failed,
            **self.read(),
        }

    def read(self) -> dict[str, Any]:
        """When it showed how many characters, and what was sent for the answer."""
        seen, size, is_redrawn = [], 0, False
        for at, frame in self.came:
            if frame.startswith(b"{") or ELSEWHERE.search(frame):
                continue
            size += wire_size(len(frame))
            if shown := CURSOR.findall(frame):
                seen.append((at, int(shown[-1])))
            # Drawn with its end: as a whole, because something was missed.
            is_redrawn = is_redrawn or (ANSWER in frame and ENDED.search(frame) is not None)
        return {"seen": seen, "bytes": size, "redrawn": is_redrawn}


class RelayView(View):
    """The same tab at the relay, which says nothing but the tokens."""

    async def attach(self) -> None:
        self.attached.set_result(None)

    def begins(self, frame: bytes) -> bool:
        return True

    def ends(self, frame: bytes) -> bool:
        return frame == END.encode()

    def read(self) -> dict[str, Any]:
        seen, shown, size = [], 0, 0
        for at, frame in self.came[:-1]:
            shown += len(frame.decode())
            size += wire_size(len(frame))
            seen.append((at, shown))
        return {"seen": seen, "bytes": size, "redrawn": False}


@dataclass
class Crowd:
    """The tabs of one job."""

    size: int
    done: asyncio.Event = field(default_factory=asyncio.Event)
    late: list[float] = field(default_factory=list)
    _begun: int = 0
    _ended: int = 0

    def began(self) -> None:
        self._begun += 1
        if self._begun == self.size:
            _print("all began")
            # Short answers may end before the last has begun.
            if self._ended:
                _print("one ended")

    def ended(self) -> None:
        self._ended += 1
        if self._ended == 1 and self._begun == self.size:
            _print("one ended")
        if self._ended == self.size:
            self.done.set()

    def watch(self) -> asyncio.TimerHandle:
        """Note how late the loop of the tabs is."""
        loop = asyncio.get_running_loop()
        due = loop.time() + TICK

        def note() -> None:
            self.late.append(loop.time() - due)
            if not self.done.is_set():
                self.watch()

        return loop.call_at(due, note)


async def run(tabs: list[dict[str, str]], spread: float) -> None:
    """Open the tabs, let those with a question ask within so many seconds, watch all answers."""
    crowd = Crowd(len(tabs))
    views = [(View if tab["cookie"] else RelayView)(tab, crowd) for tab in tabs]
    async with asyncio.timeout(LONGEST):
        # A few at a time: what is measured is streaming, not a stampede at the door.
        for at in range(0, len(views), 4):
            await asyncio.gather(*(view.open() for view in views[at : at + 4]))
        _print("ready")
        await asyncio.to_thread(sys.stdin.readline)
        crowd.watch()
        loop = asyncio.get_running_loop()
        asking = [view for view in views if view.tab["content"]]
        begin = loop.time()
        for at, view in enumerate(asking):
            loop.call_at(begin + spread * at / len(asking), view.ask)
        await crowd.done.wait()
    _print({"tabs": [view.found() for view in views], "late": crowd.late})
    await asyncio.to_thread(sys.stdin.readline)
    for view in views:
        view.socket.close()


def _print(value: object) -> None:
    print(json.dumps(value), flush=True)


async def main() -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        await run(**json.loads(line))


if __name__ == "__main__":
    asyncio.run(main())
