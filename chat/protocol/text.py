"""Text that every store, socket and library downstream can take.

NUL breaks PostgreSQL, a lone surrogate breaks SQLite, msgpack, nh3 and the socket,
so both are taken out at every boundary: what people type, models say and tools return.
"""

import re
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")
REPLACEMENT = "\ufffd"


def clean_text(text: str) -> str:
    """The text without NUL, surrogate pairs joined, lone surrogates replaced."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    if text.isascii() or not _LONE.search(text):
        return text
    paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _LONE.sub(REPLACEMENT, paired)


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
