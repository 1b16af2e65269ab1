"""One XML tool call while it is being written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chat.formats.xml_values import RAW_PARAMS, trimmed
from chat.protocol.interfaces import ToolSpec


@dataclass(frozen=True, slots=True)
class XmlGrammar:
    """The tags that mean something, and how much may stand between them."""

    tools: Mapping[str, frozenset[str]]  # the parameters of each tool
    raw_params: frozenset[str] = RAW_PARAMS
    # What may hold its own closing tag: the last one of the call ends it.
    last_close: frozenset[tuple[str, str]] = frozenset()
    max_message: int = 1024 * 1024
    max_param: int = 100 * 1024

    @classmethod
    def of(cls, tools: Sequence[ToolSpec]) -> "XmlGrammar":
        params = {tool.name: frozenset(tool.parameters.get("properties") or ()) for tool in tools}
        raw = {(name, one) for name, known in params.items() for one in known & RAW_PARAMS}
        return cls(tools=params, last_close=frozenset(raw))


@dataclass(slots=True)
class OpenParam:
    name: str
    start: int  # where its value begins in the raw call
    value: list[str] = field(default_factory=list)
    length: int = 0

    @property
    def closing(self) -> str:
        return f"</{self.name}>"

    def add(self, text: str) -> None:
        self.value.append(text)
        self.length += len(text)

    def text(self) -> str:
        if len(self.value) > 1:
            self.value = ["".join(self.value)]
        return self.value[0] if self.value else ""


@dataclass(slots=True)
class OpenCall:
    """`is_sure` once a parameter or the closing tag was seen: till then it may be a mention."""

    call_id: str
    name: str
    start: int  # in the message
    grammar: XmlGrammar
    is_sure: bool = False
    strays: int = 0  # characters, apart from blanks, that belong to no parameter
    param: OpenParam | None = None
    too_long: list[str] = field(default_factory=list)
    _raw: list[str] = field(default_factory=list)
    _untold: list[str] = field(default_factory=list)
    _length: int = 0
    _values: list[tuple[str, int, str]] = field(default_factory=list)
    _last_close: int | None = None

    @property
    def opening(self) -> str:
        return f"<{self.name}>"

    @property
    def closing(self) -> str:
        return f"</{self.name}>"

    def raw(self) -> str:
        if len(self._raw) > 1:
            self._raw = ["".join(self._raw)]
        return self._raw[0] if self._raw else ""

    def untold(self) -> str:
        """What was heard since this was asked last."""
        new, self._untold = "".join(self._untold), []
        return new

    def tags(self) -> tuple[str, ...]:
        """What is looked for between parameters."""
        own = [f"<{name}>" for name in sorted(self.grammar.tools[self.name])]
        endings = [f"</{param}>" for tool, param in self.grammar.last_close if tool == self.name]
        return (self.closing, *own, *sorted(endings))

    def hear(self, text: str) -> None:
        self._raw.append(text)
        self._untold.append(text)
        self._length += len(text)

    def open(self, name: str) -> None:
        self.param = OpenParam(name, self._length)

    def note_close(self) -> None:
        """A parameter's closing tag begins here: it counts if none comes after it."""
        self._last_close = self._length

    def close_param(self) -> None:
        param, self.param = self.param, None
        assert param is not None
        value = trimmed(param.name, param.text(), self.grammar.raw_params)
        self._values.append((param.name, param.start, value))

    def abandon_param(self) -> None:
        """It is too long: what follows belongs to no parameter."""
        param, self.param = self.param, None
        assert param is not None
        self.too_long.append(param.name)
        self._values.append((param.name, param.start, param.text()))

    def values(self, held: str = "") -> dict[str, str]:
        """The parameters so far; the last of those with one name wins."""
        values = self._values
        found = self._greedy()
        if found:
            name, start, end = found
            inside = range(start, end)
            values = [one for one in values if one[1] not in inside]
            text = trimmed(name, self.raw()[start:end], self.grammar.raw_params)
            values = sorted([*values, (name, start, text)], key=lambda one: one[1])
        result = {name: value for name, _, value in values}
        if self.param and not (found and found[0] == self.param.name):
            result[self.param.name] = self.param.text() + held
        return result

    def _greedy(self) -> tuple[str, int, int] | None:
        if self._last_close is None:
            return None
        for name, start, _ in self._values:
            if (self.name, name) in self.grammar.last_close:
                return name, start, self._last_close
        return None


def alternatives(tags: Sequence[str]) -> re.Pattern[str]:
    """Matches any of the tags; none of them begins another, for all end in `>`."""
    return re.compile("|".join(map(re.escape, tags)) or r"(?!)")
