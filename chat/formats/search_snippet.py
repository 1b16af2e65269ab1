"""A few words of a text around what was searched for, in pieces that are marked or not."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Final

from chat.formats.plain_markdown import plain_text
from chat.formats.search_query import Clause, Span, spans

BEFORE: Final = 32
# About two lines.
LENGTH: Final = 200
# So much is read of a text around what was found: its marks are left out afterwards.
NEAR: Final = 3 * LENGTH

Piece = tuple[str, bool]


def marked(text: str, clauses: Sequence[Clause]) -> tuple[Piece, ...]:
    """A short text, all of it."""
    return _pieces(text, 0, len(text), spans(text, clauses))


def snippet(texts: Iterable[str], clauses: Sequence[Clause]) -> tuple[Piece, ...]:
    """From the first of the texts that has any of the clauses; empty when none has.

    The marks of Markdown are left out, unless what was found is one of them, or an address.
    """
    for text in texts:
        first = next(spans(text, clauses), None)
        if first is not None:
            return _plain(text, first, clauses) or _around(text, spans(text, clauses))
    return ()


def _plain(text: str, first: Span, clauses: Sequence[Clause]) -> tuple[Piece, ...]:
    begin = max(0, first[0] - NEAR)
    # Marks stand in pairs within a line, so it begins with one if it can.
    ended = text.find("\n", begin, max(begin, first[0] - BEFORE)) if begin else -1
    begin = ended + 1 or begin
    near = text[begin : first[1] + NEAR]
    plain = plain_text(near, text[:begin])
    return _around(plain, spans(plain, clauses), begin > 0, begin + len(near) < len(text))


def _around(
    text: str, found: Iterator[Span], cut_before: bool = False, cut_after: bool = False
) -> tuple[Piece, ...]:
    """The text around the first that was found; empty when nothing was."""
    first = next(found, None)
    if first is None:
        return ()
    begin = _begin(text, first[0])
    end = min(len(text), max(begin + LENGTH, first[1]))
    near = takewhile(lambda span: span[0] < end, found)
    pieces = _pieces(text, begin, end, [first, *near])
    before: tuple[Piece, ...] = (("…", False),) if begin or cut_before else ()
    after: tuple[Piece, ...] = (("…", False),) if end < len(text) or cut_after else ()
    return before + pieces + after


def _begin(text: str, at: int) -> int:
    """Where the snippet begins: a little before, at the start of a word if there is one."""
    begin = max(0, at - BEFORE)
    blank = text.find(" ", begin, at)
    return begin if begin == 0 or blank < 0 else blank + 1


def _pieces(text: str, begin: int, end: int, found: Iterable[Span]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    at = begin
    for span in _joined(found):
        start, stop = max(span[0], at), min(span[1], end)
        if stop <= start:
            continue
        pieces += [(_one_line(text[at:start]), False), (_one_line(text[start:stop]), True)]
        at = stop
    pieces.append((_one_line(text[at:end]), False))
    return tuple(piece for piece in pieces if piece[0])


def _joined(found: Iterable[Span]) -> list[Span]:
    """In order, and those that overlap or touch as one: bigrams of one word are one mark."""
    joined: list[Span] = []
    for start, stop in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(stop, joined[-1][1])
        else:
            joined.append((start, stop))
    return joined


def _one_line(text: str) -> str:
    blank_ends = text[:1].isspace(), text[-1:].isspace()
    line = " ".join(text.split())
    if not line:
        return " " if text else ""
    return f"{' ' if blank_ends[0] else ''}{line}{' ' if blank_ends[1] else ''}"
