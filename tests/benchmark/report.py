"""The figures for people: beside the relay's, and whether they keep what is promised."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmark.measures import Figures
from tests.benchmark.shapes import SHAPES

ROWS = (
    ("start_ms_p50", "50 starts at once: provider asked, median (ms)"),
    ("start_ms_p95", "50 starts at once: provider asked, p95 (ms)"),
    ("start_cpu_ms", "50 starts at once: CPU per turn (ms)"),
    ("start_failed", "50 starts at once: failed"),
    ("latency_ms_p50_{size}", "{size} streams: added latency p50 (ms)"),
    ("latency_ms_p95_{size}", "{size} streams: added latency p95 (ms)"),
    ("tokens_per_s_{size}", "{size} streams: tokens/s"),
    ("cpu_s_per_1k_tokens_{size}", "{size} streams: CPU s per 1,000 tokens"),
    ("cpu_s_per_1k_streaming_{size}", "{size} streams: the same, starts and ends apart"),
    ("lost_characters_{size}", "{size} streams: characters lost"),
    ("failed_{size}", "{size} streams: failed"),
    ("frames_lengthened_{size}", "{size} streams: late frames, per answer"),
    ("frames_lengthened_ms_{size}", "{size} streams: … each lengthened by (ms)"),
    ("loop_lag_ms_p99_{size}", "{size} streams: loop lag p99 (ms)"),
    ("rss_mb_{size}", "{size} streams: memory by then (MB)"),
    ("provider_late_ms_p95_{size}", "{size} streams: the bench's provider late, p95 (ms)"),
    ("tabs_late_ms_p95_{size}", "{size} streams: the bench's tabs late, p95 (ms)"),
    ("tokens_per_s_1", "1 stream flat out: tokens/s"),
    ("tokens_per_s_20", "20 streams flat out: tokens/s"),
    ("tabs_cpu_s_1", "1 tab on a conversation: CPU s"),
    ("tabs_cpu_s_10", "10 tabs on a conversation: CPU s"),
    ("tabs_cpu_s_100", "100 tabs on a conversation: CPU s"),
    ("tabs_latency_ms_p95_100", "100 tabs on a conversation: added p95 (ms)"),
    ("tabs_lost_100", "100 tabs on a conversation: characters lost"),
    ("first_token_ms", "provider's first byte to first words (ms)"),
    ("question_to_token_ms", "question to first words (ms)"),
    ("loop_lag_ms_p99", "ten 20 KB code blocks: loop lag p99 (ms)"),
    ("bytes_once", "bytes for any answer, once"),
)
CROWDS = (50, 200)


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise: what was measured, if anything, and the most (or least) it may be."""

    name: str
    value: float | None
    limit: float
    at_least: bool = False

    @property
    def is_kept(self) -> bool:
        if self.value is None:
            return False
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        kept = "kept  " if self.is_kept else "MISSED"
        value = "not measured" if self.value is None else f"{self.value:g}"
        return f"{kept} {self.name}: {value} {sign} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Promise:
    """What a figure may be at the most (or least): by itself, or beside another figure."""

    figure: str
    label: str
    limit: float
    beside: str = ""
    at_least: bool = False

    def bar(self, figures: Figures) -> Bar:
        return Bar(self.label, self._value(figures), self.limit, self.at_least)

    def _value(self, figures: Figures) -> float | None:
        if self.figure not in figures or (self.beside and self.beside not in figures):
            return None
        value = _number(figures, self.figure)
        return round(value / _number(figures, self.beside), 2) if self.beside else value


PROMISES = (
    Promise("latency_ms_p50_50", "50 streams: added latency p50 (ms)", 40),
    Promise("latency_ms_p95_50", "50 streams: added latency p95 (ms)", 80),
    Promise(
        "cpu_s_per_1k_tokens_50", "50 streams: CPU per token to the relay's", 1.0,
        beside="relay_cpu_s_per_1k_tokens_50",
    ),
    Promise("lost_characters_50", "50 streams: characters lost", 0),
    Promise("failed_50", "50 streams: failed", 0),
    Promise("start_ms_p50", "50 starts at once: provider asked, median (ms)", 150),
    Promise("start_cpu_ms", "50 starts at once: CPU per turn (ms)", 6),
    Promise("start_failed", "50 starts at once: failed", 0),
    Promise(
        "tokens_per_s_200", "200 streams: tokens/s to the relay's", 0.95,
        beside="relay_tokens_per_s_200", at_least=True,
    ),
    Promise("latency_ms_p95_200", "200 streams: added latency p95 (ms)", 150),
    Promise("lost_characters_200", "200 streams: characters lost", 0),
    Promise("failed_200", "200 streams: failed", 0),
    Promise(
        "tokens_per_s_20", "20 streams flat out: tokens/s to the relay's", 1.0,
        beside="relay_tokens_per_s_20", at_least=True,
    ),
    Promise(
        "tokens_per_s_1", "1 stream flat out: tokens/s to the relay's", 1.0,
        beside="relay_tokens_per_s_1", at_least=True,
    ),
    Promise(
        "tabs_cpu_s_100", "100 tabs on a conversation: CPU to that of one", 5,
        beside="tabs_cpu_s_1",
    ),
    Promise("tabs_lost_100", "100 tabs on a conversation: characters lost", 0),
    Promise("first_token_ms", "provider's first byte to first words (ms)", 30),
    Promise("loop_lag_ms_p99", "ten 20 KB code blocks: loop lag p99 (ms)", 20),
)  # fmt: skip


