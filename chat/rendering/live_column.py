"""The column of one page: a row that changed is replaced, a new order draws the list."""

from dataclasses import replace
from typing import Any

from chat.rendering import swap
from chat.rendering.pages import ColumnEntry, column_groups, column_html, row_html
from chat.rendering.reader import Reader

Facts = tuple[str, str, bool, bool]


class LiveColumn:
    """Remembers what the page lists, in its order."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.current = ""
        self.groups: list[tuple[str, list[Facts]]] = []

    def shown(self, current: str, rows: Any) -> None:
        """What a page says it lists: groups of [id, title, live, pinned]."""
        self.current = current
        try:
            self.groups = [
                (str(name), [(str(i), str(t), bool(v), bool(p)) for i, t, v, p in listed])
                for name, listed in rows
            ]
        except (TypeError, ValueError):
            self.groups = []

    def update(self, entries: tuple[ColumnEntry, ...]) -> str:
        entries = tuple(replace(entry, current=entry.id == self.current) for entry in entries)
        with self.reader.speaking():
            drawn = column_groups(entries, self.reader)
        groups = [(name, [_facts(entry) for entry in listed]) for name, listed in drawn]
        before, self.groups = self.groups, groups
        if before == groups:
            return ""
        if _order(before) != _order(groups):
            return swap.replace(column_html(entries, self.reader))
        known = {facts for _, listed in before for facts in listed}
        changed = (entry for entry in entries if _facts(entry) not in known)
        return "".join(swap.replace(row_html(entry, self.reader)) for entry in changed)


def _facts(entry: ColumnEntry) -> Facts:
    return entry.id, entry.title, entry.live, entry.pinned


def _order(groups: list[tuple[str, list[Facts]]]) -> list[tuple[str, list[str]]]:
    return [(name, [facts[0] for facts in listed]) for name, listed in groups]
