"""Text as the parser wants it: lines end in a newline, no NUL, no lone surrogates.

In: text as it was received, whole or in pieces. Out: the same text, where `a\\r\\nb` is `a\\nb`.
"""

import re
from typing import Final

_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def normalise(text: str) -> str:
    """The whole text with its line ends as newlines, and without what a library would refuse."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


class Normaliser:
    """Normalises a text that comes in pieces: a `\\r` waits to see whether a `\\n` follows."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, piece: str) -> str:
        piece = self._held + piece
        self._held = "\r" if piece.endswith("\r") else ""
        return normalise(piece[: len(piece) - len(self._held)])