# What grows, what of it is measured, and how many times as much it may then cost. The model is
# sent the whole history: a turn may grow as fast as that does, and nothing else may.
GROWTH = (
    ("answer", "cpu_s_per_1k_tokens", "CPU per token", 1.3),
    ("messages", "turn_cpu_ms", "CPU of a turn", 10),
    ("messages", "page_cpu_ms", "CPU of a page", 1.5),
    ("conversations", "turn_cpu_ms", "CPU of a turn", 1.5),
    ("conversations", "page_cpu_ms", "CPU of a page", 1.5),
    ("rows", "turn_cpu_ms", "CPU of a turn", 1.5),
    ("rows", "page_cpu_ms", "CPU of a page", 1.5),
)


def bars(figures: Figures, *, everything: bool = False) -> Iterator[Bar]:
    """The promises about what was measured; where everything was, about what was not as well."""
    return (bar for bar in _bars(figures) if everything or bar.value is not None)


def _bars(figures: Figures) -> Iterator[Bar]:
    for promise in PROMISES:
        yield promise.bar(figures)
    for what, name, label, limit in GROWTH:
        # The last two: what a first message costs, say, is another matter.
        last = list(_growth(figures, what, name).items())[-2:]
        sizes = " → ".join(str(size) for size, _ in last)
        value = round(last[1][1] / last[0][1], 2) if len(last) == 2 else None
        yield Bar(f"{label}, {what} {sizes}".rstrip(), value, limit)
    for shape in SHAPES:
        sizes_of = _shapes(figures).get(shape, {})
        for tokens, value in sizes_of.items():
            yield Bar(f"bytes per character, {shape}, {tokens} tokens", value, 14)
        costs = list(sizes_of.values())
        ratio = round(costs[-1] / costs[0], 2) if len(costs) > 1 else None
        yield Bar(f"bytes per character, {shape}, long to short", ratio, 1.2)


def table(figures: Figures) -> Iterator[str]:
    yield f"{'':52}{'Parley':>10}{'relay':>10}{'ratio':>8}"
    for name, label in rows():
        if name in figures:
            yield _row(figures, name, label)
    for what, name, label, _ in GROWTH:
        if costs := _growth(figures, what, name):
            told = ", ".join(f"{size}: {cost:g}" for size, cost in costs.items())
            yield f"{f'{label} by {what}':52}  {told}"
    if not _shapes(figures):
        return
    yield ""
    yield f"{'bytes per character at 20 ms per token':52}{'short':>10}{'long':>10}{'ratio':>8}"
    for shape, sizes in _shapes(figures).items():
        values = list(sizes.values())
        short, long = values[0], values[-1]
        yield f"{'  ' + shape:52}{short:>10.2f}{long:>10.2f}{long / short:>8.2f}"


def rows() -> Iterator[tuple[str, str]]:
    """Every row once, and those of a crowd together, for each size of it."""
    yield from (row for row in ROWS if "{size}" not in row[0])
    for size in CROWDS:
        for name, label in ROWS:
            if "{size}" in name:
                yield name.format(size=size), label.format(size=size)


def _row(figures: Figures, name: str, label: str) -> str:
    ours = _number(figures, name)
    if f"relay_{name}" not in figures:
        return f"{label:52}{ours:>10g}"
    theirs = _number(figures, f"relay_{name}")
    ratio = f"{ours / theirs:>8.2f}" if theirs else f"{'–':>8}"
    return f"{label:52}{ours:>10g}{theirs:>10g}{ratio}"


def _growth(figures: Figures, what: str, name: str) -> dict[int, float]:
    """What something costs, by how much of it there is."""
    found = ((re.fullmatch(rf"growth_{what}_(\d+)_{name}", figure), figure) for figure in figures)
    return {int(match[1]): _number(figures, figure) for match, figure in found if match}


def _shapes(figures: Figures) -> dict[str, dict[str, float]]:
    found = figures.get("bytes_per_char", {})
    assert isinstance(found, dict)
    return found


def _number(figures: Figures, name: str) -> float:
    value = figures[name]
    assert isinstance(value, int | float)
    return value
