"""Turns as rows alone: written as the verbs write them, with no run that answers."""

from typing import Any
from uuid import UUID

from chat.models import Conversation
from chat.services.caller import Caller
from chat.services.conversations.attachments import check_ids
from chat.services.turns.edit import write_edit
from chat.services.turns.send import check_content, write_turn
from chat.services.turns.start import Started


def write_send(caller: Caller, talk: UUID, content: str, attachments: Any = None) -> Started:
    """The rows of a message that was sent, and of the answer to come."""
    files = check_ids(attachments)
    return write_turn(caller, talk, check_content(content, required=not files), files)


def write_edited(
    caller: Caller, talk: UUID, message_id: str, content: str, *, archive: bool = True
) -> Started:
    """The rows of a message that was edited, and of the answer to come."""
    return write_edit(caller, talk, message_id, content, archive)


def owner_of(talk: Conversation) -> Caller:
    return Caller(talk.owner_id)
