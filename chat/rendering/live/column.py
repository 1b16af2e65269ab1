"""The column of one page: rows that changed are replaced, those that moved are moved."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from chat.rendering.live import swap
from chat.rendering.page import dom
from chat.rendering.page.column import (
    LISTED,
    Column,
    ColumnEntry,
    ColumnGroup,
    column_groups,
    column_html,
    group_html,
    more_html,
    row_html,
    rows_html,
)
from chat.rendering.page.pages import put_away_html
from chat.rendering.reader import Reader

# The longest list that a page may say it has.
MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Listing:
    """What a page lists: by group, the mark of each row by its id; and how its end looks."""

    groups: dict[str, dict[str, str]] = field(default_factory=dict)
    rows: int = 0
    more: bool = False

    @classmethod
    def of(cls, groups: Sequence[ColumnGroup], column: Column) -> "Listing":
        marks = {group.key: {entry.id: entry.mark for entry in group.entries} for group in groups}
        return cls(marks, column.rows, column.more)

    @classmethod
    def from_json(cls, values: Any) -> "Listing":
        """As a page says it; one that says nonsense is drawn anew."""
        try:
            groups = {
                str(key): {str(row): str(mark) for row, mark in rows}
                for key, rows in values["groups"]
            }
            rows = min(max(int(values["rows"]), 0), MOST_ROWS)
            return cls(groups, rows, bool(values["more"]))
        except (TypeError, ValueError, KeyError, OverflowError):
            return cls()


class LiveColumn:
    """Remembers what the page lists, in its order."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.listing = Listing()
        # A window of its own has no column.
        self.is_there = False
        # How many conversations the page is to list.
        self.rows = LISTED

    def shown(self, column: Any) -> None:
        """What a page says it lists."""
        self.is_there = column is not None
        self.listing = Listing.from_json(column)
        self.rows = self.listing.rows or LISTED

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
        if not before.groups or not now.groups:
            return swap.replace(column_html(column, self.reader))
        changes = [*_removed(before, now), *self._added(before, groups)]
        if (before.rows, before.more) != (now.rows, now.more):
            changes.append(swap.replace(more_html(column, self.reader)))
        return "".join(changes)

    def _added(self, before: Listing, groups: list[ColumnGroup]) -> Iterator[str]:
        """New groups, new rows, and rows that look different; each behind what stands before it."""
        place = dom.COLUMN
        for group in groups:
            if group.key in before.groups:
                yield from self._added_rows(before.groups[group.key], group)
            else:
                html = group_html(group, self.reader)
                first = place == dom.COLUMN
                yield swap.prepend(place, html) if first else swap.after(place, html)
            place = group.element

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


def _order(listing: Listing) -> list[tuple[str, list[str]]]:
    return [(key, list(rows)) for key, rows in listing.groups.items()]


def _removed(before: Listing, now: Listing) -> Iterator[str]:
    """Groups that are no more, and rows that are no longer where they were."""
    for key, rows in before.groups.items():
        if key not in now.groups:
            yield swap.remove(dom.group_id(key))
        else:
            staying = _staying(list(rows), list(now.groups[key]))
            yield from (swap.remove(dom.row_id(row)) for row in rows if row not in staying)


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
