"""`--load`: everything at once, on one process and on several.

Idle tabs, streams at reading pace, people who ask again and again, and pages: on SQLite as one
process is served, and on PostgreSQL and Redis as several are. The tabs and the provider share the
machine with the servers; how late they were themselves stands beside the figures.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count, cycle
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmark.measures import Figures, percentile
from tests.benchmark.plan import Plan
from tests.benchmark.processes import Helper, Processes
from tests.benchmark.stage import Mark, Person, Stream, provider_log, rest, stream_of
from tests.support.postgres import running_postgres
from tests.support.redis import running_redis

MS = 20.0
# How long it is watched what idle tabs cost.
IDLE = 5.0
# People do not ask in the same instant.
APART = 0.010
# Tokens of the answers to those who ask again and again.
ASKED = 10
WHY_AGAIN = ("gap", "behind", "slow")


@dataclass(frozen=True, slots=True)
class LoadSizes:
    idle_tabs: int = 1_000
    streams: int = 200
    # Of each stream: this times 20 ms is how long the round takes.
    tokens: int = 1_000
    asks_per_second: float = 50
    # So many tabs ask in turns; an answer of ten tokens takes a fifth of a second.
    asking_tabs: int = 60
    pages_per_second: float = 5


FULL_LOAD = LoadSizes()
# What processes are compared by: nothing beside the streams.
STREAMS_ALONE = LoadSizes(
    idle_tabs=0, streams=50, tokens=300, asks_per_second=0, asking_tabs=0, pages_per_second=0
)
QUICK_LOAD = LoadSizes(idle_tabs=200, streams=50, tokens=300, asks_per_second=10, asking_tabs=20)
WARM_UP = LoadSizes(idle_tabs=5, streams=5, tokens=20, asks_per_second=5, asking_tabs=5)
# What is doubled, one at a time, beside the quick load.
DOUBLED = ("idle_tabs", "streams", "tokens", "asks_per_second")


class Fleet:
    """Several server processes that are asked as one."""

    def __init__(self, servers: Sequence[tuple[Helper, str]]) -> None:
        self.helpers = [helper for helper, _ in servers]
        self.addresses = [address for _, address in servers]

    def ask(self) -> dict[str, Any]:
        told = [helper.ask() for helper in self.helpers]
        counts: dict[str, float] = {}
        for each in told:
            for name, number in each["counts"].items():
                counts[name] = counts.get(name, 0) + number
        summed = {name: sum(each[name] for each in told) for name in ("cpu", "rss", "held")}
        return {
            **summed,
            "late": [late for each in told for late in each["late"]],
            "counts": counts,
        }


@dataclass
class LoadStage:
    provider: str
    fleet: Fleet
    tabs: Helper
    people: Helper

    def __post_init__(self) -> None:
        self._names = count()
        self._addresses = cycle(self.fleet.addresses)

    def run(self, sizes: LoadSizes) -> Figures:
        """Idle tabs, and everything else beside them."""
        figures = self._open(sizes.idle_tabs) | self._work(sizes)
        closed = self.tabs.ask({"close": True})
        return {**figures, "lost_tabs": len(closed["failed"])}

    def _open(self, tabs: int) -> Figures:
        """Open tabs that stay, and see what they cost while nothing happens in them."""
        before = rest(self.fleet)
        opened = self.tabs.ask({"open": [self._tab(person) for person in self._make(tabs)]})
        begin = rest(self.fleet)
        time.sleep(IDLE)
        end = Mark.of(self.fleet)
        return {
            "open_tabs_per_s": round(tabs / opened["seconds"]),
            "kb_per_idle_tab": round(1024 * (begin.held - before.held) / max(1, tabs)),
            "idle_cpu_cores": round((end.cpu - begin.cpu) / (end.at - begin.at), 3),
        }

    def _work(self, sizes: LoadSizes) -> Figures:
        plans = [self._plan("prose", sizes.tokens) for _ in range(sizes.streams)]
        people, asking = self._make(sizes.streams), self._make(sizes.asking_tabs)
        job = {
            "streams": [self._tab(one, plan) for one, plan in zip(people, plans, strict=True)],
            "spread": sizes.streams * APART,
            "asking": [self._tab(one, self._plan("prose", ASKED)) for one in asking],
            "asks_per_second": sizes.asks_per_second,
            "pages": [self._page(one) for one in [*people, *asking]],
            "pages_per_second": sizes.pages_per_second,
        }
        self.tabs.tell({"load": job})
        assert self.tabs.read() == "ready"
        begin = rest(self.fleet)
        self.tabs.tell("go")
        # It says as well when all have begun and one has ended.
        while isinstance(found := self.tabs.read(), str):
            pass
        end = Mark.of(self.fleet)
        log = provider_log(self.provider, [plan.name for plan in plans])
        seen = zip(plans, found["streams"], strict=True)
        streams = [stream_of(plan, log, one) for plan, one in seen]
        tokens = sum(stream.plan.count for stream in streams) + ASKED * len(found["turns"])
        provider_late = [late for each in streams for late in each.lateness()]
        cost = (end.cpu - begin.cpu) / tokens
        return {
            **_streams(streams),
            **_turns(found, end.at - begin.at),
            "cpu_s_per_1k_tokens": round(1000 * cost, 3),
            "cpu_cores": round((end.cpu - begin.cpu) / (end.at - begin.at), 2),
            # Where each process has a core to itself.
            "could_tokens_per_s": round(len(self.fleet.helpers) / cost),
            "loop_lag_ms_p99": _ms(percentile(end.late, 99)),
            "kb_per_stream": round(1024 * (end.held - begin.held) / max(1, sizes.streams)),
            "rss_mb": round(end.held),
            **_lost(begin, end),
            "tabs_late_ms_p95": _ms(percentile(found["late"], 95)),
            "provider_late_ms_p95": _ms(percentile(provider_late, 95)),
        }

    def _make(self, people: int) -> list[Person]:
        made: list[Person] = self.people.ask({"people": people})
        return made

    def _plan(self, shape: str, tokens: int) -> Plan:
        return Plan(f"load-{next(self._names)}", shape, tokens, MS)

    def _tab(self, person: Person, asks: Plan | None = None) -> dict[str, str]:
        address = next(self._addresses)
        return {
            "url": f"ws://{address}{person['path']}",
            "origin": f"http://{address}",
            "cookie": person["cookie"],
            "content": asks.as_text() if asks else "",
        }

    def _page(self, person: Person) -> dict[str, str]:
        address = next(self._addresses)
        return {"address": address, "page": person["page"], "cookie": person["cookie"]}


def _streams(streams: list[Stream]) -> Figures:
    delays = [delay for stream in streams for delay in stream.delays()]
    begin = min(stream.events[0] for stream in streams)
    seconds = max(stream.end for stream in streams) - begin
    return {
        "latency_ms_p50": _ms(percentile(delays, 50)),
        "latency_ms_p95": _ms(percentile(delays, 95)),
        "latency_ms_p99": _ms(percentile(delays, 99)),
        "tokens_per_s": round(sum(stream.plan.count for stream in streams) / seconds),
        "lost_characters": sum(stream.lost for stream in streams),
        "failed": sum(bool(stream.failed) for stream in streams),
    }


def _lost(begin: Mark, end: Mark) -> Figures:
    """What was dropped, and how often a tab had to read again."""
    counted = {name: number - begin.counts.get(name, 0) for name, number in end.counts.items()}
    again = {f"read_again_{why}": counted.get(f"catch_ups_{why}", 0) for why in WHY_AGAIN}
    return {"dropped": counted["dropped"], **again}


def _turns(found: dict[str, Any], seconds: float) -> Figures:
    figures: Figures = {"failed_beside": len(found["failed"]), "asks_put_off": found["put_off"]}
    if found["turns"]:
        first = [first - asked for asked, first, _ in found["turns"]]
        figures |= {
            "asks_per_s": round(len(first) / seconds, 1),
            "first_words_ms_p50": _ms(median(first)),
            "first_words_ms_p95": _ms(percentile(first, 95)),
            "first_words_ms_p99": _ms(percentile(first, 99)),
        }
    if found["pages"]:
        figures |= {
            "page_ms_p50": _ms(median(found["pages"])),
            "page_ms_p95": _ms(percentile(found["pages"], 95)),
            "page_ms_p99": _ms(percentile(found["pages"], 99)),
        }
    return figures


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


@contextmanager
def running_load(server: str, processes: int, *, shared: bool) -> Iterator[LoadStage]:
    """So many server processes; `shared` is PostgreSQL and Redis, which several need."""
    with ExitStack() as stack:
        services = {}
        if shared:
            services["DATABASE_URL"] = stack.enter_context(running_postgres())
            services["REDIS_URL"] = stack.enter_context(running_redis()).url
        data = stack.enter_context(tempfile.TemporaryDirectory(prefix="parley-load-"))
        started = stack.enter_context(Processes(Path(data), **services))
        provider = f"http://127.0.0.1:{started.start('provider').read()['port']}"
        people = started.start("people", provider)
        assert people.read() == "ready"
        fleet = Fleet([started.serve("parley", server) for _ in range(processes)])
        yield LoadStage(provider, fleet, started.start("load_tabs"), people)


def measure_load(
    server: str, processes: Sequence[int], sizes: LoadSizes, say: Callable[[str], None]
) -> dict[str, Figures]:
    """By where it was measured: one process by itself, and so many that share."""
    found: dict[str, Figures] = {}
    settings = [(1, False), *((number, True) for number in processes)]
    for number, shared in settings:
        name = f"{number} on PostgreSQL and Redis" if shared else "1 on SQLite"
        say(f"Measuring {name} …")
        with running_load(server, number, shared=shared) as stage:
            stage.run(WARM_UP)
            found[f"{name}, streams alone"] = stage.run(STREAMS_ALONE)
            found[name] = stage.run(sizes)
    return found


def measure_doubled(
    server: str, sizes: LoadSizes, say: Callable[[str], None]
) -> dict[str, Figures]:
    """One process, with one thing after the other twice as large."""
    found: dict[str, Figures] = {}
    with running_load(server, 1, shared=False) as stage:
        stage.run(WARM_UP)
        for name in ("", *DOUBLED):
            say(f"Measuring twice as many {name} …" if name else "Measuring one process …")
            found[f"2 × {name}" if name else "as it is"] = stage.run(_doubled(sizes, name))
    return found


def _doubled(sizes: LoadSizes, name: str) -> LoadSizes:
    if not name:
        return sizes
    changed = {name: 2 * getattr(sizes, name)}
    if name == "asks_per_second":
        changed["asking_tabs"] = 2 * sizes.asking_tabs
    return replace(sizes, **changed)


ROWS = {
    "latency_ms_p50": "streams: added latency p50 (ms)",
    "latency_ms_p95": "… p95 (ms)",
    "latency_ms_p99": "… p99 (ms)",
    "tokens_per_s": "streams: tokens/s",
    "lost_characters": "streams: characters lost",
    "failed": "streams: failed",
    "asks_per_s": "questions a second",
    "asks_put_off": "questions put off",
    "first_words_ms_p50": "question to first words p50 (ms)",
    "first_words_ms_p95": "… p95 (ms)",
    "first_words_ms_p99": "… p99 (ms)",
    "page_ms_p50": "page p50 (ms)",
    "page_ms_p95": "… p95 (ms)",
    "page_ms_p99": "… p99 (ms)",
    "failed_beside": "questions and pages: failed",
    "cpu_s_per_1k_tokens": "CPU s per 1,000 tokens",
    "cpu_cores": "CPU: cores used",
    "could_tokens_per_s": "tokens/s with a core for each process",
    "loop_lag_ms_p99": "loop lag p99 (ms)",
    "idle_cpu_cores": "idle tabs: cores used",
    "open_tabs_per_s": "tabs opened a second",
    "kb_per_idle_tab": "memory of an idle tab (KB)",
    "kb_per_stream": "memory of a stream (KB)",
    "rss_mb": "memory at the end (MB)",
    "lost_tabs": "idle tabs that were closed",
    "dropped": "messages dropped",
    "read_again_gap": "tabs that read again: a gap",
    "read_again_behind": "… they were behind",
    "read_again_slow": "… they read too slowly",
    "tabs_late_ms_p95": "the bench's tabs late, p95 (ms)",
    "provider_late_ms_p95": "the bench's provider late, p95 (ms)",
}


def load_table(found: dict[str, Figures]) -> Iterator[str]:
    """In Markdown, as the docs keep it: a row for each figure, a column for each setting."""
    yield f"| | {' | '.join(found)} |"
    yield "| --- |" + " ---: |" * len(found)
    for name, label in ROWS.items():
        values = [str(figures.get(name, "–")) for figures in found.values()]
        yield f"| {label} | {' | '.join(values)} |"
