"""Blocks of code between fences, while they grow.

In: the source of an open block that begins with a fence. Out: which of its lines are code for sure,
and whether its last line ends it.
"""

import re
from typing import Final

_FENCES: Final = ("```", "~~~")
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_CODE_AT_ONCE: Final = 4000
# Code in a whole text, from its fence to the one that closes it. In an item of a list, which it
# begins, it ends at the latest with the item: all its lines are indented.
FENCED: Final = (
    r"^ {0,3}(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)[^\n]*+"
    r"(?:\n(?! {0,3}(?P=fence)[`~]*+[ \t]*+$)[^\n]*+)*+(?:\n[^\n]*+)?"
    r"|^ {0,3}(?:(?:[-+*]|\d{1,9}+[.)])[ \t]++)++(?P<inner>`{3,}+(?=[^`\n]*+$)|~{3,}+)[^\n]*+"
    r"(?:\n(?![ \t]++(?P=inner)[`~]*+[ \t]*+$)(?=[ \t\n])[^\n]*+)*+"
    r"(?:\n[ \t]++(?P=inner)[`~]*+[ \t]*+$)?"
)


def opening_fence(source: str) -> str:
    """The fence that the source begins with, if it does."""
    found = _FENCE.match(source)
    return found[0] if found else ""


def start_of_fence(text: str) -> int:
    """Where the first fence stands; the end of the text if there is none."""
    return min(place if place >= 0 else len(text) for place in map(text.find, _FENCES))


def is_open_code(source: str) -> bool:
    """Whether the source is nothing but a block of code that is not closed."""
    if not source.startswith(_FENCES):
        return False
    first, _, rest = source.partition("\n")
    return "`" not in first.lstrip("`") and source[:3] not in rest


def closes_code(source: str) -> bool:
    """Whether the last line, just completed, ends the code that the first line begins."""
    first, _, rest = source.partition("\n")
    fence = _FENCE.search(first)
    last = rest[:-1].rpartition("\n")[2].lstrip(" >").rstrip()
    if fence is None or not source.endswith("\n"):
        return False
    return len(last) >= len(fence[0]) and not last.strip(fence[0][0])


def end_of_code_lines(source: str, delta: str, at: int) -> int:
    """How far `delta` goes on, from `at`, with whole lines that belong to the code of `source`.
    They are all alike, so they can be drawn at once; `at` if the next line has to be looked at."""
    fence = opening_fence(source)
    if not fence:
        return at
    # A fence that the bound cuts in two is safe: its line has no end before it.
    bound = at + _CODE_AT_ONCE
    if delta.find(fence, at, bound) >= 0:
        closing = re.compile(rf"^ {{0,3}}{fence}{fence[0]}*[ \t]*$", re.M).search(delta, at, bound)
        bound = closing.start() if closing else bound
    return max(at, delta.rfind("\n", at, bound) + 1)
