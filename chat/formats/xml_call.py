"""One XML tool call while it is being written."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from chat.formats.xml_values import RAW_PARAMS, trim
from chat.protocol.interfaces import ToolSpec


@dataclass(frozen=True, slots=True)
class XmlGrammar:
    """The tags of the tools and their parameters, and how much may stand between them."""

    tools: Mapping[str, frozenset[str]]  # the parameters of each tool
    raw_params: frozenset[str] = RAW_PARAMS
    # Parameters whose text may contain their own closing tag: the last one in the call counts.
    last_close: frozenset[tuple[str, str]] = frozenset()
    max_message: int = 1024 * 1024
    max_param: int = 100 * 1024

    @classmethod
    def of(cls, tools: Sequence[ToolSpec]) -> "XmlGrammar":
        params = {tool.name: frozenset(tool.parameters.get("properties") or ()) for tool in tools}
        raw = {(name, one) for name, known in params.items() for one in known & RAW_PARAMS}
        return cls(tools=params, last_close=frozenset(raw))

    def tags(self, tool: str) -> tuple[str, ...]:
        """The tags that may follow between the parameters of a call."""
        own = [f"<{name}>" for name in sorted(self.tools[tool])]
        endings = [f"</{param}>" for name, param in self.last_close if name == tool]
        return (f"</{tool}>", *own, *sorted(endings))


class Tags:
    """Tags to look for; none of them begins another, for all end in `>`."""

    def __init__(self, tags: Sequence[str]) -> None:
        self.all = tuple(tags)
        self.longest = max(map(len, tags), default=0)
        self.beginnings = {tag[:length] for tag in tags for length in range(1, len(tag))}
        self.pattern = re.compile("|".join(map(re.escape, tags)) or r"(?!)")


@dataclass(slots=True)
class OpenParam:
    """A parameter whose closing tag has not come yet."""

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
    """A call whose closing tag has not come yet.

    It is certain once a parameter or its closing tag was seen: till then the tag may just be
    mentioned in a sentence.
    """

    call_id: str
    name: str
    start: int  # in the message
    grammar: XmlGrammar
    is_certain: bool = False
    stray_characters: int = 0  # apart from blanks: those that belong to no parameter
    param: OpenParam | None = None
    too_long: list[str] = field(default_factory=list)
    _raw: list[str] = field(default_factory=list)
    _new_text: list[str] = field(default_factory=list)
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

    def take_new_text(self) -> str:
        """What was added since this was called last."""
        new, self._new_text = "".join(self._new_text), []
        return new

    def add(self, text: str) -> None:
        self._raw.append(text)
        self._new_text.append(text)
        self._length += len(text)

    def open_param(self, name: str) -> None:
        self.param = OpenParam(name, self._length)

    def note_closing_tag(self) -> None:
        """A parameter's closing tag stands here: it counts if none comes after it."""
        self._last_close = self._length

    def close_param(self) -> None:
        param, self.param = self.param, None
        assert param is not None
        value = trim(param.name, param.text(), self.grammar.raw_params)
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
        found = self._value_with_tags()
        if found:
            name, start, end = found
            inside = range(start, end)
            values = [one for one in values if one[1] not in inside]
            text = trim(name, self.raw()[start:end], self.grammar.raw_params)
            values = sorted([*values, (name, start, text)], key=lambda one: one[1])
        result = {name: value for name, _, value in values}
        if self.param and not (found and found[0] == self.param.name):
            result[self.param.name] = self.param.text() + held
        return result

    def _value_with_tags(self) -> tuple[str, int, int] | None:
        """The parameter that may contain its own closing tag: its name, start and end."""
        if self._last_close is None:
            return None
        for name, start, _ in self._values:
            if (self.name, name) in self.grammar.last_close:
                return name, start, self._last_close
        return None
