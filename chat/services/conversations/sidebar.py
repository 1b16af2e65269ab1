"""The conversations of a person, as the sidebar lists them."""

from dataclasses import dataclass
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


def list_conversations(caller: Caller, most: int) -> list[Listed]:
    """Pinned ones first, then the latest; running ones are marked."""
    return [_listed(row) for row in statements.listed(caller.user_id, most)]


def find_listed(caller: Caller, conversation_id: str) -> Listed | None:
    """One of them, wherever in the list it stands."""
    rows = statements.one_listed(caller.user_id, UUID(conversation_id))
    return _listed(rows[0]) if rows else None


def _listed(row: tuple[Any, ...]) -> Listed:
    key, title, updated, pinned, unread, archived, live = row
    marks = bool(pinned), bool(unread), bool(archived), bool(live)
    return Listed(str(as_uuid(key)), title, as_moment(updated), *marks)
