"""What was found, in place of the column's list: titles and a few words, the hits marked."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chat.rendering.pages import IDS
from chat.rendering.reader import Reader

# A text in pieces, each marked or not; the template escapes them.
Pieces = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class FoundEntry:
    url: str
    title: Pieces
    snippet: Pieces = ()
    current: bool = False


@dataclass(frozen=True, slots=True)
class FoundPage:
    """`more` asks a script for the next ones, `more_page` is a page of its own."""

    entries: tuple[FoundEntry, ...] = ()
    more: str = ""
    more_page: str = ""


def found_html(found: FoundPage, reader: Reader) -> SafeString:
    """The whole list, to put in place of the one that is there."""
    return _draw("chat/found.html", found, reader)


def more_found_html(found: FoundPage, reader: Reader) -> SafeString:
    """The next ones, to put in place of the way to them."""
    return _draw("chat/found_rows.html", found, reader)


def _draw(template: str, found: FoundPage, reader: Reader) -> SafeString:
    with reader.speaking():
        return SafeString(render_to_string(template, {"found": found, "ids": IDS}).strip())
