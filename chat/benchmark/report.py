"""The figures for people: beside the relay's, and whether they keep what is promised."""

from collections.abc import Iterator
from dataclasses import dataclass

from chat.benchmark.measures import Figures

ROWS = (
    ("tokens_per_s_1", "tokens/s, one stream flat out"),
    ("tokens_per_s_20", "tokens/s, 20 streams flat out"),
    ("latency_ms_p50_1", "added latency p50, 1 stream (ms)"),
    ("latency_ms_p95_1", "added latency p95, 1 stream (ms)"),
    ("latency_ms_p50_20", "added latency p50, 20 streams (ms)"),
    ("latency_ms_p95_20", "added latency p95, 20 streams (ms)"),
    ("latency_ms_p50_100", "added latency p50, 100 streams (ms)"),
    ("latency_ms_p95_100", "added latency p95, 100 streams (ms)"),
    ("cpu_s_per_1k_tokens", "CPU s per 1,000 tokens, 20 streams"),
    ("cpu_ms_per_turn", "CPU ms per turn: connect, ask, settle"),
    ("loop_lag_ms_p99_20", "loop lag p99, 20 streams (ms)"),
    ("rss_mb", "memory, after the largest crowd (MB)"),
    ("first_token_ms", "provider's first byte to first words (ms)"),
    ("question_to_token_ms", "question to first words (ms)"),
    ("loop_lag_ms_p99", "loop lag p99, ten 20 KB code blocks (ms)"),
    ("bytes_once", "bytes for any answer, once"),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise: what was measured, and the most (or least) it may be."""

    name: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def is_kept(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        kept = "kept  " if self.is_kept else "MISSED"
        return f"{kept} {self.name}: {self.value:g} {sign} {self.limit:g}"


def bars(figures: Figures) -> Iterator[Bar]:
    """Only what was measured is judged."""
    for shape, sizes in _shapes(figures).items():
        for tokens, value in sizes.items():
            yield Bar(f"bytes per character, {shape}, {tokens} tokens", value, 14)
        if len(sizes) > 1:
            short, *_, long = sizes.values()
            yield Bar(f"bytes per character, {shape}, long to short", round(long / short, 2), 1.2)
    yield from _ratio(figures, "cpu_s_per_1k_tokens", "CPU per token to the relay's", 1.5)
    yield from _ratio(figures, "tokens_per_s_1", "tokens/s to the relay's", 1, at_least=True)
    for name, limit in (("first_token_ms", 30), ("loop_lag_ms_p99", 20)):
        if name in figures:
            yield Bar(name, _number(figures, name), limit)


def _ratio(
    figures: Figures, name: str, label: str, limit: float, *, at_least: bool = False
) -> Iterator[Bar]:
    if name in figures and f"relay_{name}" in figures:
        ratio = _number(figures, name) / _number(figures, f"relay_{name}")
        yield Bar(label, round(ratio, 2), limit, at_least)


def table(figures: Figures) -> Iterator[str]:
    yield f"{'':44}{'Parley':>10}{'relay':>10}{'ratio':>8}"
    for name, label in ROWS:
        if name in figures:
            yield _row(figures, name, label)
    yield ""
    yield f"{'bytes per character at 20 ms per token':44}{'short':>10}{'long':>10}{'ratio':>8}"
    for shape, sizes in _shapes(figures).items():
        values = list(sizes.values())
        short, long = values[0], values[-1]
        yield f"{'  ' + shape:44}{short:>10.2f}{long:>10.2f}{long / short:>8.2f}"


def _row(figures: Figures, name: str, label: str) -> str:
    ours = _number(figures, name)
    if f"relay_{name}" not in figures:
        return f"{label:44}{ours:>10g}"
    theirs = _number(figures, f"relay_{name}")
    ratio = f"{ours / theirs:>8.2f}" if theirs else f"{'–':>8}"
    return f"{label:44}{ours:>10g}{theirs:>10g}{ratio}"


def _shapes(figures: Figures) -> dict[str, dict[str, float]]:
    found = figures.get("bytes_per_char", {})
    assert isinstance(found, dict)
    return found


def _number(figures: Figures, name: str) -> float:
    value = figures[name]
    assert isinstance(value, int | float)
    return value
