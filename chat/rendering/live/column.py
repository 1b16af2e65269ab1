"""The column of one page: rows that changed are replaced, those that moved are moved."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from chat.protocol.ids import is_uuid
from chat.rendering.live import swap
from chat.rendering.page import dom
from chat.rendering.page.column import (
    LISTED,
    Column,
    ColumnEntry,
    ColumnGroup,
    Rows,
    column_groups,
    column_html,
    folder_filter_html,
    folder_head_html,
    folder_more_html,
    group_html,
    more_html,
    row_html,
    rows_html,
    was_read_html,
)
from chat.rendering.page.pages import put_away_html
from chat.rendering.reader import Reader

# As many rows are compared in less than a millisecond.
MANY_ROWS = 2 * LISTED
# The longest list that a page may say it has.
MOST_ROWS = 20_000
# And the most groups: nobody has more than two hundred folders, and there are a few headings.
MOST_GROUPS = 300


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group as a page shows it: its own mark, and that of each row by its id."""

    mark: str
    rows: dict[str, str]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a page lists, by group; and how its end looks."""

    groups: dict[str, ListedGroup] = field(default_factory=dict)
    rows: int = 0
    more: bool = False

    def folders(self) -> list[tuple[str, str]]:
        """The folders in their order, each with its mark."""
        return [(key, group.mark) for key, group in self.groups.items() if group.mark]

    @classmethod
    def of(cls, groups: Sequence[ColumnGroup], column: Column) -> "Listing":
        listed = {
            group.key: ListedGroup(group.mark, {entry.id: entry.mark for entry in group.entries})
            for group in groups
        }
        return cls(listed, column.rows, column.more)

    @classmethod
    def from_json(cls, values: Any) -> "Listing":
        """As a page says it; one that says nonsense is drawn anew."""
        try:
            groups = {
                str(key): ListedGroup(str(mark), {str(row): str(look) for row, look in rows})
                for key, mark, rows, *_ in _groups(values)
            }
            return cls(groups, _number(values["rows"]), bool(values["more"]))
        except (TypeError, ValueError, LookupError, OverflowError):
            return cls()


def rows_from_json(values: Any) -> Rows:
    """How many conversations a page says it lists."""
    try:
        folders = {
            str(key): _number(number[0])
            for key, _mark, _rows, *number in _groups(values)
            if number and is_uuid(str(key))
        }
        return Rows.of(_number(values["rows"]) or LISTED, folders)
    except (TypeError, ValueError, LookupError, OverflowError):
        return Rows()


def _groups(values: Any) -> list[Any]:
    """The groups that a page says it lists. Far more than there can be would keep the event loop
    and the memory of the server for as long as the socket is open."""
    groups: list[Any] = values["groups"]
    if len(groups) > MOST_GROUPS or sum(len(group[2]) for group in groups) > MOST_ROWS:
        raise ValueError("nobody has so many")
    return groups


def _number(value: Any) -> int:
    return min(max(int(value), 0), MOST_ROWS)


class LiveColumn:
    """Remembers what the page lists, in its order."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.listing = Listing()
        # A window of its own has no column.
        self.is_there = False
        # How many conversations the page is to list.
        self.rows = Rows()

    def shown(self, column: Any) -> None:
        """What a page says it lists."""
        self.is_there = column is not None
        self.listing = Listing.from_json(column)
        self.rows = rows_from_json(column)

    def list_more(self, rows: int, folder_id: str = "") -> None:
        """The end of the list, or of a folder, was reached: list so many, a few more than now."""
        if not folder_id:
            self.rows = replace(self.rows, loose=_more(self.rows.loose, rows))
        elif folder_id in self.listing.groups:
            # What was asked for of folders that are listed no longer is forgotten.
            asked = {key: n for key, n in self.rows.folders if key in self.listing.groups}
            asked[folder_id] = _more(self.rows.in_folder(folder_id), rows)
            self.rows = Rows.of(self.rows.loose, asked)

    def is_slow(self, column: Column) -> bool:
        """Whether to draw the difference takes so long that a thread should do it: where nothing
        is drawn yet, or where very much is listed."""
        inside = sum(len(folder.entries) for folder in column.folders)
        return not self.listing.groups or len(column.entries) + inside > MANY_ROWS

    def update(self, column: Column) -> str:
        """The operations from what the page lists to what there is now."""
        if not self.is_there:
            return ""
        with self.reader.speaking():
            groups = column_groups(column, self.reader)
        before, now = self.listing, Listing.of(groups, column)
        self.listing = now
        if before == now and _order(before) == _order(now):
            return ""
        filters = self._changed_filter(before, now, column)
        if not before.groups or not now.groups:
            return swap.replace(column_html(column, self.reader)) + filters
        staying = _staying(list(before.groups), list(now.groups))
        changes = [*_removed(before, now, staying), *self._added(before, groups, staying)]
        if (before.rows, before.more) != (now.rows, now.more):
            changes.append(swap.replace(more_html(column, self.reader)))
        return "".join(changes) + filters

    def _changed_filter(self, before: Listing, now: Listing, column: Column) -> str:
        """The search can be narrowed to each folder, by its name."""
        if before.folders() == now.folders():
            return ""
        return swap.replace(folder_filter_html(column, self.reader))

    def _added(
        self, before: Listing, groups: list[ColumnGroup], staying: set[str]
    ) -> Iterator[str]:
        """New groups, new rows, and what looks different; each behind what stands before it."""
        place = dom.COLUMN
        for group in groups:
            if group.key in staying:
                yield from self._changed_folder(before.groups[group.key].mark, group)
                yield from self._added_rows(before.groups[group.key].rows, group)
            else:
                html = group_html(group, self.reader)
                first = place == dom.COLUMN
                yield swap.prepend(place, html) if first else swap.after(place, html)
            place = group.element

    def _changed_folder(self, mark: str, group: ColumnGroup) -> Iterator[str]:
        if group.folder and group.mark != mark:
            yield swap.replace(folder_head_html(group.folder, self.reader))
            yield swap.replace(folder_more_html(group.folder, self.reader))

    def _added_rows(self, before: dict[str, str], group: ColumnGroup) -> Iterator[str]:
        staying = _staying(list(before), [entry.id for entry in group.entries])
        place = ""
        for stays, together in groupby(group.entries, key=lambda entry: entry.id in staying):
            entries = list(together)
            if stays:
                changed = (entry for entry in entries if before[entry.id] != entry.mark)
                yield from (swap.replace(row_html(entry, self.reader)) for entry in changed)
            else:
                html = rows_html(entries, self.reader)
                yield swap.after(place, html) if place else swap.prepend(group.rows_element, html)
            place = entries[-1].element


