"""Everything that a measurement needs, running: a provider, two servers, and tabs."""

import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, count
from pathlib import Path
from typing import Any, Literal, Protocol

from tests.benchmark.plan import Plan
from tests.benchmark.processes import Helper, Processes
from tests.benchmark.provider import BATCH

Side = Literal["parley", "relay"]
Times = list[tuple[float, int]]
Person = dict[str, str]

AT_THE_RELAY: Person = {"path": "/", "cookie": ""}
# A server rests when it takes less than this of the processor, for so long: longer than a change of
# the column waits for others.
RESTING, REST = 0.04, 0.3
# What goes on for longer is no longer of the round.
LONGEST_REST = 5.0


@dataclass(frozen=True)
class Stream:
    """One answer in one tab: when it was asked for, its tokens written, its characters seen."""

    plan: Plan
    # When the tab asked, the provider was asked, and the tab was told the end.
    asked: float
    requested: float
    ended: float
    events: list[float] = field(repr=False)
    seen: Times = field(repr=False)
    bytes: int
    # Why it did not end as it should.
    failed: str
    redrawn: bool

    @property
    def written(self) -> Times:
        """When each token was written, and how many characters were out by then."""
        burst = self.plan.burst if self.plan.ms else BATCH
        lengths = _lengths(self.plan.shape, self.plan.count)
        return [(self.events[at // burst], length) for at, length in enumerate(lengths)]

    @property
    def lost(self) -> int:
        """Characters that the tab was never shown."""
        shown = self.seen[-1][1] if self.seen else 0
        if not self.failed and (self.redrawn or self._is_short):
            return 0
        return max(0, _lengths(self.plan.shape, self.plan.count)[-1] - shown)

    @property
    def _is_short(self) -> bool:
        """Drawn with its end before anything had to grow."""
        return not self.seen and bool(self.bytes)

    @property
    def end(self) -> float:
        """When the last character was there."""
        whole = _lengths(self.plan.shape, self.plan.count)[-1]
        return next((at for at, shown in self.seen if shown >= whole), self.ended)

    def delays(self) -> Iterator[float]:
        """For each token, the seconds from the provider's write to the tab."""
        seen = iter([*self.seen, (self.ended, self.written[-1][1])])
        at, shown = next(seen)
        for written, characters in self.written:
            while shown < characters:
                at, shown = next(seen)
            yield at - written

    def lateness(self) -> Iterator[float]:
        """How late the provider itself wrote each event."""
        for at, written in enumerate(self.events):
            yield written - (self.events[0] + at * self.plan.ms / 1000)


@lru_cache(maxsize=64)
def _lengths(shape: str, tokens: int) -> list[int]:
    return list(accumulate(map(len, Plan("", shape, tokens, ms=0).tokens())))


class Asked(Protocol):
    """A server process, or several that are asked as one."""

    def ask(self) -> Any: ...


@dataclass(frozen=True)
class Mark:
    """What the server process says of itself at one moment."""

    at: float
    cpu: float
    # The most memory that it has held, and what it holds now, in megabytes.
    rss: float
    held: float
    late: list[float] = field(repr=False)
    counts: dict[str, float]

    @classmethod
    def of(cls, server: Asked) -> "Mark":
        return cls(at=time.monotonic(), **server.ask())


@dataclass(frozen=True)
class Round:
    """Some streams at once; from `began` to `ending` all of them were streaming."""

    streams: list[Stream]
    # How late the tabs were, all of them in one process.
    tabs_late: list[float] = field(repr=False)
    before: Mark
    began: Mark
    ending: Mark
    after: Mark
    # All that came of the round is done, the titles too.
    rested: Mark

    @property
    def tokens(self) -> int:
        return sum(stream.plan.count for stream in self.streams)

    @property
    def tokens_per_second(self) -> float:
        begin = min(stream.events[0] for stream in self.streams)
        return self.tokens / (max(stream.end for stream in self.streams) - begin)

    @property
    def cpu(self) -> float:
        """From the first question to the end of the last answer."""
        return self.after.cpu - self.before.cpu

    @property
    def cpu_with_rest(self) -> float:
        return self.rested.cpu - self.before.cpu

    @property
    def cpu_per_1k_tokens(self) -> float:
        return 1000 * self.cpu / self.tokens

    @property
    def cpu_per_1k_tokens_streaming(self) -> float:
        """While all stream, starts and ends apart; the whole round where they never did."""
        written = [at for stream in self.streams for at, _ in stream.written]
        tokens = sum(self.began.at <= at < self.ending.at for at in written)
        if tokens < len(written) / 5:
            return self.cpu_per_1k_tokens
        return 1000 * (self.ending.cpu - self.began.cpu) / tokens

    @property
    def lost(self) -> int:
        return sum(stream.lost for stream in self.streams)

    @property
    def failed(self) -> list[str]:
        return [stream.failed for stream in self.streams if stream.failed]

    def delays(self) -> list[float]:
        return [delay for stream in self.streams for delay in stream.delays()]

    @property
    def late(self) -> list[float]:
        return self.began.late + self.ending.late + self.after.late

    def provider_late(self) -> list[float]:
        return [late for stream in self.streams for late in stream.lateness()]

    def counted(self, name: str) -> float:
        """How often the server counted something during the round."""
        return self.after.counts.get(name, 0) - self.before.counts.get(name, 0)


@dataclass
class Stage:
    provider: str
    servers: dict[Side, tuple[Helper, str]]
    viewers: Helper
    # The process that makes people.
    people: Helper
    _names: Iterator[int] = field(default_factory=count)

    def run(
        self,
        side: Side,
        shape: str,
        tokens: int,
        *,
        streams: int,
        ms: float,
        burst: int = 1,
        spread: float = 0.0,
        people: list[Person] | None = None,
    ) -> Round:
        """Let so many tabs ask within so many seconds, each with a conversation of its own."""
        plans = [self._plan(side, shape, tokens, ms, burst) for _ in range(streams)]
        people = people or self._visitors(side, streams)
        if side == "parley":
            self._load_pages(people)
        tabs = list(zip(plans, people, plans, strict=True))
        return self._round(side, tabs, spread)

    def run_tabs(self, shape: str, tokens: int, *, tabs: int, ms: float) -> Round:
        """Let one tab ask, and others of the same conversation watch."""
        plan = self._plan("parley", shape, tokens, ms, 1)
        person = self.make(1)[0]
        self._load_pages([person])
        watching = [(plan, person, plan if at == 0 else None) for at in range(tabs)]
        return self._round("parley", watching, 0.0)

    def make(self, people: int, **have: int) -> list[Person]:
        """New people with a conversation each, and whatever else they have."""
        made: list[Person] = self.people.ask({"people": people, **have})
        return made

    def open_pages(self, people: list[Person]) -> float:
        """The processor time that Parley takes for a page of each of these people."""
        server, _ = self.servers["parley"]
        before = rest(server)
        self._load_pages(people)
        return Mark.of(server).cpu - before.cpu

    def _load_pages(self, people: list[Person]) -> None:
        """A tab is a page before it opens a socket: what is done once for each visit is done by
        then."""
        _, address = self.servers["parley"]
        for person in people:
            request = urllib.request.Request(
                f"http://{address}{person['page']}", headers={"cookie": person["cookie"]}
            )
            with urllib.request.urlopen(request, timeout=30) as page:
                page.read()

    def _plan(self, side: Side, shape: str, tokens: int, ms: float, burst: int) -> Plan:
        return Plan(f"{side}-{next(self._names)}", shape, tokens, ms, burst)

    def _visitors(self, side: Side, number: int) -> list[Person]:
        return self.make(number) if side == "parley" else [AT_THE_RELAY] * number

    def _round(
        self, side: Side, tabs: Sequence[tuple[Plan, Person, Plan | None]], spread: float
    ) -> Round:
        server, address = self.servers[side]
        described = [self._tab(address, person, asks) for _, person, asks in tabs]
        self.viewers.tell({"tabs": described, "spread": spread})
        self._expect("ready")
        rest(server)
        before = Mark.of(server)
        self.viewers.tell("go")
        self._expect("all began")
        began = Mark.of(server)
        self._expect("one ended")
        ending = Mark.of(server)
        found = self.viewers.read()
        after = Mark.of(server)
        rested = rest(server)
        self.viewers.tell("close")
        log = provider_log(self.provider, sorted({plan.name for plan, _, _ in tabs}))
        streams = [
            stream_of(plan, log, seen)
            for (plan, _, _), seen in zip(tabs, found["tabs"], strict=True)
        ]
        return Round(streams, found["late"], before, began, ending, after, rested)

    def _expect(self, moment: str) -> None:
        told = self.viewers.read()
        assert told == moment, f"{told} came where “{moment}” was due"

    def _tab(self, address: str, person: Person, asks: Plan | None) -> dict[str, str]:
        return {
            "url": f"ws://{address}{person['path']}",
            "origin": f"http://{address}",
            "cookie": person["cookie"],
            "content": asks.as_text() if asks else "",
        }


Log = dict[str, tuple[float, list[float]]]


def rest(server: Asked) -> Mark:
    """Wait until the server has nothing more to do."""
    mark = Mark.of(server)
    deadline = mark.at + LONGEST_REST
    while True:
        time.sleep(REST)
        next_mark = Mark.of(server)
        used = (next_mark.cpu - mark.cpu) / (next_mark.at - mark.at)
        if used < RESTING or next_mark.at > deadline:
            return next_mark
        mark = next_mark


def provider_log(provider: str, names: list[str]) -> Log:
    """When each stream was asked for, and when each of its events was written."""
    body = json.dumps(names).encode()
    request = urllib.request.Request(f"{provider}/log", data=body, method="POST")
    with urllib.request.urlopen(request, timeout=30) as answer:
        found: Log = json.load(answer)
    return found


def stream_of(plan: Plan, log: Log, seen: dict[str, Any]) -> Stream:
    if plan.name not in log:
        raise RuntimeError(f"the provider was never asked: {seen['failed'] or 'nobody knows why'}")
    requested, events = log[plan.name]
    return Stream(plan=plan, requested=requested, events=events, **seen)


@contextmanager
def running_stage(server: str) -> Iterator[Stage]:
    """Start everything in a temporary folder; end it all."""
    with (
        tempfile.TemporaryDirectory(prefix="parley-bench-") as data,
        Processes(Path(data)) as processes,
    ):
        provider = f"http://127.0.0.1:{processes.start('provider').read()['port']}"
        people = processes.start("people", provider)
        relay = processes.serve("relay", server, BENCH_PROVIDER=provider)
        # Parley finds its database made.
        assert people.read() == "ready"
        parley = processes.serve("parley", server)
        viewers = processes.start("viewers")
        yield Stage(provider, {"parley": parley, "relay": relay}, viewers, people)
