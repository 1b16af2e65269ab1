"""What a server holds while nobody uses it, again and again, and whether that grows."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Self

# Pools fill, caches fill, the allocator finds its size: so much of the time is not looked at.
WARMING = 1 / 3
# How many more of what is counted may be left between the begin and the end of the rest.
SLACK = 3
# How much more memory: a share of it. A leak of a kilobyte for each turn is more than that.
SHARE = 0.04


@dataclass(frozen=True)
class Reading:
    """One look at a server at rest. `turns` is how many it has answered until then."""

    turns: int
    memory: int  # kilobytes that are resident
    threads: int
    descriptors: int
    tasks: int
    database: int  # connections to PostgreSQL, or open files of SQLite
    redis: int  # connections to Redis

    @classmethod
    def least(cls, readings: "Sequence[Reading]") -> "Reading":
        """Of several looks in a row: what was just about to end does not count."""
        return cls(**{each.name: min(getattr(one, each.name) for one in readings)
                      for each in fields(cls)})  # fmt: skip

    def but(self, **values: int) -> Self:
        return type(self)(**{**{each.name: getattr(self, each.name) for each in fields(self)},
                             **values})  # fmt: skip


def growth(readings: Sequence[Reading]) -> list[str]:
    """What has grown, in words; nothing is what a test wants."""
    kept = readings[round(len(readings) * WARMING) :]
    if len(kept) < 6:
        return [f"{len(readings)} readings say nothing"]
    found = []
    third = len(kept) // 3
    for name in ("threads", "descriptors", "tasks", "database", "redis"):
        counts = [getattr(each, name) for each in kept]
        begin, end = median(counts[:third]), median(counts[-third:])
        if end - begin > SLACK:
            found.append(f"{name}: from {begin:g} to {end:g}")
    each_turn = slope([(one.turns, one.memory) for one in kept])
    more = each_turn * (kept[-1].turns - kept[0].turns)
    if more > SHARE * kept[0].memory:
        found.append(f"memory: {each_turn:.2f} KB a turn, {more:.0f} of {kept[0].memory} KB")
    return found


def slope(points: Sequence[tuple[float, float]]) -> float:
    """How steeply they rise: the median over all pairs, which no single odd one can move."""
    pairs = [(b[1] - a[1]) / (b[0] - a[0])
             for n, a in enumerate(points) for b in points[n + 1 :] if b[0] != a[0]]  # fmt: skip
    return median(pairs) if pairs else 0.0
