"""Attachments: files are checked and kept, put on a message, and removed with it."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.db.models import Q
from django.utils import timezone

from chat.models import Attachment, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.factories import create_file_part
from chat.protocol.files import HEAD, TEXT, clean_name, kind_of, own_url
from chat.protocol.ids import is_uuid

# How long a file may wait for its message, and how many of one person may.
PATIENCE = timedelta(days=1)
WAITING = 50
BATCH = 100


def store(user_id: int, name: str, file: File) -> Attachment:
    """Keep a file that was uploaded; what it is, its content says."""
    name = clean_name(name)
    mime = _checked(name, file)
    row = Attachment(owner_id=user_id, mime=mime, size=file.size, filename=name)
    file.seek(0)
    row.file.save(name, file, save=False)
    try:
        row.save(force_insert=True)
    except BaseException:
        row.file.delete(save=False)
        raise
    _forget_oldest(user_id)
    return row


def _checked(name: str, file: File) -> str:
    limits = settings.PARLEY_LIMITS
    if not file.size:
        raise ChatError("error.chat_attachment_empty", name=name)
    if file.size > limits["upload_bytes"]:
        raise ChatError("error.chat_attachment_too_large", name=name, bytes=limits["upload_bytes"])
    mime = kind_of(file.read(HEAD))
    if mime == TEXT:
        if file.size > limits["upload_text_bytes"]:
            limit = limits["upload_text_bytes"]
            raise ChatError("error.chat_attachment_text_too_large", name=name, bytes=limit)
        file.seek(0)
        mime = TEXT if _is_text(file.read()) else None
    if mime is None:
        raise ChatError("error.chat_attachment_type_refused", name=name)
    return mime


def _is_text(data: bytes) -> bool:
    try:
        return "\x00" not in data.decode()
    except UnicodeDecodeError:
        return False


def _forget_oldest(user_id: int) -> None:
    """Who uploads without ever sending keeps only the latest."""
    waiting = Attachment.objects.filter(owner_id=user_id, message=None).order_by("-created", "-pk")
    for row in waiting[WAITING : WAITING + BATCH]:
        row.delete()


def find_attachment(user_id: int, attachment_id: UUID) -> Attachment:
    """One's own file, unless its conversation was deleted; a stranger's is not there."""
    there = Q(message=None) | Q(message__conversation__deleted_at=None)
    row = Attachment.objects.filter(there, owner_id=user_id, pk=attachment_id).first()
    if row is None:
        raise ChatError("error.chat_attachment_not_found")
    return row


def discard(user_id: int, attachment_id: UUID) -> None:
    """Take back a file that is on no message yet."""
    row = find_attachment(user_id, attachment_id)
    if row.message_id is not None:
        raise ChatError("error.chat_attachment_in_use")
    row.delete()


def checked_ids(wanted: object) -> tuple[str, ...]:
    """Which files a message is to have; too many, or no ids at all, are refused."""
    ids = () if wanted is None else wanted
    if not isinstance(ids, list | tuple) or not all(isinstance(each, str) for each in ids):
        raise ChatError("error.chat_bad_command")
    limit = settings.PARLEY_LIMITS["uploads_per_message"]
    if len(ids) > limit:
        raise ChatError("error.chat_attachment_too_many", limit=limit)
    if not all(map(is_uuid, ids)) or len(set(ids)) != len(ids):
        raise ChatError("error.chat_attachment_not_found")
    return tuple(ids)


def attach(said: Message, user_id: int, ids: Sequence[str]) -> list[str]:
    """Put files on a message as its first parts, within its transaction; their names."""
    free = Attachment.objects.filter(pk__in=ids, owner_id=user_id, message=None)
    # Conditional: another message that took one a moment ago was first.
    if ids and free.update(message=said) != len(ids):
        raise ChatError("error.chat_attachment_not_found")
    rows = {str(row.pk): row for row in Attachment.objects.filter(pk__in=ids)}
    for position, key in enumerate(ids):
        _part(said, rows[key.lower()], position).save(force_insert=True)
    return [rows[key.lower()].filename for key in ids]


def _part(said: Message, row: Attachment, position: int) -> Part:
    value = create_file_part(
        str(said.conversation_id), str(said.pk), row.mime, own_url(row.pk), row.filename
    )
    return Part.of(value.model_copy(update={"size": row.size}), position)


def forget_waiting() -> int:
    """Remove files that nobody sent within a day."""
    old = Attachment.objects.filter(message=None, created__lt=timezone.now() - PATIENCE)
    rows = list(old[:BATCH])
    for row in rows:
        row.delete()
    return len(rows)
