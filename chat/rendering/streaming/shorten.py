"""Shorten the source of an open block to what can still change.

In: the source of the open block. Out: a shorter source that goes on in the same way, or the same
one. A block only ever grows at its end, so what its elder children say is final:

    - a             the list needs just its last item
    - b
    - c             →  - c

    > one           a quote or an item of several paragraphs needs its marker
    >               and its last child
    > two           →  > two

    ```py           open code needs its first line
    x = 1           →  ```py

What is left out stays on the page.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from chat.rendering.streaming.marks import has_no_open_marks
from chat.rendering.streaming.outline import Node, outline

_LISTS: Final = ("ul", "ol")
_MARKER: Final = re.compile(r"(?:([-+*])|(\d{1,9})([.)]))( {1,4})(?=\S)")
_NUMBER: Final = re.compile(r"\d+[.)]")
_QUOTE: Final = re.compile(r"> ?(?=\S)")
_QUOTED_LINE: Final = " {0,3}> ?"
_FENCE: Final = re.compile(r"(`{3,}|~{3,})")
_CONTAINERS: Final = re.compile(r" {0,3}(?:(?:[-+*]|\d{1,9}[.)]) {1,4}|> ?)*(?:\[[ xX]\] )?")
_DEFINITIONS: Final = re.compile(r"(?:\[[^\]^\n][^\]\n]*+\]: *\S++(?: +[\"'(][^\n]*+)?\n++)++")
_BLOCK_STARTS: Final = "-+*#>|`~=:<_ \t\n0123456789"

# At least so much of a long paragraph is kept, and more while a mark in it waits for its end, or
# no word begins in the `_FAR` characters before; from `_PATIENCE` on it is cut all the same.
_KEPT: Final = 64
_FAR: Final = 400
_PATIENCE: Final = 1600


def last_block(source: str) -> str:
    """The source from the start of its last top-level block on."""
    root = outline(source)
    assert root.child is not None
    start = root.child.end_line if root.has_loose_end else root.child.line - 1
    return "\n".join(source.split("\n")[start:])


def shorten(source: str) -> str:
    """The shortest source that goes on as this one would, cut at the ends of lines."""
    root = outline(source)
    if root.count != 1 or root.last is None:
        return source
    return [source, *_shorter_sources(source.split("\n"), root.last)][-1]


def shorten_paragraph(source: str) -> str:
    """Leave out the beginning of a long paragraph, up to a word nothing later can reach into."""
    is_impatient = len(source) >= _PATIENCE
    at = _start_of_a_word(source)
    if at is None and is_impatient:
        at = _place_inside_of_a_word(source)
    if at is None or "|" in source[:at]:
        return source
    if not is_impatient and not has_no_open_marks(source[:at]):
        return source
    containers = _CONTAINERS.match(source)
    return (containers[0] if containers else "") + source[at:]


def _start_of_a_word(source: str) -> int | None:
    """The last one that is far enough from both ends, if it is not far to look for."""
    last = len(source) - _KEPT
    for at in range(last, max(_KEPT, last - _FAR), -1):
        if _begins_a_word(source, at):
            return at
    return None


def _begins_a_word(source: str, at: int) -> bool:
    """Whether a word begins here; Chinese has no spaces, so it may be cut between any two signs."""
    before, after = source[at - 1], source[at]
    if after.isdecimal():
        return before in " \n" and _NUMBER.match(source, at) is None
    if not after.isalpha():
        return False
    return before in " \n" or (before.isalpha() and before > "\u2e7f" and after > "\u2e7f")


def _place_inside_of_a_word(source: str) -> int | None:
    """Far enough from the end, where what is left does not look like the start of a block."""
    at = len(source) - _KEPT
    is_in_last_line = at > source.rfind("\n") + 1
    return at if is_in_last_line and source[at] not in _BLOCK_STARTS else None


def without_definitions(source: str) -> str:
    """Where nothing is shown, complete definitions of links can go; the last may still grow."""
    if source.isspace():
        return source[source.rfind("\n") + 1 :]
    last = source.rstrip("\n").rfind("\n") + 1
    return source[last:] if _DEFINITIONS.fullmatch(source) else source


# --- down the open path -------------------------------------------------------------


class _Place(NamedTuple):
    """A place in the source on the way down to its open end.

    In `> - a⏎>   b`, at `b`, `markers` is `> - ` (what a source that begins with `b` has to repeat
    before it), `prefix` matches `>   ` (what a line inside of both begins with) and `rest` is `b`.
    """

    row: int
    markers: str
    prefix: str
    rest: str

    def source(self, following: list[str]) -> str:
        """The source that begins here, and goes on with these lines."""
        return "\n".join([self.markers + self.rest, *following])


def _shorter_sources(lines: list[str], block: Node) -> Iterator[str]:
    """Go from a block to its last child, and on to that one's, as far as it is safe; each step
    gives a shorter source."""
    place = _first_place(lines, block)
    node = block
    while place is not None:
        if node.tag in _LISTS:
            item = node.last
            place = _in_last_item(lines, place, item)
            if item is None or place is None:
                return
            yield place.source(lines[place.row + 1 :])
            node = item
        elif node.tag == "blockquote":
            place = _in_quote(place)
        else:
            yield from _shorter_leaf(lines, place, node)
            return
        child = node.last
        if place is None or child is None or child.line == 0:
            return
        if child.line - 1 != place.row:
            place = _on_line_of(child, lines, place)
            if place is None:
                return
            yield place.source(lines[place.row + 1 :])
        node = child


def _first_place(lines: list[str], block: Node) -> _Place | None:
    first = lines[block.line - 1]
    indent = first[: block.column - 1]
    if indent.strip(" ") or block.line == 0:
        return None
    kept = indent if block.tag in _LISTS else ""
    return _Place(block.line - 1, markers=kept, prefix=kept, rest=first[len(indent) :])


def _on_line_of(node: Node, lines: list[str], place: _Place) -> _Place | None:
    """Where a later line begins this block, if nothing but the containers stands before it."""
    line = lines[node.line - 1]
    before, rest = line[: node.column - 1], line[node.column - 1 :]
    if re.fullmatch(place.prefix, before) is None or rest[:1] in ("", " ", "\t"):
        return None
    return _Place(node.line - 1, place.markers, place.prefix, rest)


def _in_last_item(lines: list[str], place: _Place, item: Node | None) -> _Place | None:
    """Behind the marker of the last item, which is given the number of the first: that is the
    number the list is drawn with."""
    first = _MARKER.match(place.rest)
    if item is None or first is None or item.tag != "li":
        return None
    at_item = place if item.line - 1 == place.row else _on_line_of(item, lines, place)
    marker = _MARKER.match(at_item.rest) if at_item else None
    if at_item is None or marker is None:
        return None
    sign = first[1] or f"{first[2]}{first[3]}"
    width = len(marker[0])
    if not 1 <= width - len(sign) <= 4:
        return None
    markers, prefix = place.markers + sign.ljust(width), place.prefix + " " * width
    return _Place(at_item.row, markers, prefix, at_item.rest[width:])


def _in_quote(place: _Place) -> _Place | None:
    mark = _QUOTE.match(place.rest)
    if mark is None:
        return None
    rest = place.rest[len(mark[0]) :]
    return _Place(place.row, place.markers + "> ", place.prefix + _QUOTED_LINE, rest)


def _shorter_leaf(lines: list[str], place: _Place, leaf: Node) -> Iterator[str]:
    """A table needs its first two lines, code its first and, once it is closed, its last."""
    if leaf.tag == "table":
        yield place.source(lines[place.row + 1 : place.row + 2] + lines[leaf.end_line :])
    fence = _FENCE.match(place.rest) if leaf.tag == "pre" else None
    if fence is not None:
        last = leaf.end_line - 1
        closing = rf"[ >]*{re.escape(fence[0])}{fence[0][0]}*\s*"
        is_closed = last > place.row and re.fullmatch(closing, lines[last]) is not None
        yield place.source(lines[last:] if is_closed else [""])
