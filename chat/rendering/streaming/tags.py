"""Finds its way through HTML that we drew ourselves: every tag is whole, every element closed.

In: HTML, and places in it. Out: places, and the elements that are open there. What grows, grows at
the *open end*: just before the end tags that the HTML ends with. The open end of
`<ul><li><p>a</p></li></ul>` is behind the `a`, and the path to it is ul, li, p.
"""

import re
from typing import Final, NamedTuple

_TAG: Final = re.compile(r"<(/?)([a-z0-9]+)[^>]*>")
_VOID: Final = {"br", "hr", "input"}
_LONGEST_REFERENCE: Final = 8


class Element(NamedTuple):
    """An element whose start tag is html[start:end]."""

    name: str
    start: int
    end: int


def split_at_open_end(html: str) -> tuple[str, list[str]]:
    """What stands before the open end, and the elements closed behind it, outermost first."""
    at = len(html)
    names: list[str] = []
    while html.endswith(">", 0, at):
        start = html.rfind("</", 0, at)
        name = html[start + 2 : at - 1]
        if start < 0 or not name.isalnum():
            break
        names.append(name)
        at = start
    return html[:at], names


def path_to_open_end(html: str) -> list[Element]:
    """The elements that are open at the open end, outermost first."""
    return open_elements(html, len(split_at_open_end(html)[0]))


def open_elements(html: str, at: int) -> list[Element]:
    """The elements that have begun before this place and not ended, outermost first."""
    return [Element(tag[2], tag.start(), tag.end()) for tag in _unmatched_start_tags(html, at)]


def open_start_tags(html: str, at: int) -> list[str]:
    """The start tags, with their attributes, of the elements that are open at this place."""
    return [tag[0] for tag in _unmatched_start_tags(html, at)]


def _unmatched_start_tags(html: str, at: int) -> list[re.Match[str]]:
    path: list[re.Match[str]] = []
    for tag in _TAG.finditer(html, 0, at):
        if tag[1]:
            path.pop()
        elif tag[2] not in _VOID:
            path.append(tag)
    return path


def end_of_element(html: str, start: int) -> int:
    """Where the element that starts here ends."""
    depth = 0
    for tag in _TAG.finditer(html, start):
        if tag[2] not in _VOID:
            depth += -1 if tag[1] else 1
        if depth == 0:
            return tag.end()
    return len(html)


def split_by_depth(rest: str) -> list[tuple[int, str]]:
    """Cut HTML that begins inside of open elements at the end tags which close those.

    Each piece comes with the number of elements that were closed before it. Inside of a paragraph
    of an item, ` more</p><p>next</p></li>` is `(0, " more")` and `(1, "<p>next</p>")`.
    """
    pieces: list[tuple[int, str]] = []
    start = depth = closed = 0
    for tag in _TAG.finditer(rest):
        if not tag[1]:
            depth += tag[2] not in _VOID
        elif depth:
            depth -= 1
        else:
            if tag.start() > start:
                pieces.append((closed, rest[start : tag.start()]))
            start = tag.end()
            closed += 1
    return pieces


def next_cut(html: str, at: int) -> int:
    """The next place, from here on, that is not inside of a tag or a character reference."""
    if html.rfind("<", 0, at) > html.rfind(">", 0, at):
        return html.index(">", at) + 1
    reference = html.rfind("&", max(0, at - _LONGEST_REFERENCE), at)
    if reference >= 0 and ";" not in html[reference:at]:
        return html.index(";", at) + 1
    return at


def common_prefix(one: str, two: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(two[low:middle], low):
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(one: str, two: str) -> int:
    """How many characters both end with."""
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        if one.endswith(two[len(two) - middle :]):
            low = middle
        else:
            high = middle - 1
    return low
