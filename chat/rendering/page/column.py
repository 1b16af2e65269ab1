"""The column beside every page: a person's conversations, in folders and under headings."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from zlib import crc32

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.rendering.page import dom, times
from chat.rendering.page.dom import IDS
from chat.rendering.reader import Reader
from chat.rendering.stencil import stencil

# How many conversations the column lists at first, and how many more when its end is reached.
LISTED = 60
# The same in one folder.
IN_FOLDER = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """How many conversations a page lists: outside of folders, and in each folder where more were
    asked for."""

    loose: int = LISTED
    folders: tuple[tuple[str, int], ...] = ()

    def in_folder(self, folder_id: str) -> int:
        return dict(self.folders).get(folder_id, IN_FOLDER)

    @classmethod
    def of(cls, loose: int, folders: Mapping[str, int]) -> "Rows":
        asked = ((key, number) for key, number in folders.items() if number > IN_FOLDER)
        return cls(loose, tuple(sorted(asked)))

    def with_folder(self, folder_id: str, rows: int) -> "Rows":
        return Rows.of(self.loose, {**dict(self.folders), folder_id: rows})


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
        return _mark(self.title, self.pinned, self.unread, self.archived, self.live, self.current)


@dataclass(frozen=True, slots=True)
class ColumnFolder:
    """A folder as the column shows it, with the first of its conversations unless it is
    collapsed."""

    id: str
    name: str
    collapsed: bool = False
    # Of any conversation in it.
    unread: bool = False
    live: bool = False
    entries: tuple[ColumnEntry, ...] = ()
    rows: int = IN_FOLDER
    more: bool = False

    @property
    def tells(self) -> bool:
        """Whether its head has to say what its rows do not show."""
        return self.collapsed or self.more

    @property
    def next_rows(self) -> int:
        return self.rows + LISTED

    @property
    def head_element(self) -> str:
        return dom.folder_head_id(self.id)

    @property
    def more_element(self) -> str:
        return dom.folder_more_id(self.id)

    @property
    def rows_element(self) -> str:
        return dom.group_rows_id(self.id)

    @property
    def mark(self) -> str:
        """Two folders with the same mark look the same, their rows apart."""
        tells = self.tells and (self.unread, self.live)
        return _mark(self.name, self.collapsed, tells, self.rows, self.more)


@dataclass(frozen=True, slots=True)
class Column:
    """The first so many conversations of a person, and their folders."""

    entries: tuple[ColumnEntry, ...] = ()
    # How many it lists, if there are as many; and whether there are others behind them.
    rows: int = LISTED
    more: bool = False
    # The open one, where it is not among them.
    apart: ColumnEntry | None = None
    folders: tuple[ColumnFolder, ...] = ()
    # Whether an administrator has read something of theirs, where that was asked.
    was_read: bool | None = None

    def lists(self, conversation_id: str) -> bool:
        return any(entry.id == conversation_id for entry in self._all())

    @property
    def current(self) -> ColumnEntry | None:
        """The open one."""
        return next((entry for entry in self._all() if entry.current), None)

    def _all(self) -> Iterable[ColumnEntry]:
        yield from self.entries
        for folder in self.folders:
            yield from folder.entries
        if self.apart:
            yield self.apart

    def beside(self, conversation_id: str, apart: ColumnEntry | None) -> "Column":
        """The same on the page of a conversation, which is marked, or stands apart."""

        def marked(entries: tuple[ColumnEntry, ...]) -> tuple[ColumnEntry, ...]:
            return tuple(
                replace(entry, current=True) if entry.id == conversation_id else entry
                for entry in entries
            )

        return replace(
            self,
            entries=marked(self.entries),
            folders=tuple(
                replace(folder, entries=marked(folder.entries)) for folder in self.folders
            ),
            apart=apart and replace(apart, current=True),
        )


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Conversations under one heading, or in a folder."""

    key: str
    name: str
    entries: tuple[ColumnEntry, ...]
    folder: ColumnFolder | None = None

    @property
    def element(self) -> str:
        return dom.group_id(self.key)

    @property
    def rows_element(self) -> str:
        return dom.group_rows_id(self.key)

    @property
    def mark(self) -> str:
        return self.folder.mark if self.folder else ""


def _mark(*looks: object) -> str:
    return f"{crc32(repr(looks).encode()):x}"


def column_groups(column: Column, reader: Reader) -> list[ColumnGroup]:
    """The open one where it is far down, then pinned ones, then folders, then the others by
    age."""
    pinned = tuple(entry for entry in column.entries if entry.pinned)
    rest = sorted(
        (entry for entry in column.entries if not entry.pinned), key=lambda entry: -entry.updated
    )
    groups = []
    if column.apart:
        groups.append(ColumnGroup("open", _("This conversation"), (column.apart,)))
    if pinned:
        groups.append(ColumnGroup("pinned", _("Pinned"), pinned))
    groups += [
        ColumnGroup(folder.id, folder.name, folder.entries, folder) for folder in column.folders
    ]
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


def was_read_html(unseen: bool, reader: Reader) -> tuple[SafeString, SafeString]:
    """The mark beside the name under the list, and the way to who read one's conversations."""
    with reader.speaking():
        values = {"unseen": unseen, "ids": IDS}
        mark = render_to_string("chat/read_mark.html", values).strip()
        link = render_to_string("chat/readings_link.html", values).strip()
        return SafeString(mark), SafeString(link)


def group_html(group: ColumnGroup, reader: Reader) -> SafeString:
    with reader.speaking():
        values: dict[str, object] = {"group": group, "rows": rows_html(group.entries, reader)}
        if group.folder:
            head, more = (
                folder_head_html(group.folder, reader),
                folder_more_html(group.folder, reader),
            )
            values |= {"head": head, "more": more}
        return SafeString(render_to_string("chat/column_group.html", values).strip())


def folder_head_html(folder: ColumnFolder, reader: Reader) -> SafeString:
    """The name of a folder, what is new in it, and its menu."""
    return _folder_html("chat/column_folder.html", folder, reader)


def folder_more_html(folder: ColumnFolder, reader: Reader) -> SafeString:
    """The end of a folder, where more of it is asked for."""
    return _folder_html("chat/column_folder_more.html", folder, reader)


def _folder_html(template: str, folder: ColumnFolder, reader: Reader) -> SafeString:
    with reader.speaking():
        return SafeString(render_to_string(template, {"folder": folder}).strip())


def folder_filter_html(column: Column, reader: Reader) -> SafeString:
    """The folders that a search in the dialog can be narrowed to."""
    with reader.speaking():
        values = {"folders": column.folders, "element": dom.FOLDER_FILTER}
        return SafeString(render_to_string("chat/search_folders.html", values).strip())


def rows_html(entries: Iterable[ColumnEntry], reader: Reader) -> SafeString:
    return mark_safe("".join(row_html(entry, reader) for entry in entries))


def more_html(column: Column, reader: Reader) -> SafeString:
    """The end of the list, where more of it is asked for."""
    with reader.speaking():
        values = {"column": column, "next": column.rows + LISTED, "ids": IDS}
        return SafeString(render_to_string("chat/column_more.html", values).strip())


def row_html(entry: ColumnEntry, reader: Reader) -> SafeString:
    looks = {
        f"entry.{name}": getattr(entry, name)
        for name in ("pinned", "unread", "archived", "live", "current")
    }
    fills = {
        f"entry.{name}": getattr(entry, name) for name in ("id", "element", "mark", "url", "title")
    }
    with reader.speaking():
        return stencil("chat/column_row.html", looks, fills)
