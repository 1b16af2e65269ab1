"""From the HTML that is shown to the HTML that should be: the smallest operations."""

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, Literal

_CLOSERS: Final = re.compile(r"(?:</[a-z0-9]+>)+\Z")
_TAG: Final = re.compile(r"<(/?)([a-z0-9]+)[^>]*>")
_VOID: Final = {"br", "hr", "input"}
# Elements that are the only one of their kind in their parent: the short way to point at them.
_ONLY: Final = {
    ("div", "table"): ">*",
    ("tbody", "tr"): ">*",
    ("figure", "pre"): ">pre",
    ("pre", "code"): ">*",
}
_OPEN_ROW: Final = re.compile(
    r"(<tr>)((?:<td[^>]*>(?:(?!</?t[rd]).)*</td>)+)</tr></tbody></table></div>(?:</[a-z0-9]+>)*\Z",
    re.S,
)
_CELL: Final = re.compile(r"<td[^>]*>.*?</td>", re.S)
_SAFE: Final = re.compile(r"[\w#:.-]+")


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
    return value if _SAFE.fullmatch(value) else f'"{value}"'


@dataclass(slots=True)
class Shown:
    """A top-level element on the page. `head` stands for what is final in it and no longer
    rendered: the page has head + html[bare:], the renderer only sees html."""

    id: str
    html: str
    bare: int = 0
    head: list[str] = field(default_factory=list)
    instead: str | None = None
    coloured: bool = False

    def whole(self) -> str:
        """All of the element as it is on the page."""
        if self.instead is not None:
            return self.instead
        return "".join(self.head) + self.html[self.bare :]

    def fits(self, new: str) -> bool:
        """Whether `new` still begins as what is final here does."""
        return new.startswith(self.html[: self.bare])

    def show_instead(self, whole: str) -> list[Op]:
        """Show `whole` for now, which the shortened source cannot say."""
        changed = whole != self.whole()
        self.instead = whole
        return [Op("replace", f"#{self.id}", whole)] if changed else []

    def update(self, new: str) -> list[Op]:
        """Operations that turn what is shown into `new`, which `fits`."""
        if self.instead is not None:
            before, self.instead, self.html = self.instead, None, new
            return [Op("replace", f"#{self.id}", self.whole())] if self.whole() != before else []
        if new == self.html:
            return []
        ops = self._grow(new)
        if ops is None:
            ops = self._grow_row(new)
        if ops is None:
            ops = self._replace(new)
        self.html = new
        return ops

    def _grow(self, new: str) -> list[Op] | None:
        closers = _CLOSERS.search(self.html)
        if closers is None or not new.startswith(self.html[: closers.start()]):
            return None
        tags = closers[0][2:-1].split("></")[::-1]
        return _appends(new[closers.start() :], f"#{self.id}", tags)

    def _grow_row(self, new: str) -> list[Op] | None:
        """Cells of the open row: all are there from its start, so each grows in its place."""
        old_row, new_row = _OPEN_ROW.search(self.html), _OPEN_ROW.search(new)
        if not old_row or not new_row or self.html[: old_row.end(1)] != new[: new_row.end(1)]:
            return None
        old_cells, new_cells = _CELL.findall(old_row[2]), _CELL.findall(new_row[2])
        if len(old_cells) != len(new_cells):
            return None
        tags = [tag for tag, _, _ in _spine(self.html)]
        row = _selector(f"#{self.id}", tags[: len(tags) - tags[::-1].index("tr")])
        ops: list[Op] = []
        for n, (old, cell) in enumerate(zip(old_cells, new_cells, strict=True), start=1):
            ops += _grow_cell(f"{row}>:nth-child({n})", old, cell)
        return ops

    def _replace(self, new: str) -> list[Op]:
        spine = _spine(self.html)
        same = _common_prefix(self.html, new)
        at = max((n for n, (_, _, end) in enumerate(spine) if end <= same), default=0)
        # Parts of a table's row cannot travel alone, so its body goes as the row.
        while at and spine[at][0] in ("td", "th", "tr", "thead", "tbody"):
            at -= 1
        tags = [tag for tag, _, _ in spine]
        if not spine or at == 0:
            return [Op("replace", f"#{self.id}", "".join(self.head) + new[self.bare :])]
        start = spine[at][1]
        end = _end(new, start)
        element = new[start:end]
        if start < self.bare:
            head = "".join(self.head)
            element = head[_spine(head)[at][1] :] + new[self.bare : end]
        first = Op("replace", _selector(f"#{self.id}", tags[: at + 1]), element)
        return [first, *_appends(new[end:], f"#{self.id}", tags[:at])]

    def colour(self, code_html: str) -> list[Op]:
        """Put coloured code in the place of the plain code that `head` ends with."""
        spine = _spine(self.html)
        head = "".join(self.head)
        start = head.rindex("<code")
        end = head.index(">", start) + 1
        self.head, self.coloured = [head[:end], code_html], True
        tags = [tag for tag, _, stop in spine if stop <= self.bare]
        element = f"{head[start:end]}{code_html}</code>"
        return [Op("replace", _selector(f"#{self.id}", tags), element)]

    def settle(self, new: str) -> bool:
        """Forget what `new`, drawn from a shortened source, no longer shows: it stays in `head`.
        Refuse when the two do not agree on what is still open."""
        old = self.html
        cut = _boundary(new, len(new) - _common_suffix(old, new))
        before = len(old) - (len(new) - cut)
        if before < self.bare or _open_tags(old[:before]) != _open_tags(new[:cut]):
            return False
        self.head.append(old[self.bare : before])
        self.html, self.bare, self.coloured = new, cut, False
        return True


