"""Other ways in which models write calls as text, put into ours before they are read.

    <tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>
    <calculator expression="6*7" />
    <calculator expression="6*7"></calculator>

What may still become such a call is held back; what does not is passed on as it came. Code is
left alone.
"""

import html
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chat.formats.markdown_code import CodeTracker
from chat.formats.xml_values import format_value
from chat.protocol.frozen import JsonObject

_OPENING: Final = "<tool_call>"
_CLOSING: Final = "</tool_call>"
_ATTRIBUTE: Final = re.compile(r"([A-Za-z_][\w-]*)\s*=\s*(\"[^\"]*\"|'[^']*')")
# A call that grows longer than this is none.
_LONGEST: Final = 100_000


class CallDialects:
    """Feed it pieces, then close it; both give text."""

    def __init__(self, schemas: Mapping[str, JsonObject]) -> None:
        self._schemas = schemas
        self._code = CodeTracker()
        self._held = ""
        names = "|".join(re.escape(name) for name in sorted(schemas, key=len, reverse=True))
        attributes = r"(?:\s+[A-Za-z_][\w-]*\s*=\s*(?:\"[^\"]*\"|'[^']*'))+\s*"
        self._tag = re.compile(rf"<({names or '(?!)'})({attributes})(/?)>")
        # What such a tag looks like before its end has come.
        self._tag_begun = re.compile(rf"<(?:{names or '(?!)'})\s[^<>]*(?:\"[^\"]*)?")
        self._beginnings = tuple(f"<{name} " for name in schemas)

    def feed(self, piece: str) -> str:
        self._held += piece
        return self._read(at_end=False)

    def close(self) -> str:
        return self._read(at_end=True)

    def _read(self, *, at_end: bool) -> str:
        done: list[str] = []
        while self._held:
            place = self._held.find("<")
            if place < 0:
                place = len(self._held)
            self._pass_on(done, place)
            if not self._held or not self._read_tag(done, at_end=at_end):
                break
        return "".join(done)

    def _read_tag(self, done: list[str], *, at_end: bool) -> bool:
        """Go on behind the `<` that is ahead; False when more text must come first."""
        if not self._code.in_code():
            found = self._call_ahead()
            if found is not None:
                call, length = found
                done.append(call)
                self._held = self._held[length:]
                self._code.new_line()
                return True
            if not at_end and len(self._held) < _LONGEST and self._may_become_call():
                return False
        self._pass_on(done, 1)
        return True

    def _pass_on(self, done: list[str], length: int) -> None:
        text, self._held = self._held[:length], self._held[length:]
        self._code.feed(text)
        done.append(text)

    def _call_ahead(self) -> tuple[str, int] | None:
        """The call that is ahead, in our way, and how long it is there."""
        if self._held.startswith(_OPENING):
            end = self._held.find(_CLOSING)
            call = self._from_json(self._held[len(_OPENING) : end]) if end >= 0 else None
            return (call, end + len(_CLOSING)) if call is not None else None
        found = self._tag.match(self._held)
        if found is None:
            return None
        values = {name: html.unescape(text[1:-1]) for name, text in _ATTRIBUTE.findall(found[2])}
        opened = self._written(found[1], values, closed=bool(found[3]))
        return opened, found.end()

    def _may_become_call(self) -> bool:
        held = self._held
        if held.startswith(_OPENING):
            return _CLOSING not in held
        if _OPENING.startswith(held) or any(each.startswith(held) for each in self._beginnings):
            return True
        return self._tag_begun.fullmatch(held) is not None

    def _from_json(self, text: str) -> str | None:
        try:
            call = json.loads(text)
        except (ValueError, RecursionError):
            return None
        name = call.get("name") if isinstance(call, dict) else None
        if not isinstance(name, str) or name not in self._schemas:
            return None
        values = call.get("arguments", call.get("parameters"))
        if isinstance(values, str):
            try:
                values = json.loads(values)
            except (ValueError, RecursionError):
                return None
        return self._written(name, values, closed=True) if isinstance(values, dict) else None

    def _written(self, name: str, values: Mapping[str, Any], *, closed: bool) -> str:
        properties = self._schemas[name].get("properties") or {}
        lines = [f"<{name}>"]
        for key, value in values.items():
            lines.append(
                f"<{key}>\n{format_value(key, value, properties.get(key) or {})}\n</{key}>"
            )
        return "\n".join([*lines, f"</{name}>"] if closed else lines)


def value_without_tag(raw: str, name: str, schema: JsonObject | None) -> dict[str, str] | None:
    """The value of a call that names no parameter, `<calculator>6*7</calculator>`, where only one
    can be meant; None where it cannot be known."""
    text = raw.strip().removesuffix(f"</{name}>").strip()
    wanted: Sequence[str] = (schema or {}).get("required") or ()
    return {wanted[0]: text} if text and len(wanted) == 1 and "<" not in text else None
