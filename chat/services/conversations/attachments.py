"""Attachments: files are checked and kept, put on a message, and removed with it."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from chat.formats.pictures import Picture
from chat.models import Attachment, Message, QueuedMessage
from chat.protocol.errors import ChatError
from chat.protocol.factories import create_file_part
from chat.protocol.files import HEAD, IMAGES, TEXT, clean_name, kind_of, own_url
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import is_uuid
from chat.protocol.interfaces import ToolPicture
from chat.protocol.parts import FilePart
from chat.services.caller import Caller
from chat.services.conversations.derived import shown_picture
from chat.services.conversations.queue import describe_file
from chat.services.pool import by_worker

logger = logging.getLogger(__name__)

# How long a file may wait for its message, and how many of one person may.
PATIENCE = timedelta(days=1)
WAITING = 50
BATCH = 100
# Of one result of a tool.
MOST_PICTURES = 8


def store_attachment(
    caller: Caller, name: str, file: "File[bytes]", temporary_in: UUID | None = None
) -> Attachment:
    """Keep a file that was uploaded, in a temporary chat only as long as that. Its type is read
    from its content, never from its name."""
    name = clean_name(name)
    mime = _checked(name, file)
    row = Attachment(owner_id=caller.user_id, mime=mime, size=file.size, filename=name)
    row.temporary_in_id = temporary_in
    _store(row, file)
    _forget_oldest(caller.user_id)
    return row


def keep_imported_file(
    caller: Caller, message: Message | QueuedMessage, name: str, data: bytes
) -> Attachment:
    """Keep a file that came with an imported message."""
    name, file = clean_name(name), ContentFile(data)
    mime = _checked(name, file)
    row = Attachment(owner_id=caller.user_id, mime=mime, size=file.size, filename=name)
    if isinstance(message, Message):
        row.message = message
    else:
        row.queued = message
    _store(row, file)
    return row


def _store(row: Attachment, file: "File[bytes]") -> None:
    """Write the file and its row, or neither."""
    file.seek(0)
    row.file.save(row.filename, file, save=False)
    try:
        row.save(force_insert=True)
    except BaseException:
        row.file.delete(save=False)
        raise


def keep_tool_pictures(
    user_id: int, conversation_id: str, message_id: str, pictures: Sequence[ToolPicture]
) -> tuple[FilePart, ...]:
    """Keep the pictures that a tool has made, as files of the answer and of who asked for it.
    What is no picture, or too large, is left out."""
    rows = [
        row
        for picture in pictures[:MOST_PICTURES]
        if (row := _keep_picture(user_id, message_id, picture))
    ]
    return tuple(_file_part(conversation_id, message_id, row) for row in rows)


def _keep_picture(user_id: int, message_id: str, picture: ToolPicture) -> Attachment | None:
    name = clean_name(picture.name or "picture")
    file = ContentFile(picture.data)
    try:
        mime = _checked(name, file)
    except ChatError as error:
        logger.warning("A picture of a tool is not kept: %s", error.key)
        return None
    if mime not in IMAGES:
        logger.warning("A picture of a tool is not kept: it is %s", mime)
        return None
    row = Attachment(owner_id=user_id, mime=mime, size=file.size, filename=name)
    row.message_id = UUID(message_id)
    _store(row, file)
    return row


def _checked(name: str, file: "File[bytes]") -> str:
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
    waiting = _free().filter(owner_id=user_id).order_by("-created", "-pk")
    for key in list(waiting.values_list("pk", flat=True)[WAITING : WAITING + BATCH]):
        _remove_free(key)


def find_attachment(caller: Caller, attachment_id: UUID) -> Attachment:
    """One's own file, unless its conversation was deleted; a stranger's is not there."""
    rows = Attachment.objects.filter(
        Q(message=None) | Q(message__conversation__deleted_at=None),
        Q(queued=None) | Q(queued__conversation__deleted_at=None),
        owner_id=caller.user_id,
        pk=attachment_id,
    )
    row = rows.first()
    if row is None:
        raise ChatError("error.chat_attachment_not_found")
    return row


def picture_to_show(row: Attachment) -> Picture | None:
    """A picture as it is looked at: upright, not too large, without what else is in the file."""
    return by_worker(shown_picture, row)


def discard_attachment(caller: Caller, attachment_id: UUID) -> None:
    """Take back a file that is on no message yet."""
    row = find_attachment(caller, attachment_id)
    if not _remove_free(row.pk):
        raise ChatError("error.chat_attachment_in_use")


@transaction.atomic
def _remove_free(attachment_id: UUID) -> bool:
    """Delete a file that is on no message; whether it was on none. Its row is locked before it is
    judged: a message that is being sent has taken it by then, or finds it gone."""
    row = _free().select_for_update().filter(pk=attachment_id).first()
    if row is not None:
        row.delete()
    return row is not None


def check_ids(wanted: object) -> tuple[str, ...]:
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


def attach(message: Message, user_id: int, ids: Sequence[str]) -> tuple[FilePart, ...]:
    """Put files on a message, within its transaction; they are to be its first parts."""
    if not ids:
        return ()
    return tuple(_part(message, row) for row in _take(user_id, ids, message_id=message.pk))


def keep_for_queue(queued: QueuedMessage, user_id: int, ids: Sequence[str]) -> list[JsonObject]:
    """Put files on a message that waits, within its transaction; what it keeps of them."""
    return [describe_file(row) for row in _take(user_id, ids, queued_id=queued.pk)]


def _take(user_id: int, ids: Sequence[str], **holder: UUID) -> list[Attachment]:
    """Files for a message, in the order in which they are wanted."""
    free = _free().filter(pk__in=ids, owner_id=user_id)
    # Conditional: another message that took one a moment ago was first.
    if free.update(**holder) != len(ids):
        raise ChatError("error.chat_attachment_not_found")
    rows = {str(row.pk): row for row in Attachment.objects.filter(pk__in=ids)}
    return [rows[key.lower()] for key in ids]


def _free() -> QuerySet[Attachment]:
    """Files that are on no message, and on none that waits."""
    return Attachment.objects.filter(message=None, queued=None)


def _part(message: Message, row: Attachment) -> FilePart:
    return _file_part(str(message.conversation_id), str(message.pk), row)


def _file_part(conversation_id: str, message_id: str, row: Attachment) -> FilePart:
    url = own_url(row.pk)
    value = create_file_part(conversation_id, message_id, row.mime, url, row.filename)
    return value.model_copy(update={"size": row.size})


def forget_waiting() -> int:
    """Remove files that nobody sent within a day."""
    old = _free().filter(created__lt=timezone.now() - PATIENCE)
    keys = list(old.values_list("pk", flat=True)[:BATCH])
    return sum(_remove_free(key) for key in keys)
