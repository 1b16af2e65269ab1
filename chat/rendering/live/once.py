"""Whatever is drawn for one page of a reader is drawn once for all pages of that reader.

The pages of a process are told the same events, as the same objects: a hundred tabs of one
conversation are shown a new message that was drawn for the first of them.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from chat.rendering.reader import Reader

Value = TypeVar("Value")

# Pages are told an event within moments, those of all conversations in turn.
REMEMBERED = 256


class Once(Generic[Value]):
    """Draws a value for a reader, and remembers the latest drawings.

    Values are known by identity: to compare two long texts would cost as much as to draw them.
    """

    def __init__(self, draw: Callable[[Value, Reader], str]) -> None:
        self._draw = draw
        # The value is kept with its drawing, so that no other can be given its id meanwhile.
        self._drawn: dict[tuple[int, str], tuple[Value, Reader, str]] = {}
        # Pages are brought forward by threads too.
        self._lock = threading.Lock()

    def __call__(self, value: Value, reader: Reader) -> str:
        key = id(value), reader.id
        known = self._drawn.get(key)
        if known is not None and known[0] is value and known[1] == reader:
            return known[2]
        html = self._draw(value, reader)
        with self._lock:
            self._drawn[key] = value, reader, html
            if len(self._drawn) > REMEMBERED:
                del self._drawn[next(iter(self._drawn))]
        return html
