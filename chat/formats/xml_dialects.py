"""Other ways in which models write calls as text, put into ours before they are read.

    <tool_call>{"name": "calculator", "arguments": {"expression": "6*7"}}</tool_call>
    <calculator expression="6*7" />
    <calculator expression="6*7"></calculator>

What may still become such a call is held back; what does not is passed on as it came. Code is
left alone.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from chat.formats.markdown_code import CodeTracker
from chat.formats.text_calls import CLOSING, LONGEST, OPENING, read_call
from chat.formats.xml_values import format_value
from chat.protocol.frozen import JsonObject

_ATTRIBUTE: Final = re.compile(r"([A-Za-z_][\w-]*)\s*=\s*(\"[^\"]*\"|'[^']*')")


class CallDialects:
    """Feed it pieces, then close it; both give text."""

    def __init__(self, schemas: Mapping[str, JsonObject]) -> None:
        self._schemas = schemas
        self._code = CodeTracker()
        # What is not passed on yet begins here: a cut for each `<` would copy all the rest.
        self._held, self._at = "", 0
        names = "|".join(re.escape(name) for name in sorted(schemas, key=len, reverse=True))
        attributes = r"(?:\s+[A-Za-z_][\w-]*\s*=\s*(?:\"[^\"]*\"|'[^']*'))+\s*"
        self._tag = re.compile(rf"<({names or '(?!)'})({attributes})(/?)>")
        # What such a tag looks like before its end has come.
        self._tag_begun = re.compile(rf"<(?:{names or '(?!)'})\s[^<>]*(?:\"[^\"]*)?")
        self._beginnings = tuple(f"<{name} " for name in schemas)
        self._longest = max(map(len, (OPENING, *self._beginnings)))
        firsts = "".join({re.escape(each[1]) for each in (OPENING, *self._beginnings)})
        self._may_begin = re.compile(rf"<(?:[{firsts}]|\Z)")

    def feed(self, piece: str) -> str:
        self._held += piece
        return self._read(at_end=False)

    def close(self) -> str:
        return self._read(at_end=True)

    def _read(self, *, at_end: bool) -> str:
        done: list[str] = []
        while self._at < len(self._held):
            begun = self._may_begin.search(self._held, self._at)
            self._pass_on(done, begun.start() if begun else len(self._held))
            if self._at == len(self._held) or not self._read_tag(done, at_end=at_end):
                break
        self._held, self._at = self._held[self._at :], 0
        return "".join(done)

    def _read_tag(self, done: list[str], *, at_end: bool) -> bool:
        """Go on behind the `<` that is ahead; False when more text must come first."""
        if not self._code.in_code():
            found = self._call_ahead()
            if found is not None:
                call, self._at = found
                done.append(call)
                self._code.new_line()
                return True
            is_long = len(self._held) - self._at >= LONGEST
            if not at_end and not is_long and self._may_become_call():
                return False
        self._pass_on(done, self._at + 1)
        return True

    def _pass_on(self, done: list[str], end: int) -> None:
        text, self._at = self._held[self._at : end], end
        self._code.feed(text)
        done.append(text)

    def _call_ahead(self) -> tuple[str, int] | None:
        """The call that is ahead, in our way, and where it ends."""
        if self._held.startswith(OPENING, self._at):
            end = self._held.find(CLOSING, self._at, self._at + LONGEST)
            call = self._from_json(self._held[self._at + len(OPENING) : end]) if end >= 0 else None
            return (call, end + len(CLOSING)) if call is not None else None
        found = self._tag.match(self._held, self._at)
        if found is None:
            return None
        values = {name: html.unescape(text[1:-1]) for name, text in _ATTRIBUTE.findall(found[2])}
        opened = self._written(found[1], values, closed=bool(found[3]))
        return opened, found.end()

    def _may_become_call(self) -> bool:
        if self._held.startswith(OPENING, self._at):
            return self._held.find(CLOSING, self._at, self._at + LONGEST) < 0
        begun = self._held[self._at : self._at + self._longest]
        if OPENING.startswith(begun) or any(each.startswith(begun) for each in self._beginnings):
            return True
        return self._tag_begun.fullmatch(self._held, self._at) is not None

    def _from_json(self, text: str) -> str | None:
        call = read_call(text, self._schemas)
        return self._written(call.name, call.arguments, closed=True) if call else None

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
