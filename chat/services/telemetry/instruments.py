"""Counters and histograms of this process, and the text in which Prometheus reads them.

Written by hand: the text is a dozen lines of code, and what is measured belongs to one process, so
nothing of what a client library does beyond it is needed.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Instrument:
    """What one of them is called, what it says, and what its values are told apart by."""

    name: str
    help: str
    labels: Labels = ()
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Counter(Instrument):
    """Something that only grows, until the process ends."""

    _values: dict[Labels, float] = field(default_factory=dict)

    def add(self, amount: float = 1, *values: str) -> None:
        with self._lock:
            self._values[values] = self._values.get(values, 0) + amount

    def counted(self) -> dict[Labels, float]:
        with self._lock:
            return dict(self._values)

    def lines(self) -> Iterator[str]:
        yield from _head(self, "counter")
        counted = self.counted() or ({} if self.labels else {(): 0.0})
        for values, amount in sorted(counted.items()):
            yield _line(self.name, zip(self.labels, values, strict=True), amount)


@dataclass(frozen=True, slots=True)
class Histogram(Instrument):
    """How long something took, in seconds: how often at most so long."""

    limits: Sequence[float] = ()
    _counts: dict[Labels, list[int]] = field(default_factory=dict)
    _sums: dict[Labels, float] = field(default_factory=dict)

    def observe(self, seconds: float, *values: str) -> None:
        with self._lock:
            counts = self._counts.setdefault(values, [0] * (len(self.limits) + 1))
            counts[bisect_left(self.limits, seconds)] += 1
            self._sums[values] = self._sums.get(values, 0.0) + seconds

    def lines(self) -> Iterator[str]:
        yield from _head(self, "histogram")
        with self._lock:
            counted = {values: list(counts) for values, counts in self._counts.items()}
            sums = dict(self._sums)
        for values, counts in sorted(counted.items()):
            named = list(zip(self.labels, values, strict=True))
            below = 0
            for limit, count in zip((*self.limits, None), counts, strict=True):
                below += count
                bound = "+Inf" if limit is None else f"{limit:g}"
                yield _line(f"{self.name}_bucket", [*named, ("le", bound)], below)
            yield _line(f"{self.name}_sum", named, sums[values])
            yield _line(f"{self.name}_count", named, below)


def gauge_lines(
    name: str, help: str, values: Mapping[Labels, float] | float, labels: Labels = ()
) -> Iterator[str]:
    """Something that is looked up at the moment it is asked for."""
    yield from _head(Instrument(name, help), "gauge")
    if not isinstance(values, Mapping):
        values = {(): values}
    for each, amount in sorted(values.items()):
        yield _line(name, zip(labels, each, strict=True), amount)


def counted_lines(name: str, help: str, amount: float) -> Iterator[str]:
    """Something that somebody else counts."""
    counter = Counter(name, help)
    counter.add(amount)
    yield from counter.lines()


def _head(instrument: Instrument, kind: str) -> Iterator[str]:
    yield f"# HELP {instrument.name} {_escaped(instrument.help)}"
    yield f"# TYPE {instrument.name} {kind}"


def _line(name: str, labels: Iterable[tuple[str, str]], amount: float) -> str:
    marks = ",".join(f'{label}="{_quoted(value)}"' for label, value in labels)
    return f"{name}{{{marks}}} {amount!r}" if marks else f"{name} {amount!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')
