"""A text that comes in pieces → its lines, each one JSON object."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from chat.protocol.frozen import JsonObject
from chat.protocol.text import clean_json, has_too_many, is_deep

# A picture that a tool returned lies in its line as base64.
LONGEST_LINE = 32 * 1024 * 1024

Fault = Literal["line_too_long", "line_not_json"]


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    value: JsonObject


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read; those after it can."""

    number: int
    fault: Fault


class LineReader:
    """Passes over what does not begin as an object: programs print warnings in between."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        # How many lines were passed over.
        self.passed = 0
        self._longest = longest
        self._pieces: list[str] = []
        self._length = 0
        self._number = 0

    def feed(self, chunk: str) -> Iterator[Line | BadLine]:
        *ended, rest = chunk.split("\n")
        for piece in ended:
            self._add(piece)
            yield from self._end_line()
        self._add(rest)

    def close(self) -> Iterator[Line | BadLine]:
        """The last line, which need not end; one that was cut off is said to be bad."""
        if self._length:
            yield from self._end_line()

    def _add(self, piece: str) -> None:
        self._length += len(piece)
        if self._length > self._longest:
            self._pieces.clear()
        else:
            self._pieces.append(piece)

    def _end_line(self) -> Iterator[Line | BadLine]:
        text = "".join(self._pieces).strip()
        is_long = self._length > self._longest
        self._pieces.clear()
        self._length = 0
        self._number += 1
        if is_long:
            yield BadLine(self._number, "line_too_long")
        elif text.startswith("{"):
            value = _parse(text)
            if value is None:
                yield BadLine(self._number, "line_not_json")
            else:
                yield Line(self._number, value)
        elif text:
            self.passed += 1


def _parse(text: str) -> JsonObject | None:
    if has_too_many(text):
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or is_deep(value):
        return None
    cleaned: JsonObject = clean_json(value)
    return cleaned
