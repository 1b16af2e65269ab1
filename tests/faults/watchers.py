"""Programs that watch answers while servers come and go, and what each has seen of it."""

import asyncio
import time
from itertools import pairwise

from websockets.exceptions import WebSocketException

from tests.crash.remote import RemoteProgram, Server


class Watcher(RemoteProgram):
    """A program that comes back, to the next server, when its own is gone."""

    def __init__(self, servers: list[Server], place: int, talk: str) -> None:
        super().__init__(servers[place % len(servers)], talk)
        self.servers, self.place = servers, place
        # The most that was ever told of each part: rows, and so a snapshot, are behind that.
        self.longest: dict[str, str] = {}
        # When anything was told of the answer: here, and by the clock of whoever told it.
        self.signs: list[float] = []
        self.told: list[float] = []

    def heard(self) -> None:
        super().heard()
        self.signs.append(time.monotonic())
        event = self.events[-1]
        self.told.append(event.get("ts", 0) / 1000)
        if event["name"] == "chat:chunk":
            text = self.seen.texts[event["part_id"]]
            if len(text) > len(self.longest.get(event["part_id"], "")):
                self.longest[event["part_id"]] = text

    async def keep_open(self) -> None:
        """Come back, for ever."""
        while True:
            await self.until(lambda: self.closed is not None, 10_000)
            self.place += 1
            self.server = self.servers[self.place % len(self.servers)]
            try:
                await self.open(attach=False)
                self.say("attach")
            except (OSError, WebSocketException):
                await asyncio.sleep(0.05)
                self.closed = 1006

    @property
    def last_sign(self) -> float:
        return self.signs[-1] if self.signs else 0.0

    def pause(self, since: float) -> float:
        """The longest time since then in which nothing was told."""
        times = [since, *(at for at in self.signs if at > since), time.monotonic()]
        return max(b - a for a, b in pairwise(times))

    def pause_there(self, since: float) -> float:
        """The same where it is told, by the clock of the machine: what this process does itself
        meanwhile does not count."""
        times = [since, *(at for at in self.told if at > since)]
        return max((b - a for a, b in pairwise(times)), default=float("inf"))

    async def is_live(self, since: float) -> None:
        """Until it is told something that came to be a second after that."""
        await self.until(lambda: self.last_sign > since + 1)


async def all_live(watchers: list[Watcher], since: float) -> None:
    for each in watchers:
        await each.is_live(since)


def ended(watchers: list[Watcher]) -> list[str]:
    """The ends that anybody was told of."""
    names = ("chat:error", "chat:stopped", "chat:complete")
    return [event["name"] for each in watchers for event in each.named(*names)]
