"""JSON for people: indented and coloured."""

import json
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chat.protocol.text import is_deep
from chat.rendering.highlight import highlight

# Colouring costs bytes; beyond this the text is shown plain.
MOST_COLOURED = 20_000
_LONGEST_LINE = 60
# Below this many levels nothing is indented any further.
_DEEPEST = 12

# Making an encoder takes longer than writing a small value.
_written = json.JSONEncoder(ensure_ascii=False, default=str).encode


def pretty(value: Any, depth: int = 0) -> str:
    """Indented, but what fits on a line stays on it."""
    line = _written(value)
    has_items = isinstance(value, dict | list) and bool(value)
    if not has_items or (depth and len(line) <= _LONGEST_LINE) or depth > _DEEPEST:
        return line
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        items = [f"{_written(str(k))}: {pretty(v, depth + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(pad + item for item in items) + f"\n{end}}}"
    items = [pretty(item, depth + 1) for item in value]
    return "[\n" + ",\n".join(pad + item for item in items) + f"\n{end}]"


def pretty_html(value: Any) -> SafeString:
    """The same, coloured as a code block in an answer is."""
    text = pretty(value)
    if len(text) > MOST_COLOURED:
        return escape(text)
    # `highlight` has its HTML cleaned by the sanitizer.
    return mark_safe(highlight(text, "json"))


def parsed(text: str) -> Any:
    """The object or list that a text is in JSON; None when it is anything else."""
    if text[:1] not in "{[":
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if is_deep(value) else value
