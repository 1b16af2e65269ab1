"""What was found: titles and a few words, the hits marked. In the dialog as one types, and without
scripts in place of the column's list."""

from dataclasses import dataclass

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from chat.rendering.page.dom import IDS
from chat.rendering.page.times import Moment
from chat.rendering.reader import Reader

# A text in pieces, each marked or not; the template escapes them.
Pieces = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True)
class FoundEntry:
    url: str
    title: Pieces
    when: Moment
    snippet: Pieces = ()
    current: bool = False


@dataclass(frozen=True, slots=True)
class FoundPage:
    """`more` asks a script for the next ones, `more_page` is a page of its own."""

    entries: tuple[FoundEntry, ...] = ()
    # How many there are up to the last of these.
    count: int = 0
    # Whether something was left out by a filter.
    filtered: bool = False
    more: str = ""
    more_page: str = ""


def found_html(found: FoundPage, reader: Reader) -> SafeString:
    """The whole list, in place of the column's."""
    return _draw("chat/search_results.html", found, reader)


def found_rows_html(found: FoundPage, reader: Reader) -> SafeString:
    """The list in the dialog, or what is added to it."""
    return _draw("chat/search_rows.html", found, reader)


def _draw(template: str, found: FoundPage, reader: Reader) -> SafeString:
    with reader.speaking():
        return SafeString(render_to_string(template, {"found": found, "ids": IDS}).strip())
