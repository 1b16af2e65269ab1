"""Which lines of two texts differ, at a cost that is bounded whatever the texts are.

What both begin and end with is left aside. Long rests are cut at lines that each text has once, as
in "patience" comparing, and only what lies between these is compared line by line; where that
would take too long, it counts as changed.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final, NamedTuple

# So many pairs of lines are compared in one place, and in all.
_MOST_PAIRS: Final = 160_000
_MOST_IN_ALL: Final = 1_500_000
# A line that can be paired in more ways says nothing about where the texts meet.
_MOST_WAYS: Final = 64


class Change(NamedTuple):
    """Lines of the old text in whose place there are lines of the new one; either may be none."""

    old_from: int
    old_to: int
    new_from: int
    new_to: int


def changes(old: list[str], new: list[str]) -> list[Change]:
    """What differs, in order; between two changes both texts are the same."""
    found: list[Change] = []
    left = _MOST_IN_ALL
    waiting = [Change(0, len(old), 0, len(new))]
    while waiting:
        place = _trimmed(old, new, waiting.pop())
        rows, columns = place.old_to - place.old_from, place.new_to - place.new_from
        if not rows and not columns:
            continue
        if not rows or not columns or rows == columns == 1:
            found.append(place)
        elif rows * columns <= min(_MOST_PAIRS, left):
            left -= rows * columns
            found += _compared(old, new, place)
        elif pieces := _cut_at_anchors(old, new, place):
            waiting += pieces
        else:
            found.append(place)
    return sorted(found)


def _trimmed(old: list[str], new: list[str], place: Change) -> Change:
    """Without the lines that both sides begin and end with."""
    old_from, old_to, new_from, new_to = place
    while old_from < old_to and new_from < new_to and old[old_from] == new[new_from]:
        old_from, new_from = old_from + 1, new_from + 1
    while old_from < old_to and new_from < new_to and old[old_to - 1] == new[new_to - 1]:
        old_to, new_to = old_to - 1, new_to - 1
    return Change(old_from, old_to, new_from, new_to)


def _compared(old: list[str], new: list[str], place: Change) -> Iterator[Change]:
    before = old[place.old_from : place.old_to]
    after = new[place.new_from : place.new_to]
    in_old, in_new = Counter(before), Counter(after)
    matcher = SequenceMatcher(
        lambda line: in_old[line] * in_new[line] > _MOST_WAYS, before, after, autojunk=False
    )
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag != "equal":
            yield Change(
                place.old_from + old_from,
                place.old_from + old_to,
                place.new_from + new_from,
                place.new_from + new_to,
            )


def _cut_at_anchors(old: list[str], new: list[str], place: Change) -> list[Change]:
    """The places between lines that stand once on each side, in the same order on both."""
    in_old = Counter(old[place.old_from : place.old_to])
    in_new = Counter(new[place.new_from : place.new_to])
    where = {new[at]: at for at in range(place.new_from, place.new_to) if in_new[new[at]] == 1}
    pairs = [
        (at, where[old[at]])
        for at in range(place.old_from, place.old_to)
        if in_old[old[at]] == 1 and old[at] in where
    ]
    pieces: list[Change] = []
    old_at, new_at = place.old_from, place.new_from
    anchors = _rising(pairs)
    for in_first, in_second in anchors:
        if old_at < in_first or new_at < in_second:
            pieces.append(Change(old_at, in_first, new_at, in_second))
        old_at, new_at = in_first + 1, in_second + 1
    return [*pieces, Change(old_at, place.old_to, new_at, place.new_to)] if anchors else []


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest run of pairs that rises on both sides."""
    ends: list[int] = []
    last: list[int] = []
    above: list[int] = []
    for index, (_, second) in enumerate(pairs):
        place = bisect_left(ends, second)
        above.append(last[place - 1] if place else -1)
        if place == len(ends):
            ends.append(second)
            last.append(index)
        else:
            ends[place], last[place] = second, index
    run: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        run.append(pairs[index])
        index = above[index]
    return run[::-1]
