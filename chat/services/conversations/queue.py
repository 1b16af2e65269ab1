"""Queued messages as values: as the messages that they will become."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from chat.models import Attachment, QueuedMessage
from chat.protocol.factories import create_file_part, create_text_part
from chat.protocol.files import own_url
from chat.protocol.messages import UserInfo, UserTime, WithParts
from chat.protocol.parts import Part


def read_queue(conversation_id: UUID) -> tuple[WithParts, ...]:
    """The messages that wait in a conversation, the next one first."""
    rows = QueuedMessage.objects.filter(conversation_id=conversation_id).order_by("place")
    return tuple(map(queued_value, rows))


def queued_value(row: QueuedMessage) -> WithParts:
    """A queued message; the ids of its parts are the same whenever it is read."""
    message, session = str(row.pk), str(row.conversation_id)
    parts: list[Part] = [_file(session, message, file) for file in row.files]
    if row.text:
        text = create_text_part(session, message, row.text)
        parts.append(text.model_copy(update={"id": message}))
    created = int(row.created.timestamp() * 1000)
    info = UserInfo(
        id=message, session_id=session, revision=row.revision, time=UserTime(created=created)
    )
    return WithParts(info=info, parts=tuple(parts))


def describe_file(row: Attachment) -> dict[str, Any]:
    """What a queued message keeps of a file."""
    return {"id": str(row.pk), "mime": row.mime, "filename": row.filename, "size": row.size}


def _file(session: str, message: str, file: Mapping[str, Any]) -> Part:
    part = create_file_part(session, message, file["mime"], own_url(file["id"]), file["filename"])
    return part.model_copy(update={"id": file["id"], "size": file["size"]})
