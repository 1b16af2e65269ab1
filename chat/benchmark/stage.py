"""Everything that a measurement needs, running: a provider, two servers, and tabs."""

import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal

from chat.benchmark.plan import Plan
from chat.benchmark.processes import Helper, Processes

Side = Literal["parley", "relay"]
Times = list[tuple[float, int]]


@dataclass(frozen=True)
class Stream:
    """One answer: when it was asked for, its tokens written, its characters seen."""

    written: Times
    asked: float
    seen: Times
    bytes: int

    @property
    def characters(self) -> int:
        return self.written[-1][1]

    @property
    def end(self) -> float:
        """When the last character was there."""
        return next(at for at, shown in self.seen if shown >= self.characters)

    def delays(self) -> Iterator[float]:
        """For each token, the seconds from the provider's write to the tab."""
        seen = iter(self.seen)
        at, shown = next(seen)
        for written, characters in self.written:
            while shown < characters:
                at, shown = next(seen)
            yield at - written


@dataclass(frozen=True)
class Mark:
    """What the server process says of itself at one moment."""

    at: float
    cpu: float
    rss: float
    late: list[float] = field(repr=False)

    @classmethod
    def of(cls, server: Helper) -> "Mark":
        return cls(at=time.monotonic(), **server.ask())


@dataclass(frozen=True)
class Round:
    """Some streams at once; from `began` to `ending` all of them were streaming."""

    streams: list[Stream]
    before: Mark
    began: Mark
    ending: Mark
    after: Mark

    @property
    def tokens(self) -> int:
        return sum(len(stream.written) for stream in self.streams)

    @property
    def tokens_per_second(self) -> float:
        begin = min(stream.written[0][0] for stream in self.streams)
        return self.tokens / (max(stream.end for stream in self.streams) - begin)

    @property
    def cpu_per_1k_tokens(self) -> float:
        """While all stream, starts and ends apart; the whole round where they never did."""
        written = [at for stream in self.streams for at, _ in stream.written]
        tokens = sum(self.began.at <= at < self.ending.at for at in written)
        if tokens < len(written) / 5:
            return 1000 * (self.after.cpu - self.before.cpu) / len(written)
        return 1000 * (self.ending.cpu - self.began.cpu) / tokens

    @property
    def cpu_per_turn(self) -> float:
        """Connecting, asking, settling: all that is not streaming."""
        streaming = self.cpu_per_1k_tokens * self.tokens / 1000
        return max(0.0, self.after.cpu - self.before.cpu - streaming) / len(self.streams)

    def delays(self) -> list[float]:
        return [delay for stream in self.streams for delay in stream.delays()]

    @property
    def late(self) -> list[float]:
        return self.began.late + self.ending.late + self.after.late


@dataclass
class Stage:
    provider: str
    servers: dict[Side, tuple[Helper, str]]
    viewers: Helper
    people: Iterator[dict[str, str]]
    _names: Iterator[int] = field(default_factory=count)

    def run(
        self, side: Side, shape: str, tokens: int, *, streams: int, ms: float, burst: int = 1
    ) -> Round:
        """Let so many tabs ask at once."""
        plans = [
            Plan(f"{side}-{next(self._names)}", shape, tokens, ms, burst) for _ in range(streams)
        ]
        server, address = self.servers[side]
        before = Mark.of(server)
        self.viewers.tell([self._tab(side, address, plan) for plan in plans])
        began = self._mark("all began", server)
        ending = self._mark("one ended", server)
        seen = self.viewers.read()
        after = Mark.of(server)
        written = self._log([plan.name for plan in plans])
        answers = [Stream(written[name], **seen[name]) for name in written]
        return Round(answers, before, began, ending, after)

    def _mark(self, moment: str, server: Helper) -> Mark:
        said = self.viewers.read()
        assert said == moment, f"{said} came where “{moment}” was due"
        return Mark.of(server)

    def _tab(self, side: Side, address: str, plan: Plan) -> dict[str, str]:
        person = next(self.people) if side == "parley" else {"path": "/", "cookie": ""}
        return {
            "name": plan.name,
            "url": f"ws://{address}{person['path']}",
            "origin": f"http://{address}",
            "cookie": person["cookie"],
            "content": plan.as_text(),
        }

    def _log(self, names: list[str]) -> dict[str, Times]:
        body = json.dumps(names).encode()
        request = urllib.request.Request(f"{self.provider}/log", data=body, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: dict[str, Times] = json.load(answer)
        return found


@contextmanager
def running_stage(server: str, people: int) -> Iterator[Stage]:
    """Start everything in a temporary folder; end it all."""
    with (
        tempfile.TemporaryDirectory(prefix="parley-bench-") as data,
        Processes(Path(data)) as processes,
    ):
        provider = f"http://127.0.0.1:{processes.start('provider').read()['port']}"
        made = processes.start("people", str(people), provider).read()
        relay = processes.serve("relay", server, BENCH_PROVIDER=provider)
        parley = processes.serve("parley", server)
        viewers = processes.start("viewers")
        yield Stage(provider, {"parley": parley, "relay": relay}, viewers, iter(made))
