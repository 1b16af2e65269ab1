"""The page that Django shows of a fault where DEBUG is on, without keys.

It shows what every function on the way had in its hands. What goes by the name of a secret there,
or is one of ours, is taken out of the whole page: wherever else it turns up, too.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from types import TracebackType
from typing import Any, Final

from django.views.debug import ExceptionReporter

from chatsite.logs import HIDDEN, scrub

_NAMES: Final = re.compile("key|secret|token|pass|auth|cookie|sesame", re.IGNORECASE)
# What is shorter is no secret, and would make holes everywhere.
_LEAST: Final = 8
_DEEP: Final = 4


class ScrubbingReporter(ExceptionReporter):
    """`DEFAULT_EXCEPTION_REPORTER`."""

    def get_traceback_html(self) -> str:  # type: ignore[override]  # it is a page of its own
        return self._without_secrets(super().get_traceback_html())

    def get_traceback_text(self) -> str:  # type: ignore[override]
        return self._without_secrets(super().get_traceback_text())

    def _without_secrets(self, page: str) -> str:
        # The longest first: one may be part of another.
        for secret in sorted(set(self._secrets()), key=len, reverse=True):
            page = page.replace(escape(secret), HIDDEN).replace(secret, HIDDEN)
        return scrub(page)

    def _secrets(self) -> Iterator[str]:
        if self.request is not None:
            for given in (self.request.POST, self.request.GET, self.request.COOKIES):
                yield from _in("", given.dict() if hasattr(given, "dict") else given)
        for each in _tracebacks(self.exc_value, self.tb):
            yield from _in("", each.tb_frame.f_locals)


def _tracebacks(error: BaseException | None, tb: TracebackType | None) -> Iterator[TracebackType]:
    """Every place that the fault has come through, and the faults that led to it."""
    while tb is not None:
        yield tb
        tb = tb.tb_next
    earlier = (error.__cause__ or error.__context__) if error else None
    if earlier is not None:
        yield from _tracebacks(earlier, earlier.__traceback__)


def _in(name: str, value: Any, depth: int = 0) -> Iterator[str]:
    """The secrets in something that was at hand."""
    if isinstance(value, str):
        # Our own (`chat/models/secrets.py`) says how little of it may be shown, by any name.
        if len(value) >= _LEAST and (_NAMES.search(name) or hasattr(value, "hint")):
            yield str(value)
    elif isinstance(value, Mapping) and depth < _DEEP:
        for key, inner in value.items():
            # What a dictionary is called counts for what is in it.
            yield from _in(f"{name} {key}", inner, depth + 1)
