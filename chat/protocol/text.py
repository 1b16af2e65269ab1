"""Text that every store, socket and library downstream can take.

NUL breaks PostgreSQL, a lone surrogate breaks SQLite, msgpack, nh3 and the socket,
so both are taken out at every boundary: what people type, models say and tools return.
"""

import re
from typing import Any

_HALF = re.compile("[\ud800-\udfff]")
_LONE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
REPLACEMENT = "\ufffd"
MOST_LEVELS = 100
# Of one text in JSON, so many values are read: a book of ten million words has fewer commas.
MOST_VALUES = 4_000_000


def clean_text(text: str) -> str:
    """The text without NUL, surrogate pairs joined, lone surrogates replaced."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if text.isascii() or not _HALF.search(text):
        return text
    return _LONE.sub(REPLACEMENT, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def clean_json(value: Any) -> Any:
    """The same for every string, and every key, inside a JSON value."""
    match value:
        case str():
            return clean_text(value)
        case list() | tuple():
            return [clean_json(item) for item in value]
        case dict():
            return {clean_text(str(key)): clean_json(item) for key, item in value.items()}
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        case _:
            return value


def has_too_many(text: str) -> bool:
    """Whether a text in JSON may hold so many values that they would not fit the memory, though the
    text does: an empty list takes twenty times the place of its letters."""
    return sum(map(text.count, ",[{")) > MOST_VALUES


def is_deep(value: Any) -> bool:
    """Whether a JSON value has so many levels that what goes down into it would fail somewhere."""
    level = [value]
    for _ in range(MOST_LEVELS):
        inside = (one.values() if isinstance(one, dict) else one for one in level if _holds(one))
        level = [child for items in inside for child in items]
        if not level:
            return False
    return True


def _holds(value: Any) -> bool:
    return isinstance(value, dict | list | tuple)


class TextCleaner:
    """Cleans a text that comes in pieces: a pair cut in two waits for its other half."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        piece = self._held + piece
        self._held = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            self._held, piece = piece[-1], piece[:-1]
        return clean_text(piece)

    def close(self) -> str:
        held, self._held = self._held, ""
        return clean_text(held)
