"""JSON for people: indented, its tokens coloured by role."""

import json
import re
from typing import Any

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

# Colouring costs bytes; beyond this the text is shown plain.
MOST_COLOURED = 20_000
_LINE = 60
_DEEPEST = 12

_TOKEN = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*")(?=\s*:)|(?P<string>"(?:[^"\\]|\\.)*")'
    r"|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?P<word>true|false|null)|(?P<mark>[{}\[\],:]+)"
)
# The class names of Pygments, so that code and JSON share their colours.
_CLASS = {"key": "nt", "string": "s2", "number": "mi", "word": "kc", "mark": "p"}


def pretty(value: Any, depth: int = 0) -> str:
    """Indented, but what fits on a line stays on it."""
    line = json.dumps(value, ensure_ascii=False, default=str)
    inner = isinstance(value, dict | list) and bool(value)
    if not inner or (depth and len(line) <= _LINE) or depth > _DEEPEST:
        return line
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict):
        items = [
            f"{json.dumps(str(k), ensure_ascii=False)}: {pretty(v, depth + 1)}"
            for k, v in value.items()
        ]
        return "{\n" + ",\n".join(pad + item for item in items) + f"\n{end}}}"
    items = [pretty(item, depth + 1) for item in value]
    return "[\n" + ",\n".join(pad + item for item in items) + f"\n{end}]"


def pretty_html(value: Any) -> SafeString:
    text = pretty(value)
    if len(text) > MOST_COLOURED:
        return escape(text)
    pieces: list[str] = []
    end = 0
    for token in _TOKEN.finditer(text):
        pieces.append(escape(text[end : token.start()]))
        role = _CLASS[token.lastgroup or "mark"]
        pieces.append(f'<span class="{role}">{escape(token.group())}</span>')
        end = token.end()
    pieces.append(escape(text[end:]))
    # Every piece is escaped; only our own spans are added.
    return mark_safe("".join(pieces))


def parsed(text: str) -> Any:
    """The object or list that a text is, or None when it is not JSON of that kind."""
    if text[:1] not in "{[":
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