class LiveMenu:
    """Remembers what the menu of the open conversation offers: to archive it, or to bring it
    back."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        # Nothing is known of a page that has not said it, and of one without such a menu.
        self.archived: bool | None = None

    def shown(self, archived: Any) -> None:
        self.archived = archived if isinstance(archived, bool) else None

    def update(self, current: ColumnEntry | None) -> str:
        if current is None or self.archived in (None, current.archived):
            return ""
        self.archived = current.archived
        return swap.replace(put_away_html(current.id, current.archived, self.reader))


class LiveReadMark:
    """Remembers whether the page says that an administrator has read something."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        # Nothing is known of a page that has not said it, and of one without such a mark.
        self.was_read: bool | None = None

    def shown(self, was_read: Any) -> None:
        self.was_read = was_read if isinstance(was_read, bool) else None

    def update(self, was_read: bool | None) -> str:
        if was_read is None or self.was_read in (None, was_read):
            return ""
        self.was_read = was_read
        return "".join(swap.replace(html) for html in was_read_html(was_read, self.reader))


def _more(now: int, asked: int) -> int:
    return max(now, min(asked, now + LISTED))


def _order(listing: Listing) -> list[tuple[str, list[str]]]:
    return [(key, list(group.rows)) for key, group in listing.groups.items()]


def _removed(before: Listing, now: Listing, staying: set[str]) -> Iterator[str]:
    """Groups that are no more or stand elsewhere, and rows that are no longer where they were."""
    for key, group in before.groups.items():
        if key not in staying:
            yield swap.remove(dom.group_id(key))
        else:
            rows = _staying(list(group.rows), list(now.groups[key].rows))
            yield from (swap.remove(dom.row_id(row)) for row in group.rows if row not in rows)


def _staying(before: list[str], now: list[str]) -> set[str]:
    """As many as possible of those in both lists that need not be moved: the longest row of them
    that is in the same order in both."""
    if before == now:
        return set(now)
    places = {row: place for place, row in enumerate(before)}
    common = [row for row in now if row in places]
    # By length, where the row of that length ends earliest; and what stands before each.
    ends: list[str] = []
    end_places: list[int] = []
    previous: dict[str, str | None] = {}
    for row in common:
        length = bisect_left(end_places, places[row])
        previous[row] = ends[length - 1] if length else None
        ends[length : length + 1] = [row]
        end_places[length : length + 1] = [places[row]]
    staying: set[str] = set()
    last = ends[-1] if ends else None
    while last is not None:
        staying.add(last)
        last = previous[last]
    return staying
