"""Two texts side by side as lines: what stayed, what went, what came."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT = 3
# Comparing is quadratic at worst, and nobody reads more on a card.
MOST_LINES = 1500
# A line that can be paired in more ways says nothing about where the texts meet.
MOST_PAIRS = 64


@dataclass(frozen=True, slots=True)
class Line:
    kind: Literal["same", "cut", "add", "gap"]
    number: int
    text: str = ""

    @property
    def sign(self) -> str:
        return {"cut": "−", "add": "+"}.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class Diff:
    lines: tuple[Line, ...]
    added: int
    removed: int
    whole: bool = True


def compare(before: str, after: str) -> Diff:
    """The changed lines with three lines around them; counts are of all changes."""
    old, new = before.splitlines(), after.splitlines()
    whole = len(old) <= MOST_LINES and len(new) <= MOST_LINES
    old, new = old[:MOST_LINES], new[:MOST_LINES]
    lines = tuple(_lines(old, new))
    return Diff(
        lines=lines,
        added=sum(line.kind == "add" for line in lines),
        removed=sum(line.kind == "cut" for line in lines),
        whole=whole,
    )


def _lines(old: list[str], new: list[str]) -> Iterator[Line]:
    end = 0
    in_old, in_new = Counter(old), Counter(new)
    matcher = SequenceMatcher(lambda line: in_old[line] * in_new[line] > MOST_PAIRS, old, new)
    for group in matcher.get_grouped_opcodes(CONTEXT):
        first = group[0][1]
        if first > end:
            yield Line("gap", first - end)
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                yield from _numbered("same", new, new_from, new_to)
            else:
                yield from _numbered("cut", old, old_from, old_to)
                yield from _numbered("add", new, new_from, new_to)
        end = group[-1][2]
    if 0 < end < len(old):
        yield Line("gap", len(old) - end)


def _numbered(
    kind: Literal["same", "cut", "add"], lines: list[str], start: int, end: int
) -> Iterator[Line]:
    for index in range(start, end):
        yield Line(kind, index + 1, lines[index])
