"""A list in JSON, element by element: an export of a hundred megabytes is thousands of them."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from chat.protocol.text import has_too_many

# The longest value that is read as a whole.
LONGEST_VALUE = 100_000_000
# After something broken, so many tries to go on may fail in all. The next one begins where the last
# has failed, but of some it is not told where that is: those count as ten.
MOST_TRIES = 1000

_BETWEEN = re.compile(r"[\s,]*")
# Where an element that is an object may begin.
_NEXT = re.compile(r",\s*(?=\{)")
# A literal or an escape that was cut in two is refused at its beginning.
_CUT: Final = 20
_END: Final = object()
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Broken:
    """What stands here cannot be read; if nothing comes after it, nor can the rest of the list."""

    reason: Literal["list_broken", "file_too_deep", "file_too_large"]


@dataclass(frozen=True, slots=True)
class _Fault:
    """A value that cannot be read: to where it was read, or that it may only not be whole yet."""

    at: int
    is_cut: bool = False
    is_deep: bool = False


def elements(chunks: Iterable[str], is_wanted: Callable[[Any], bool]) -> Iterator[Any]:
    """What a list holds, each as soon as it is whole. After `Broken` comes the next element that is
    wanted, for what is left of the broken one may be read like elements."""
    reading = _Reading(iter(chunks))
    while (value := reading.next()) is not _END:
        yield value
        if isinstance(value, Broken):
            found = reading.look_for(is_wanted)
            if found is None:
                return
            yield found


class _Reading:
    def __init__(self, source: Iterator[str]) -> None:
        self._source = source
        # Without the bracket with which the list begins.
        self._text = _beginning(source)[1:]
        self._at = 0
        self._is_more = True
        self._tries = MOST_TRIES

    def next(self) -> Any:
        while True:
            between = _BETWEEN.match(self._text, self._at)
            self._at = between.end() if between else self._at
            if self._text.startswith("]", self._at):
                return _END
            found = self._decoded(self._at)
            if not isinstance(found, _Fault):
                value, end = found
                # A number may go on.
                is_whole = end < len(self._text) or isinstance(value, dict | list | str)
                if is_whole or not self._is_more:
                    self._go_to(end)
                    return value
            elif found.is_deep:
                return Broken("file_too_deep")
            elif not found.is_cut:
                return Broken("list_broken")
            # All tries together cost little more than the last: each has twice as much.
            if not self._read_more(self._at):
                return Broken("file_too_large")

    def look_for(self, is_wanted: Callable[[Any], bool]) -> Any | None:
        """The next element of which one can say that it is one."""
        self._at += 1
        while self._tries > 0:
            start = _NEXT.search(self._text, self._at)
            if start is None:
                comma = self._text.rfind(",", self._at)
                if not self._is_more or not self._read_more(comma if comma >= 0 else None):
                    return None
                continue
            found = self._decoded(start.end())
            if not isinstance(found, _Fault):
                value, end = found
                self._go_to(end)
                if is_wanted(value):
                    return value
            elif found.is_cut:
                if not self._read_more(start.start()):
                    return None
            else:
                self._tries -= 1 if found.at > start.end() else 10
                self._at = max(start.end() + 1, found.at)
        return None

    def _decoded(self, at: int) -> tuple[Any, int] | _Fault:
        try:
            return _decoder.raw_decode(self._text, at)
        except RecursionError:
            return _Fault(at, is_deep=True)
        except json.JSONDecodeError as error:
            # Of a text without an end it is told where it begins.
            is_open = error.msg.startswith("Unterminated")
            end = len(self._text) if is_open else error.pos
            return _Fault(end, is_cut=end >= len(self._text) - _CUT and self._is_more)
        except ValueError:
            # A number of more digits than are read.
            return _Fault(at)

    def _go_to(self, at: int) -> None:
        self._at = at
        if at > len(self._text) // 2:
            self._text, self._at = self._text[at:], 0

    def _read_more(self, start: int | None) -> bool:
        """Read on, and keep what comes from there, or nothing; not if that is too much."""
        kept = "" if start is None else self._text[start:]
        self._text, self._at = kept, 0
        if len(kept) > LONGEST_VALUE or has_too_many(kept):
            return False
        self._text, self._is_more = _with_more(kept, self._source)
        return True


def _beginning(source: Iterator[str]) -> str:
    """The first piece that has more than blanks."""
    found = (text for chunk in source if (text := chunk.lstrip("\ufeff \t\r\n")))
    return next(found, "")


def _with_more(text: str, source: Iterator[str]) -> tuple[str, bool]:
    pieces = [text]
    wanted = len(text) or 1
    for chunk in source:
        pieces.append(chunk)
        wanted -= len(chunk)
        if wanted <= 0:
            return "".join(pieces), True
    return "".join(pieces), False
