"""Fragments of a page that differ in a few words: drawn once by their template, then filled in.

The foot of one answer is that of the next but for two ids, a time and a number. Django takes ten
times as long to draw it as to put these in.
"""

import re
from collections.abc import Hashable, Mapping
from functools import lru_cache
from html import escape
from secrets import randbits
from typing import Any
from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

# What stands in a drawing where a value belongs. It looks like an id, so that addresses can be made
# of it, and nobody can know it.
_GAP = f"{UUID(int=randbits(128))}"[:-2]
_GAPS = re.compile(rf"{_GAP}(\d\d)")

# How many looks of all templates are kept: in every language, and by what decides on them.
_KEPT = 1000


def stencil(template: str, looks: Mapping[str, Hashable], fills: Mapping[str, str]) -> SafeString:
    """A template with these values, as it would draw them. `looks` decide how it looks; `fills` are
    texts that stand in it as they are given, and decide only by being there or not. A name with
    dots is that of an attribute."""
    filled = tuple((name, bool(text)) for name, text in fills.items())
    pieces = list(_cut(template, get_language(), tuple(looks.items()), filled))
    texts = [text if isinstance(text, SafeString) else escape(text) for text in fills.values()]
    pieces[1::2] = [texts[gap] for gap in pieces[1::2]]
    return SafeString("".join(pieces))


@lru_cache(maxsize=_KEPT)
def _cut(
    template: str,
    _language: str | None,
    looks: tuple[tuple[str, Hashable], ...],
    fills: tuple[tuple[str, bool], ...],
) -> tuple[Any, ...]:
    """What stands between the gaps, and in turn with it the number of each gap."""
    values: dict[str, Any] = dict(looks)
    for gap, (name, is_there) in enumerate(fills):
        values[name] = SafeString(f"{_GAP}{gap:02}") if is_there else ""
    pieces = _GAPS.split(render_to_string(template, _nested(values)).strip())
    return tuple(int(piece) if at % 2 else piece for at, piece in enumerate(pieces))


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by the names that a template looks them up by."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *path, last = name.split(".")
        inner = nested
        for step in path:
            inner = inner.setdefault(step, {})
        inner[last] = value
    return nested
