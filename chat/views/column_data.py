"""Rows → the column beside a page."""

from uuid import UUID

from django.urls import reverse

from chat import services
from chat.rendering.page.column import IN_FOLDER, Column, ColumnEntry, ColumnFolder, Rows
from chat.services import Caller, Listed, ListedFolder

# Asked once for a whole column: what an address looks like.
NOWHERE = str(UUID(int=0))


def read_column(caller: Caller, rows: Rows) -> Column:
    """The first so many conversations of a person, and their folders."""
    listed = services.list_conversations(caller, rows.loose + 1)
    folders = services.list_in_folders(caller, dict(rows.folders), IN_FOLDER)
    place = reverse("chat:conversation", args=[NOWHERE])
    return Column(
        entries=tuple(_entry(each, place) for each in listed[: rows.loose]),
        rows=rows.loose,
        more=len(listed) > rows.loose,
        folders=tuple(_folder(each, place) for each in folders),
        was_read=services.was_read(caller),
    )


def read_apart(caller: Caller, conversation_id: str) -> ColumnEntry | None:
    """An open conversation that the column does not list, be it far down or archived."""
    listed = services.find_listed(caller, conversation_id)
    place = reverse("chat:conversation", args=[NOWHERE])
    return _entry(listed, place) if listed else None


def column_beside(caller: Caller, current: str, rows: Rows) -> Column:
    """The column on the page of a conversation."""
    column = read_column(caller, rows)
    is_apart = bool(current) and not column.lists(current)
    return column.beside(current, read_apart(caller, current) if is_apart else None)


def _entry(listed: Listed, place: str) -> ColumnEntry:
    return ColumnEntry(
        id=listed.id,
        title=listed.title,
        url=place.replace(NOWHERE, listed.id),
        updated=services.ms(listed.updated),
        pinned=listed.pinned,
        unread=listed.unread,
        archived=listed.archived,
        live=listed.live,
    )


def _folder(folder: ListedFolder, place: str) -> ColumnFolder:
    return ColumnFolder(
        id=folder.id,
        name=folder.name,
        collapsed=folder.collapsed,
        unread=folder.unread,
        live=folder.live,
        entries=tuple(_entry(each, place) for each in folder.conversations),
        rows=folder.rows,
        more=folder.more,
    )
