"""The conversations of a person, as the sidebar lists them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from chat.services import statements
from chat.services.caller import Caller
from chat.services.sql import as_moment, as_uuid


@dataclass(frozen=True, slots=True)
class Listed:
    id: str
    title: str
    updated: datetime
    pinned: bool
    unread: bool
    archived: bool
    live: bool


@dataclass(frozen=True, slots=True)
class ListedFolder:
    """A folder; a collapsed one lists no conversations, and says only what is new in it."""

    id: str
    name: str
    collapsed: bool
    unread: bool
    live: bool
    # How many it lists, if there are as many; and whether there are others behind them.
    rows: int
    more: bool = False
    conversations: tuple[Listed, ...] = ()


def list_conversations(caller: Caller, most: int) -> list[Listed]:
    """Those in no folder: pinned ones first, then the latest; running ones are marked."""
    return [_listed(row) for row in statements.listed(caller.user_id, most)]


def list_in_folders(caller: Caller, asked: Mapping[str, int], most: int) -> list[ListedFolder]:
    """All folders by name, those that are open with their first conversations: so many of each,
    unless more were asked for. Two statements, however many folders there are."""
    folders = [_folder(row, asked, most) for row in statements.folders(caller.user_id)]
    opened = {UUID(each.id): each.rows + 1 for each in folders if not each.collapsed}
    inside: dict[str, list[Listed]] = {each.id: [] for each in folders}
    for folder_id, *row in statements.listed_in(opened) if opened else ():
        inside[str(as_uuid(folder_id))].append(_listed(tuple(row)))
    listed = [_with(each, inside[each.id]) for each in folders]
    return sorted(listed, key=lambda each: (each.name.casefold(), each.id))


def find_listed(caller: Caller, conversation_id: str) -> Listed | None:
    """One of them, wherever in the list it stands."""
    rows = statements.one_listed(caller.user_id, UUID(conversation_id))
    return _listed(rows[0]) if rows else None


def was_read(caller: Caller) -> bool:
    """Whether to say beside their name that an administrator has read something of theirs."""
    return statements.was_read(caller.user_id)


def _listed(row: tuple[Any, ...]) -> Listed:
    key, title, updated, pinned, unread, archived, live = row
    marks = bool(pinned), bool(unread), bool(archived), bool(live)
    return Listed(str(as_uuid(key)), title, as_moment(updated), *marks)


def _folder(row: tuple[Any, ...], asked: Mapping[str, int], most: int) -> ListedFolder:
    key, name, collapsed, unread, live = row
    folder_id = str(as_uuid(key))
    rows = asked.get(folder_id, most)
    return ListedFolder(folder_id, name, bool(collapsed), bool(unread), bool(live), rows)


def _with(folder: ListedFolder, listed: list[Listed]) -> ListedFolder:
    return replace(
        folder, conversations=tuple(listed[: folder.rows]), more=len(listed) > folder.rows
    )
