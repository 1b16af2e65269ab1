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

# Of a larger value, a card shows so many items and characters.
_MOST_ITEMS = 10_000
_MOST_TEXT = 60_000

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


def shortened(value: Any) -> Any:
    """The value, or as much of it as a card shows: its first items, and how long texts begin."""
    left = [_MOST_ITEMS, _MOST_TEXT]
    return value if _is_small(value) else _shortened(value, left)


def _is_small(value: Any) -> bool:
    waiting, items, text = [value], 0, 0
    while waiting:
        each = waiting.pop()
        items += 1
        if isinstance(each, str):
            text += len(each)
        elif isinstance(each, dict | list):
            if items + len(waiting) + len(each) > _MOST_ITEMS:
                return False
            waiting += each.values() if isinstance(each, dict) else each
            text += sum(map(len, each)) if isinstance(each, dict) else 0
        if items > _MOST_ITEMS or text > _MOST_TEXT:
            return False
    return True


def _shortened(value: Any, left: list[int]) -> Any:
    """`left` is how many items and characters there is room for."""
    left[0] -= 1
    if isinstance(value, str):
        shown = value[: max(left[1], 0)]
        left[1] -= len(shown)
        return shown if len(shown) == len(value) else shown + "…"
    if isinstance(value, dict):
        made: dict[str, Any] = {}
        for key, item in value.items():
            if min(left) <= 0:
                return made | {"…": len(value) - len(made)}
            name = _shortened(str(key), left)
            made[name] = _shortened(item, left)
        return made
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            if min(left) <= 0:
                return [*items, f"… {len(value) - len(items)}"]
            items.append(_shortened(item, left))
        return items
    return value


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
