"""The values of XML calls: as text, and back with the types of the tool's schema (C3)."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from chat.protocol.frozen import JsonObject

# Their blanks are part of them: only one newline at each end belongs to the tags.
RAW_PARAMS: Final = frozenset({"content"})
# Each ends at the first end: trying others would take twice as long for every further section.
_SECTIONS: Final = re.compile(r"(?:<!\[CDATA\[(?>.*?\]\]>))++", re.DOTALL)
_SECTION: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_INTEGER: Final = re.compile(r"[+-]?\d{1,4000}")
_OPENING: Final = "<![CDATA["
_CLOSING: Final = "]]>"


def in_open_section(value: str) -> bool:
    """Whether a closing tag after this much of a value would stand inside CDATA."""
    return value.lstrip().startswith(_OPENING) and not value.rstrip().endswith(_CLOSING)


def trim(name: str, value: str, raw: frozenset[str] = RAW_PARAMS) -> str:
    """A value without what only separates it from its tags."""
    if name not in raw:
        return value.strip()
    return value.removeprefix("\n").removesuffix("\n")


def parse_value(text: str, schema: JsonObject) -> Any:
    """The value that a text stands for; what does not fit stays text, for the tool to refuse."""
    bare = text.strip()
    if _SECTIONS.fullmatch(bare):
        return "".join(_SECTION.findall(bare))
    kinds = set(_kinds(schema))
    for kind in ("null", "boolean", "integer", "number", "array", "object"):
        if kind in kinds and (found := _read(kind, bare)):
            return found[0]
    return text


def parse_values(values: dict[str, str], schema: JsonObject | None) -> JsonObject:
    """The arguments of a call with the types of its tool's schema."""
    properties = (schema or {}).get("properties") or {}
    return {name: parse_value(text, properties.get(name) or {}) for name, text in values.items()}


def format_value(name: str, value: Any, schema: JsonObject) -> str:
    """A value as text between its tags, such that `parse_value` gives it back."""
    closing = f"</{name}>"
    if not isinstance(value, str):
        plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        return plain.replace("<", "\\u003c") if closing in plain else plain
    lines = f"\n{value}\n"
    is_plain = closing not in value and not in_open_section(lines)
    if is_plain and parse_value(trim(name, lines), schema) == value:
        return value
    return _OPENING + value.replace(_CLOSING, f"]]{_CLOSING}{_OPENING}>") + _CLOSING


def _kinds(schema: JsonObject) -> Iterator[str]:
    named = schema.get("type")
    yield from [named] if isinstance(named, str) else named or ()
    for key in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(key) or ():
            yield from _kinds(one)
    for value in [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]:
        yield _kind_of(value)


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case list():
            return "array"
        case dict():
            return "object"
        case _:
            return "string"


def _read(kind: str, text: str) -> tuple[Any] | None:
    """The text as a value of this kind, in a tuple of one, for the value may be nothing."""
    if kind == "boolean":
        known = {"true": True, "false": False}
        return (known[text.lower()],) if text.lower() in known else None
    if kind == "integer" and _INTEGER.fullmatch(text):
        return (int(text),)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return (int(value),)
    found = _kind_of(value)
    return (value,) if found == kind or (kind, found) == ("number", "integer") else None
