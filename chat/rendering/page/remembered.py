"""Finished messages, drawn once: the same pages are opened again and again.

What is remembered is found by everything that the drawing depends on, so nothing has to be
forgotten: another word, name, language or day is another drawing.
"""

import threading
from collections import OrderedDict
from dataclasses import replace
from hashlib import blake2b
from typing import Final

from django.utils.safestring import SafeString, mark_safe

from chat.protocol.events import Retry
from chat.protocol.messages import WithParts, is_answer
from chat.rendering.page import times
from chat.rendering.page.messages import message_html
from chat.rendering.reader import Reader

# About ten megabytes of ordinary answers in a process.
MOST: Final = 1000
LONGEST: Final = 50_000

_drawn: OrderedDict[bytes, str] = OrderedDict()
_lock = threading.Lock()


class Remembering:
    """Draws the messages of one page for one reader."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        today = times.local(reader.now).date()
        self._mark = f"{replace(reader, clock=0, agent='', model='')} {today}".encode()

    def html(self, message: WithParts, retry: Retry | None = None) -> SafeString:
        """The same as `message_html`, perhaps from before."""
        if is_answer(message.info) and message.info.status in ("pending", "streaming"):
            return message_html(message, self.reader, retry=retry, cursors=True)
        key = blake2b(message.model_dump_json().encode(), digest_size=16)
        key.update(self._mark)
        return self._found(key.digest(), message)

    def _found(self, key: bytes, message: WithParts) -> SafeString:
        with _lock:
            known = _drawn.get(key)
            if known is not None:
                _drawn.move_to_end(key)
                # It was drawn by `message_html`, which made it safe.
                return mark_safe(known)
        drawn = message_html(message, self.reader, cursors=True)
        if len(drawn) <= LONGEST:
            with _lock:
                _drawn[key] = str(drawn)
                while len(_drawn) > MOST:
                    _drawn.popitem(last=False)
        return drawn
