"""From the HTML that is shown to the HTML that should be, by as little as possible.

In: the selector of a top-level element, its HTML before and its HTML now. Out: operations, or None
where the change is of another kind. From `<p>a</p>` to `<p>ab</p>` it is one append of `b`; from
`<ul><li>a</li></ul>` to `<ul><li>a</li><li>b</li></ul>` one append of `<li>b</li>` to the list.
"""

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from chat.rendering.streaming.operations import Op
from chat.rendering.streaming.tags import path_to_open_end, split_at_open_end, split_by_depth

# Elements that are the only one of their kind in their parent: the short way to point at them.
_ONLY_CHILD: Final = {
    ("div", "table"): ">table",
    ("tbody", "tr"): ">*",
    ("figure", "pre"): ">pre",
    ("pre", "code"): ">*",
}
_LAST_ROW: Final = re.compile(
    r"(<tr>)((?:<td[^>]*>(?:(?!</?t[rd]).)*</td>)+)</tr></tbody></table></div>(?:</[a-z0-9]+>)*\Z",
    re.S,
)
_CELL: Final = re.compile(r"<td[^>]*>.*?</td>", re.S)


def selector(root: str, names: Iterable[str]) -> str:
    """The last element of each of these names, one inside of the other; the first is the root."""
    return root + "".join(_ONLY_CHILD.get(pair, ">:last-child") for pair in pairwise(names))


def appends(root: str, names: list[str], rest: str) -> list[Op]:
    """Add HTML that begins inside the innermost of these elements and may go on outside of it."""
    return [
        Op("append", selector(root, names[: len(names) - closed]), html)
        for closed, html in split_by_depth(rest)
    ]


def grow_at_the_end(root: str, old: str, new: str) -> list[Op] | None:
    """Appends, if nothing that is shown has changed."""
    before, names = split_at_open_end(old)
    if not names or not new.startswith(before):
        return None
    return appends(root, names, new[len(before) :])


def grow_in_last_row(root: str, old: str, new: str) -> list[Op] | None:
    """Changes of cells, if all else is as it was.

    A row has all its cells from its first character on, empty ones at the end. So it does not
    grow at the open end, which is in its last cell, but in any cell.
    """
    old_row, new_row = _LAST_ROW.search(old), _LAST_ROW.search(new)
    if not old_row or not new_row or old[: old_row.end(1)] != new[: new_row.end(1)]:
        return None
    old_cells, new_cells = _CELL.findall(old_row[2]), _CELL.findall(new_row[2])
    if len(old_cells) != len(new_cells):
        return None
    names = [element.name for element in path_to_open_end(old)]
    row = selector(root, names[: len(names) - names[::-1].index("tr")])
    ops: list[Op] = []
    for n, (old_cell, new_cell) in enumerate(zip(old_cells, new_cells, strict=True), start=1):
        if old_cell != new_cell:
            ops.append(_cell_change(f"{row}>:nth-child({n})", old_cell, new_cell))
    return ops


def _cell_change(target: str, old: str, new: str) -> Op:
    before = old.removesuffix("</td>")
    if new.startswith(before):
        return Op("append", target, new[len(before) :].removesuffix("</td>"))
    return Op("fill", target, new[new.index(">") + 1 :].removesuffix("</td>"))