def _grow_cell(selector: str, old: str, new: str) -> list[Op]:
    if old == new:
        return []
    start = old.removesuffix("</td>")
    if new.startswith(start):
        return [Op("append", selector, new[len(start) :].removesuffix("</td>"))]
    return [Op("fill", selector, new[new.index(">") + 1 :].removesuffix("</td>"))]


def _selector(root: str, tags: list[str]) -> str:
    return root + "".join(_ONLY.get(pair, ">:last-child") for pair in pairwise(tags))


def _appends(rest: str, root: str, tags: list[str]) -> list[Op]:
    """`rest` continues inside the innermost of `tags`; every unmatched end tag goes one up."""
    ops: list[Op] = []
    start = depth = 0
    level = len(tags)
    for match in _TAG.finditer(rest):
        if not match[1]:
            depth += match[2] not in _VOID
        elif depth:
            depth -= 1
        else:
            _append(ops, rest[start : match.start()], root, tags[:level])
            start = match.end()
            level -= 1
    return ops


def _append(ops: list[Op], html: str, root: str, tags: list[str]) -> None:
    if html:
        ops.append(Op("append", _selector(root, tags), html))


def _spine(html: str) -> list[tuple[str, int, int]]:
    """The elements open just before the trailing end tags: (tag, start, end of start tag)."""
    closers = _CLOSERS.search(html)
    stop = closers.start() if closers else len(html)
    open_: list[tuple[str, int, int]] = []
    for match in _TAG.finditer(html, 0, stop):
        if match[1]:
            open_.pop()
        elif match[2] not in _VOID:
            open_.append((match[2], match.start(), match.end()))
    return open_


def _open_tags(html: str) -> list[str]:
    open_: list[str] = []
    for match in _TAG.finditer(html):
        if match[1]:
            open_.pop()
        elif match[2] not in _VOID:
            open_.append(match[0])
    return open_


def _end(html: str, start: int) -> int:
    """Where the element that starts at `start` ends."""
    depth = 0
    for match in _TAG.finditer(html, start):
        if match[2] not in _VOID:
            depth += -1 if match[1] else 1
        if depth == 0:
            return match.end()
    return len(html)


def _boundary(html: str, at: int) -> int:
    """The next place that is not inside a tag or a character reference."""
    if html.rfind("<", 0, at) > html.rfind(">", 0, at):
        return html.index(">", at) + 1
    reference = html.rfind("&", max(0, at - 8), at)
    if reference >= 0 and ";" not in html[reference:at]:
        return html.index(";", at) + 1
    return at


def _common_prefix(one: str, two: str) -> int:
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(two[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: str, two: str) -> int:
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one.endswith(two[len(two) - middle :]):
            low = middle
        else:
            high = middle - 1
    return low
