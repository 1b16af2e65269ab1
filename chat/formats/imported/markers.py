"""Marks that chats leave in a text for their sources → the text without them, and the sources.

ChatGPT and LibreChat put private-use characters around the names of what was found
(`\\ue200cite\\ue202turn0search3\\ue201`); earlier ones wrote `【3†source】`. What a mark means
stands beside the text, and some of it nowhere: then it vanishes.
"""

import json
import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from chat.protocol.citations import MOST, Citation, is_web_address

# What a mark leads to: addresses with their titles, and words of the source.
Found = tuple[Citation, ...]
Resolve = Callable[[str], Iterable[Citation]]

# How many sources one mark may name, and how much of the source's own words is kept.
MOST_OF_A_MARK: Final = 20
_LONGEST_QUOTE: Final = 1000
_LONGEST_TITLE: Final = 500
_LONGEST_ADDRESS: Final = 4000

_MARK = re.compile(
    "\ue200(?P<inside>[^\ue200\ue201]{0,4000})\ue201"
    "|【[^【】]{0,80}†[^【】]{0,400}】"
    r"|(?:\\ue202|" + "\ue202)turn[0-9]{1,4}[a-z]{1,12}[0-9]{1,4}"
)
# Around words that a source is for, and whatever else is left; some servers write them in letters.
_REST = re.compile("[\ue200-\ue206]|" + r"\\ue20[0-6]")
_BRACKET, _ESCAPED = re.compile(r"([\\\[\]])"), r"\\\1"
_BEFORE = re.compile(r"[.,;:!?)\]]|\s|$")


class Room:
    """How many sources an answer may still have: a few bytes of a file can name the same ones over
    and over."""

    def __init__(self) -> None:
        self._left = MOST

    def take(self, found: Iterable[Citation]) -> Found:
        taken = tuple(islice(found, min(self._left, MOST_OF_A_MARK)))
        self._left -= len(taken)
        return taken


def source(url: str, title: str, quote: str) -> Citation | None:
    """What somebody can be led to, if there is anything. No longer than a source is: each mark that
    names it repeats it."""
    url = url if len(url) <= _LONGEST_ADDRESS else ""
    if not url and not title:
        return None
    return Citation(url=url, title=title[:_LONGEST_TITLE], quote=quote[:_LONGEST_QUOTE])


def without_marks(text: str, resolve: Resolve, room: Room) -> tuple[str, Found]:
    """The text as it is read, and its sources, each at the place of its mark."""
    if not _MARK.search(text) and not _REST.search(text):
        return text, ()
    pieces: list[str] = []
    length = at = 0
    citations: list[Citation] = []
    for mark in _MARK.finditer(text):
        before = _REST.sub("", text[at : mark.start()])
        words = _words(mark["inside"] or "")
        if not words and before.endswith(" ") and _BEFORE.match(text, mark.end()):
            before = before[:-1]
        pieces += (before, words)
        length += len(before) + len(words)
        citations += [
            found.model_copy(update={"start": length, "end": length})
            for found in room.take(resolve(mark[0]))
        ]
        at = mark.end()
    pieces.append(_REST.sub("", text[at:]))
    return "".join(pieces), tuple(citations)


def without_any_mark(text: str) -> str:
    """The text as it is read, where nothing in it has a source."""
    return without_marks(text, lambda _mark: (), Room())[0]


def _words(inside: str) -> str:
    """What of a mark is meant to be read: the name of a thing, or a link."""
    kind, *fields = inside.split("\ue202")
    if kind == "entity" and fields:
        return _name(fields[0])
    if kind == "url" and fields:
        title, address = fields[0], fields[-1]
        if len(fields) > 1 and is_web_address(address) and not re.search(r"[\s()<>]", address):
            return f"[{_BRACKET.sub(_ESCAPED, title)}]({address})"
        return title
    return ""


def _name(value: str) -> str:
    """Of `["company", "Acme", …]`, the second."""
    try:
        fields = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    match fields:
        case [_, str(name), *_]:
            return name
        case _:
            return ""


def at_the_end(text: str, found: Iterable[Citation]) -> Found:
    """Sources of a text as a whole."""
    return tuple(each.model_copy(update={"start": len(text), "end": len(text)}) for each in found)
