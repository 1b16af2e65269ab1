"""Long texts on a card: coloured, folded, and never longer than a page can bear.

A text is a row of runs, each with its class or none. Whatever a tool returned, a card draws at
most so many characters, lines and runs of it, and says how much it leaves out.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chat.rendering.highlight import coloured_runs

# A class, or none, and the text that has it.
Run = tuple[str, str]

# What a card draws of a text, folded or not.
MOST_CHARS: Final = 60_000
MOST_LINES: Final = 1_000
MOST_RUNS: Final = 6_000
# Colouring costs bytes; longer code is shown plain.
MOST_COLOURED: Final = 20_000

# So many lines stand open; to fold away a few more would not be worth a click.
OPEN_LINES: Final = 14
_HARDLY_MORE: Final = 4
# A longer line is broken into several on the page.
_LINE: Final = 100


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a text, with the numbers that stand beside them, if any."""

    html: SafeString
    numbers: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """A text whose beginning, and maybe end, stand open."""

    head: Piece
    rest: Piece | None = None
    tail: Piece | None = None
    # Lines that are folded away, and lines that are not on the page at all.
    more: int = 0
    left_out: int = 0


def cut(text: str, *, end: bool = False) -> tuple[str, str, int]:
    """What is drawn of a text, from its beginning and, if wanted, from its end, and how many lines
    are left out."""
    if len(text) <= MOST_CHARS and text.count("\n") <= MOST_LINES:
        return text, "", 0
    chars, lines = (MOST_CHARS // 4, MOST_LINES // 4) if end else (MOST_CHARS, MOST_LINES)
    head = "".join(text[:chars].splitlines(keepends=True)[:lines])
    tail = ""
    if end:
        rest = text[max(len(head), len(text) - 3 * chars) :]
        tail = "".join(rest.splitlines(keepends=True)[-3 * lines :])
    left = text.count("\n", len(head), len(text) - len(tail))
    return head, tail, max(left, 1)


def code_runs(code: str, language: str) -> Iterable[Run]:
    return coloured_runs(code, language if len(code) <= MOST_COLOURED else "")


def fold(runs: Iterable[Run], *, left_out: int = 0, first: int = 0, tail: int = 0) -> Folded:
    """Folded after some lines; `first` is the number of the first line, where lines have any, and
    `tail` says how many lines at the end stand open as well."""
    lines = list(_lines(runs))
    heights = [1 + sum(len(text) for _, text in line) // _LINE for line in lines]
    shown = _fitting(heights, OPEN_LINES - tail)
    last = len(lines) - _fitting(heights[:shown:-1], tail) if tail else len(lines)
    if sum(heights) <= OPEN_LINES + _HARDLY_MORE and not left_out:
        return Folded(_piece(lines, first))
    if len(lines) == 1 and not left_out:
        return _fold_line(lines[0], first)
    return Folded(
        _piece(lines[:shown], first),
        _piece(lines[shown:last], first + shown if first else 0) if shown < last else None,
        _piece(lines[last:], 0) if last < len(lines) else None,
        more=last - shown,
        left_out=left_out,
    )


def html_of(runs: Iterable[Run]) -> SafeString:
    """Safe HTML: texts are escaped, and classes are words of ours."""
    made = (
        f'<span class="{role}">{escape(text)}</span>' if role else escape(text)
        for role, text in runs
    )
    return mark_safe("".join(made))


def _fold_line(line: list[Run], first: int) -> Folded:
    """One endless line, broken where its beginning is long enough to be seen."""
    head: list[Run] = []
    rest: list[Run] = []
    room = OPEN_LINES * _LINE
    for role, text in line:
        if room > 0:
            head.append((role, text[:room]))
        if text[room:] or room <= 0:
            rest.append((role, text[max(room, 0) :]))
        room -= len(text)
    more = sum(len(text) for _, text in rest) // _LINE
    return Folded(_piece([head], first), _piece([rest], 0), more=max(more, 1))


def _fitting(heights: list[int], room: int) -> int:
    """How many lines fit; one always does."""
    count = 0
    for height in heights:
        room -= height
        if room < 0 and count:
            break
        count += 1
    return count


def _piece(lines: list[list[Run]], first: int) -> Piece:
    numbers = "\n".join(map(str, range(first, first + len(lines)))) if first else ""
    return Piece(html_of(run for line in lines for run in line), numbers)


def _lines(runs: Iterable[Run]) -> Iterator[list[Run]]:
    """The runs of each line, its end included. Beyond so many runs there is no more colour."""
    line: list[Run] = []
    count = 0
    for role, text in runs:
        for piece in text.splitlines(keepends=True):
            count += bool(role)
            shown = role if count <= MOST_RUNS else ""
            if line and line[-1][0] == shown:
                line[-1] = shown, line[-1][1] + piece
            else:
                line.append((shown, piece))
            if piece[-1] == "\n":
                yield line
                line = []
    if line:
        yield line
