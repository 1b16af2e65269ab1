"""The column beside every page: a person's conversations, under their headings."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from zlib import crc32

from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.rendering.page import dom, times
from chat.rendering.page.dom import IDS
from chat.rendering.reader import Reader

# How many conversations the column lists at first, and how many more when its end is reached.
LISTED = 60


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A conversation as the column shows it; `updated` in milliseconds."""

    id: str
    title: str
    url: str
    updated: int
    pinned: bool = False
    # An answer ended while nobody looked.
    unread: bool = False
    # Listed only while it is open.
    archived: bool = False
    live: bool = False
    current: bool = False

    @property
    def element(self) -> str:
        return dom.row_id(self.id)

    @property
    def mark(self) -> str:
        """Two rows of a conversation with the same mark look the same. When it was changed decides
        where a row stands, not how it looks."""
        looks = (self.title, self.pinned, self.unread, self.archived, self.live, self.current)
        return f"{crc32(repr(looks).encode()):x}"


@dataclass(frozen=True, slots=True)
class Column:
    """The first so many conversations of a person."""

    entries: tuple[ColumnEntry, ...] = ()
    # How many it lists, if there are as many; and whether there are others behind them.
    rows: int = LISTED
    more: bool = False
    # The open one, where it is not among them.
    apart: ColumnEntry | None = None

    def lists(self, conversation_id: str) -> bool:
        return any(entry.id == conversation_id for entry in self.entries)

    @property
    def current(self) -> ColumnEntry | None:
        """The open one."""
        entries = (*self.entries, *([self.apart] if self.apart else ()))
        return next((entry for entry in entries if entry.current), None)

    def beside(self, conversation_id: str, apart: ColumnEntry | None) -> "Column":
        """The same on the page of a conversation, which is marked, or stands apart."""
        entries = tuple(
            replace(entry, current=True) if entry.id == conversation_id else entry
            for entry in self.entries
        )
        return replace(self, entries=entries, apart=apart and replace(apart, current=True))


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Conversations under one heading."""

    key: str
    name: str
    entries: tuple[ColumnEntry, ...]

    @property
    def element(self) -> str:
        return dom.group_id(self.key)

    @property
    def rows_element(self) -> str:
        return dom.group_rows_id(self.key)


def column_groups(column: Column, reader: Reader) -> list[ColumnGroup]:
    """The open one where it is far down, then pinned ones, then the others by age."""
    pinned = tuple(entry for entry in column.entries if entry.pinned)
    rest = sorted(
        (entry for entry in column.entries if not entry.pinned), key=lambda entry: -entry.updated
    )
    groups = []
    if column.apart:
        groups.append(ColumnGroup("open", _("This conversation"), (column.apart,)))
    if pinned:
        groups.append(ColumnGroup("pinned", _("Pinned"), pinned))
    ages = list(enumerate(times.age_groups(reader.now)))
    aged = groupby(rest, lambda entry: next(age for age in ages if entry.updated >= age[1][0]))
    for (number, (_since, name)), entries in aged:
        groups.append(ColumnGroup(str(number), name, tuple(entries)))
    return groups


def column_html(column: Column, reader: Reader) -> SafeString:
    """The whole list, to put in place of the one that is there."""
    with reader.speaking():
        groups = [group_html(group, reader) for group in column_groups(column, reader)]
        values = {"groups": groups, "more": more_html(column, reader), "ids": IDS}
        return SafeString(render_to_string("chat/column_list.html", values).strip())


def group_html(group: ColumnGroup, reader: Reader) -> SafeString:
    with reader.speaking():
        values = {"group": group, "rows": rows_html(group.entries, reader)}
        return SafeString(render_to_string("chat/column_group.html", values).strip())


def rows_html(entries: Iterable[ColumnEntry], reader: Reader) -> SafeString:
    return mark_safe("".join(row_html(entry, reader) for entry in entries))


def more_html(column: Column, reader: Reader) -> SafeString:
    """The end of the list, where more of it is asked for."""
    with reader.speaking():
        values = {"column": column, "next": column.rows + LISTED, "ids": IDS}
        return SafeString(render_to_string("chat/column_more.html", values).strip())


def row_html(entry: ColumnEntry, reader: Reader) -> SafeString:
    return _row_html(replace(entry, updated=0), reader.language)


@lru_cache(maxsize=2000)
def _row_html(entry: ColumnEntry, language: str) -> SafeString:
    with translation.override(language):
        return SafeString(render_to_string("chat/column_row.html", {"entry": entry}).strip())
