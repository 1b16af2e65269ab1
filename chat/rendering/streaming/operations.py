"""The operations that bring a page forward, and how htmx is told of them.

In: a kind, a CSS selector, HTML. Out: an element with `hx-swap-oob`. For example
`Op("append", "#p4-1-0", " more")` is `<b hx-swap-oob=beforeend:#p4-1-0> more</b>`.
"""

import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

_NEEDS_NO_QUOTES: Final = re.compile(r"[\w#:.-]+")


@dataclass(frozen=True, slots=True)
class Op:
    """One change of the page: append to, fill, replace or remove what `target` selects."""

    kind: Literal["append", "fill", "replace", "remove"]
    target: str
    html: str = ""

    def fragment(self) -> str:
        """The operation as an out-of-band swap of htmx."""
        match self.kind:
            case "append":
                return self._append()
            case "fill":
                return f"<b hx-swap-oob={_quoted('innerHTML:' + self.target)}>{self.html}</b>"
            case "remove":
                return f"<b hx-swap-oob={_quoted('delete:' + self.target)}></b>"
            case "replace":
                return self._replace()

    def _append(self) -> str:
        swap = _quoted(f"beforeend:{self.target}")
        if self.html.startswith("<tbody>"):
            # A parser drops rows outside of a table. In one, it adds the tags left out here.
            rows = self.html.removeprefix("<tbody>").removesuffix("</tr></tbody>")
            return f"<table hx-swap-oob={swap}>{rows}</table>"
        return f"<b hx-swap-oob={swap}>{self.html}</b>"

    def _replace(self) -> str:
        name = re.match(r"<[a-z0-9]+", self.html)
        assert name is not None, "only an element can take an element's place"
        swap = _quoted(f"outerHTML:{self.target}")
        return f"{name[0]} hx-swap-oob={swap}{self.html[name.end() :]}"


def _quoted(value: str) -> str:
    return value if _NEEDS_NO_QUOTES.fullmatch(value) else f'"{value}"'


def joined(ops: list[Op]) -> list[Op]:
    """Appends to the same element, one after the other, are one append."""
    made: list[Op] = []
    for (kind, target), alike in groupby(ops, key=lambda op: (op.kind, op.target)):
        if kind == "append":
            made.append(Op(kind, target, "".join(op.html for op in alike)))
        else:
            made += alike
    return made
