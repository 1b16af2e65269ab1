"""Where the blocks of a source stand.

In: markdown. Out: the way down to its last block, which is the one that still grows. `> - a⏎> - b`
is a root with a blockquote with a list, whose last item is the second.
"""

import re
from dataclasses import dataclass
from typing import Final

from chat.rendering.streaming.parse import BLOCK, parse

_POSITION: Final = re.compile(r'data-sourcepos="(\d+):(\d+)-(\d+):')


@dataclass(slots=True)
class Node:
    """A block of the source, named after its HTML element. Lines and columns count from 1, as
    comrak counts them; a block that comrak gives no place has line 0.

    `has_loose_end` says that text stands after the last child, which is no block: comrak draws
    such text (a tight list item, escaped HTML) without an element, and says not where it is."""

    tag: str
    html: str = ""
    count: int = 0  # of its children, of which only the last is kept
    child: "Node | None" = None
    has_loose_end: bool = False

    @property
    def last(self) -> "Node | None":
        """The child that is still open, if it is a block."""
        return None if self.has_loose_end else self.child

    @property
    def line(self) -> int:
        return self._position(1)

    @property
    def column(self) -> int:
        return self._position(2)

    @property
    def end_line(self) -> int:
        return self._position(3)

    def _position(self, n: int) -> int:
        found = _POSITION.search(self.html)
        return int(found[n]) if found else 0


def outline(source: str) -> Node:
    """The blocks of a source, under a root of their own; footnotes, which are drawn last, are
    left out."""
    raw = parse(source, positions=True)
    root = Node("root")
    path = [root]
    end = 0
    for match in BLOCK.finditer(raw):
        parent, start = path[-1], match.start()
        if start > end and not raw[end:start].isspace():
            parent.has_loose_end = True
        end = match.end()
        tag = match["leaf"] or match["box"] or "hr"
        if match["end"]:
            path.pop()
        elif tag == "section":
            path.append(Node(tag))
        elif not match[0].startswith("<input"):
            parent.child = node = Node(tag, match[0])
            parent.count += 1
            parent.has_loose_end = False
            if match["box"]:
                path.append(node)
    root.has_loose_end = bool(raw[end:].strip())
    return root
