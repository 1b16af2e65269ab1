"""Shorten the source of an open block to what can still change.

An open block only ever grows at its end, so what its elder children say is final. The list
`- a / - b / - c` needs just `- c` to go on; an item of several paragraphs needs its marker and
its last child; an open code block needs its first line. What is left out stays on the page.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from chat.rendering.blocks import BLOCK, parse
from chat.rendering.unfinished import PREFIX, finished

_POSITION: Final = re.compile(r'data-sourcepos="(\d+):(\d+)-(\d+):')
_MARKER: Final = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))( {1,4})(?=\S)")
_QUOTE: Final = re.compile(r"> ?(?=\S)")
_DEFINITIONS: Final = re.compile(r"(?:\[[^\]^\n][^\]\n]*\]: *\S+\n)+")
_BLOCK_STARTS: Final = "-+*#>|`~=:<_ \t\n0123456789"
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")


@dataclass(slots=True)
class Node:
    """A block of the source and where it stands: lines and columns from 1, as comrak counts."""

    tag: str
    line: int
    column: int
    end: int
    children: list["Node"] = field(default_factory=list)
    loose_end: bool = False

    @property
    def last(self) -> "Node | None":
        return self.children[-1] if self.children and not self.loose_end else None


def outline(source: str) -> Node:
    """The blocks of a source. `loose_end` marks text after the last child, which has no place."""
    raw = parse(source, positions=True)
    root = Node("root", 1, 1, 1)
    path = [root]
    end = 0
    for match in BLOCK.finditer(raw):
        if raw[end : match.start()].strip():
            path[-1].loose_end = True
        end = match.end()
        if match["end"]:
            path.pop()
        elif not match[0].startswith("<input"):
            node = _node(match)
            path[-1].children.append(node)
            path[-1].loose_end = False
            if match["box"]:
                path.append(node)
    root.loose_end = bool(raw[end:].strip())
    root.children = [node for node in root.children if node.tag != "section"]
    return root


def _node(match: re.Match[str]) -> Node:
    found = _POSITION.search(match[0])
    line, column, end = (int(found[n]) for n in (1, 2, 3)) if found else (0, 0, 0)
    return Node(match["leaf"] or match["box"] or "hr", line, column, end)


def last_block(source: str, root: Node) -> str:
    """The source from the start of its last top-level block on."""
    lines = source.split("\n")
    start = root.children[-1].end if root.loose_end else root.children[-1].line - 1
    return "\n".join(lines[start:])


class _Stop(Exception):
    """Here the source cannot be shortened further without risk."""


class Shortening:
    """Goes down the open path of a block and remembers the best cut so far."""

    def __init__(self, source: str, block: Node) -> None:
        self.lines = source.split("\n")
        self.row = block.line - 1
        first = self.lines[self.row]
        self.indent = first[: block.column - 1]
        self.lead = self.indent if block.tag in ("ul", "ol") else ""
        self.pattern = ""
        self.rest = first[len(self.indent) :]
        self.best = source

    def run(self, block: Node) -> str:
        if self.indent.strip(" ") or block.line == 0:
            return self.best
        node: Node | None = block
        try:
            while node is not None:
                node = self._enter(node)
        except _Stop:
            pass
        return self.best

    def _enter(self, node: Node) -> Node | None:
        match node.tag:
            case "ul" | "ol":
                return self._list(node)
            case "blockquote":
                return self._quote(node)
            case "pre":
                self._code(node)
            case "table":
                self._keep(self.lines[self.row + 1 : self.row + 2] + self.lines[node.end :])
        return None

    def _list(self, node: Node) -> Node | None:
        number = _MARKER.match(self.rest)
        item = node.last
        if item is None or number is None or item.tag != "li":
            raise _Stop
        if item.line - 1 != self.row:
            self._move(item, self.pattern if self.pattern else " " * len(self.indent))
        marker = _MARKER.match(self.rest)
        if marker is None:
            raise _Stop
        width = len(marker[0])
        sign = number[1] or f"{number[2]}{number[3]}"
        if not 1 <= width - len(sign) <= 4:
            raise _Stop
        self.pattern = (self.pattern or " " * len(self.indent)) + " " * width
        self.lead += sign.ljust(width)
        self.rest = self.rest[width:]
        self._keep(self.lines[self.row + 1 :])
        return self._child(item)

    def _quote(self, node: Node) -> Node | None:
        mark = _QUOTE.match(self.rest)
        if mark is None:
            raise _Stop
        self.lead += "> "
        self.pattern += " {0,3}> ?"
        self.rest = self.rest[len(mark[0]) :]
        return self._child(node)

    def _child(self, parent: Node) -> Node | None:
        child = parent.last
        if child is None or child.line == 0:
            return None
        if child.line - 1 != self.row:
            self._move(child, self.pattern)
            self._keep(self.lines[self.row + 1 :])
        return child

    def _move(self, node: Node, pattern: str) -> None:
        line = self.lines[node.line - 1]
        before = line[: node.column - 1]
        if re.fullmatch(pattern, before) is None or line[node.column - 1 :][:1] in ("", " ", "\t"):
            raise _Stop
        self.row = node.line - 1
        self.rest = line[node.column - 1 :]

    def _code(self, node: Node) -> None:
        fence = _FENCE.match(self.rest)
        if fence is None:
            raise _Stop
        closing = rf"[ >]*{re.escape(fence[0])}{fence[0][0]}*\s*"
        last = node.end - 1
        closed = last > self.row and re.fullmatch(closing, self.lines[last]) is not None
        self._keep(self.lines[last:] if closed else [""])

    def _keep(self, following: list[str]) -> None:
        self.best = "\n".join([self.lead + self.rest, *following])


def shorten(source: str) -> str:
    """A shorter source that goes on as `source` would; the same source if there is none."""
    root = outline(source)
    if len(root.children) != 1 or root.loose_end:
        return source
    block = root.children[0]
    return Shortening(source, block).run(block)


def shorten_paragraph(source: str, keep: int, patience: int) -> str:
    """Leave out the beginning of a long paragraph, up to a word nothing later can reach into."""
    line_start = source.rfind("\n") + 1
    at = len(source) - keep
    while at > line_start + keep and not _between_words(source[at - 1], source[at]):
        at -= 1
    impatient = len(source) >= patience
    if at <= line_start + keep:
        at = len(source) - keep
        if not impatient or at <= line_start or source[at] in _BLOCK_STARTS:
            return source
    if "|" in source[:at] or not (impatient or finished(source[:at])):
        return source
    prefix = PREFIX.match(source)
    return (prefix[0] if prefix else "") + source[at:]


def without_definitions(source: str) -> str:
    """Where nothing is shown, complete definitions of links can go; the last may still grow."""
    last = source.rstrip("\n").rfind("\n") + 1
    return source[last:] if _DEFINITIONS.fullmatch(source) else source


def _between_words(before: str, after: str) -> bool:
    if not after.isalpha():
        return False
    return before == " " or (before.isalpha() and before > "\u2e7f" and after > "\u2e7f")
