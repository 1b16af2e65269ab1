"""A few words of a text around what was searched for, in pieces that are marked or not."""

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from chat.formats.search_query import Clause, Span, spans

BEFORE: Final = 32
# About two lines.
LENGTH: Final = 200

Piece = tuple[str, bool]


def marked(text: str, clauses: Sequence[Clause]) -> tuple[Piece, ...]:
    """A short text, all of it."""
    return _pieces(text, 0, len(text), spans(text, clauses))


def snippet(texts: Iterable[str], clauses: Sequence[Clause]) -> tuple[Piece, ...]:
    """From the first of the texts that has any of the clauses; empty when none has."""
    for text in texts:
        found = spans(text, clauses)
        first = next(found, None)
        if first is not None:
            return _around(text, first, found)
    return ()


def _around(text: str, first: Span, more: Iterable[Span]) -> tuple[Piece, ...]:
    begin = _begin(text, first[0])
    end = min(len(text), max(begin + LENGTH, first[1]))
    near = takewhile(lambda span: span[0] < end, more)
    pieces = _pieces(text, begin, end, [first, *near])
    before: tuple[Piece, ...] = (("…", False),) if begin else ()
    after: tuple[Piece, ...] = (("…", False),) if end < len(text) else ()
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
