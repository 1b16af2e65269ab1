"""Share: a link under which anybody reads a conversation, as it was or as it is.

Whoever has the link reads, and nobody else: it is unguessable, found by its hash, and leads nowhere
once it is revoked, expired, or its conversation or owner is gone.
"""

import asyncio
import json
import secrets
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from tempfile import TemporaryFile
from typing import IO
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.formats.imported.parley import FIRST_FORMAT
from chat.formats.shared import Sharing, ended, file_urls, files_of, with_files_at
from chat.models import Attachment, Conversation, Message, ShareLink
from chat.models.share import ShareLinkQuerySet
from chat.protocol.errors import ChatError
from chat.protocol.files import IMAGES, own_id, own_url
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import is_uuid, now_ms
from chat.protocol.messages import WithParts, message_from_json, message_to_json
from chat.services.access import get_conversation, lock_conversation
from chat.services.background import shielded
from chat.services.caller import Caller
from chat.services.catalog.known import current_catalog
from chat.services.conversations.attachments import picture_to_show
from chat.services.conversations.history import read_history, read_messages
from chat.services.conversations.imports import ImportSource, import_chats, one_import
from chat.services.pool import in_pool, in_writer
from chat.services.upkeep.audit import Verb, audit

ALL = 2**31 - 1
# Characters of a link that stand for 256 random bits.
TOKEN_BYTES = 32
LONGEST_TOKEN = 64
# How many open links a conversation may have, and how many messages a page of one.
MOST_LINKS = 50
SHARED_PAGE = 100
# How much a link keeps: all of it is read whenever the link is opened.
MOST_KEPT_BYTES = 10_000_000
# So much of a copy is read at once.
COPY_CHUNK = 256 * 1024
# How often a conversation is read anew that changes before its link is there.
TRIES = 3

# For how many days a link may be made; 0 is for ever.
DAYS = (1, 7, 30, 0)


@dataclass(frozen=True, slots=True)
class NewShare:
    """What a link is to show, and for how many days."""

    live: bool = False
    thinking: bool = True
    tools: bool = True
    days: int = 0


@dataclass(frozen=True, slots=True)
class KnownShare:
    """A link, for its owner; without a token where it can no longer be read."""

    id: str
    token: str
    live: bool
    thinking: bool
    tools: bool
    created: datetime
    expires: datetime | None


@dataclass(frozen=True, slots=True)
class Shared:
    """What a link leads to: one page of it."""

    title: str
    messages: tuple[WithParts, ...]
    live: bool
    created: datetime
    page: int
    pages: int
    running: bool


@shielded
async def share(caller: Caller, conversation_id: str | UUID, wanted: NewShare) -> KnownShare:
    """Make a link to a conversation of one's own."""
    for _ in range(TRIES):
        # What takes long is made before, for those who write wait for each other.
        made = await in_pool(_made, caller, conversation_id, wanted)
        if known := await in_writer(_share, caller, conversation_id, wanted, made):
            return known
    raise ChatError("error.chat_server_busy")


@shielded
async def revoke_share(caller: Caller, conversation_id: str | UUID, share_id: str) -> None:
    """End a link, and forget what it showed."""
    await in_writer(_revoke, caller, conversation_id, share_id)


def list_shares(caller: Caller, conversation_id: str | UUID) -> list[KnownShare]:
    """The links of a conversation that lead somewhere, the latest first."""
    conversation = get_conversation(caller, conversation_id)
    rows = ShareLink.objects.open().filter(conversation=conversation).defer("messages")
    return [_known(row) for row in rows]


def revoke_as_admin(caller: Caller, row: ShareLink) -> None:
    """The same for an administrator, of anybody's link; it is written down."""
    with transaction.atomic():
        if _end(ShareLink.objects.filter(pk=row.pk), caller.user_id):
            audit(caller, Verb.CHANGE, row, details={"fields": ["revoked_at"]})


@dataclass(frozen=True, slots=True)
class _Made:
    """What a link is to show, and of which revision it was made."""

    rev: int
    row: ShareLink


def _made(caller: Caller, conversation_id: str | UUID, wanted: NewShare) -> _Made:
    # The revision is read before the messages: what changes after it is noticed.
    conversation = get_conversation(caller, conversation_id)
    _refuse_to_share(conversation, wanted)
    token = secrets.token_urlsafe(TOKEN_BYTES)
    row = ShareLink(
        conversation=conversation,
        token=token,
        token_hash=_hash(token),
        live=wanted.live,
        with_thinking=wanted.thinking,
        with_tools=wanted.tools,
        expires_at=timezone.now() + timedelta(days=wanted.days) if wanted.days else None,
    )
    if not wanted.live:
        now = now_ms()
        messages = [ended(each, now) for each in read_history(conversation.pk, before=ALL)]
        shown = _sharing(row).messages(messages)
        row.title = conversation.title
        row.messages = _as_json(shown, MOST_KEPT_BYTES, "error.chat_share_too_large")
    return _Made(conversation.rev, row)


@transaction.atomic
def _share(
    caller: Caller, conversation_id: str | UUID, wanted: NewShare, made: _Made
) -> KnownShare | None:
    """Write the link; none where what it would show may have been removed or corrected since."""
    conversation = lock_conversation(caller, conversation_id)
    _refuse_to_share(conversation, wanted)
    if not wanted.live and conversation.rev != made.rev:
        return None
    made.row.save(force_insert=True)
    return _known(made.row)


def _refuse_to_share(conversation: Conversation, wanted: NewShare) -> None:
    if conversation.temporary:
        raise ChatError("error.chat_temporary")
    if wanted.days not in DAYS:
        raise ChatError("error.chat_bad_command")
    if ShareLink.objects.open().filter(conversation=conversation).count() >= MOST_LINKS:
        raise ChatError("error.chat_share_too_many", limit=MOST_LINKS)


def _as_json(
    messages: Iterable[WithParts], most: int, refusal: str, taken: int = 0
) -> list[JsonObject]:
    """The messages, as long as they and what is taken already are not more bytes than this."""
    values: list[JsonObject] = []
    for message in messages:
        value = message_to_json(message)
        taken += len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
        if taken > most:
            raise ChatError(refusal, bytes=most)
        values.append(value)
    return values


@transaction.atomic
def _revoke(caller: Caller, conversation_id: str | UUID, share_id: str) -> None:
    conversation = get_conversation(caller, conversation_id)
    rows = ShareLink.objects.filter(conversation=conversation, revoked_at=None)
    if not is_uuid(share_id) or not _end(rows.filter(pk=share_id), caller.user_id):
        raise ChatError("error.chat_share_not_found")


def end_kept(conversation: Conversation) -> None:
    """End the links that show a conversation as it was: something in it is not to be read."""
    _end(ShareLink.objects.filter(conversation=conversation, live=False), None)


def _end(rows: ShareLinkQuerySet, user_id: int | None) -> int:
    """The row stays, so that it can be seen who shared what; what it showed does not."""
    return rows.filter(revoked_at=None).update(
        revoked_at=timezone.now(), revoked_by_id=user_id, messages=None, token=""
    )


def forget_expired() -> None:
    """What expired links showed is not kept either."""
    ShareLink.objects.filter(expires_at__lt=timezone.now(), messages__isnull=False).update(
        messages=None
    )


# --- reading ------------------------------------------------------------------------


def read_shared(token: str, page: int = 1) -> Shared:
    """What a link leads to, for anybody."""
    row = _find(token)
    if row.live:
        return _read_live(row, page)
    kept = row.messages or []
    pages = max(-(-len(kept) // SHARED_PAGE), 1)
    page = min(page, pages)
    start = (page - 1) * SHARED_PAGE
    messages = tuple(message_from_json(each) for each in kept[start : start + SHARED_PAGE])
    return Shared(row.title, messages, False, row.created, page, pages, running=False)


def shared_file(token: str, attachment_id: UUID) -> Attachment:
    """A file of a message that is shown, and no other."""
    row = _find(token)
    file = (
        Attachment.objects.filter(
            pk=attachment_id, message__conversation=row.conversation, temporary_in=None
        )
        .select_related("message")
        .first()
    )
    if file is None or not _is_shown(row, file):
        raise ChatError("error.chat_attachment_not_found")
    return file


async def copy_shared(caller: Caller, token: str, language: str) -> str:
    """All that a link shows as a conversation of one's own, to go on with; its id."""
    found = ""
    with one_import(caller) as may_import:
        if not may_import:
            raise ChatError("error.chat_import_running")
        wanted = await in_pool(_to_copy, token)
        with TemporaryFile() as file:
            # Not in a thread of the database: its files are read and its pictures made.
            await asyncio.to_thread(_write_copy, wanted, file)
            size = file.tell()
            file.seek(0)
            chunks = iter(lambda: file.read(COPY_CHUNK), b"")
            source = ImportSource(wanted.title, size, chunks, language)
            async for report in import_chats(caller, source):
                found = report.chats[0].id if report.chats else found
    if not found:
        raise ChatError("error.chat_share_not_found")
    return found


@dataclass(frozen=True, slots=True)
class _ToCopy:
    """What a link shows, and the files in it by their ids."""

    title: str
    messages: tuple[WithParts, ...]
    files: dict[str, Attachment]


def _to_copy(token: str) -> _ToCopy:
    row = _find(token)
    now = now_ms()
    messages = tuple(ended(each, now) for each in _all_messages(row))
    # A file that is shown twice is there twice.
    ids = [key for file in files_of(messages) if (key := own_id(file.url))]
    rows = Attachment.objects.filter(pk__in=set(ids), message__conversation=row.conversation)
    files = {str(each.pk): each for each in rows}
    taken = sum(files[key].size for key in ids if key in files)
    _as_json(
        messages, settings.PARLEY_LIMITS["import_bytes"], "error.chat_share_copy_too_large", taken
    )
    return _ToCopy(row.conversation.title if row.live else row.title, messages, files)


def _write_copy(wanted: _ToCopy, file: IO[bytes]) -> None:
    """All that a link shows as a file to import, with its files inside."""

    def inside(key: str) -> str:
        return (_data_url(wanted.files[key]) if key in wanted.files else "") or "about:blank"

    head = {"format": FIRST_FORMAT, "title": wanted.title}
    file.write(json.dumps(head, ensure_ascii=False).encode()[:-1] + b', "messages": [')
    for number, message in enumerate(wanted.messages):
        [whole] = with_files_at((message,), inside)
        value = json.dumps(message_to_json(whole), ensure_ascii=False)
        file.write((b",\n" if number else b"") + value.encode())
    file.write(b"]}")


def _data_url(row: Attachment) -> str:
    """The file as strangers may have it: a picture without the place and time in it."""
    try:
        if row.mime in IMAGES and row.mime != "image/gif":
            picture = picture_to_show(row)
            mime, data = (picture.mime, picture.data) if picture else ("", b"")
        else:
            mime, data = row.mime, row.file.read()
    except FileNotFoundError:
        return ""
    return f"data:{mime};base64,{b64encode(data).decode()}" if data else ""


def _find(token: str) -> ShareLink:
    if len(token) > LONGEST_TOKEN:
        raise ChatError("error.chat_share_not_found")
    rows = ShareLink.objects.open().select_related("conversation")
    row = rows.filter(token_hash=_hash(token)).first()
    if row is None:
        raise ChatError("error.chat_share_not_found")
    return row


def _hash(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()


def _read_live(row: ShareLink, page: int) -> Shared:
    shown = Message.objects.shown().filter(conversation=row.conversation)
    ids = list(shown.order_by("position").values_list("pk", flat=True))
    pages = max(-(-len(ids) // SHARED_PAGE), 1)
    page = min(page, pages)
    start = (page - 1) * SHARED_PAGE
    read = read_messages(ids[start : start + SHARED_PAGE])
    messages = _sharing(row).messages(read, first=start + 1)
    running = any(getattr(each.info, "status", "") in ("pending", "streaming") for each in messages)
    title = row.conversation.title
    return Shared(title, messages, True, row.created, page, pages, running=running)


def _all_messages(row: ShareLink) -> tuple[WithParts, ...]:
    if row.live:
        return _sharing(row).messages(read_history(row.conversation_id, before=ALL))
    return tuple(message_from_json(each) for each in row.messages or [])


def _is_shown(row: ShareLink, file: Attachment) -> bool:
    """Whether the file is in what the link shows, and not in a tool that it leaves out."""
    if not row.live:
        return own_url(file.pk) in file_urls(row.messages or [])
    if file.message is None or file.message.archived_at is not None:
        return False
    messages = _sharing(row).messages(read_messages([file.message.pk]))
    return any(own_id(each.url) == str(file.pk) for each in files_of(messages))


def _sharing(row: ShareLink) -> Sharing:
    catalog = current_catalog()
    names = {
        (model.choice.ref.provider_id, model.choice.ref.model_id): model.name
        for model in catalog.models.values()
    }
    return Sharing(
        thinking=row.with_thinking,
        tools=row.with_tools,
        model_name=lambda provider, model: names.get((provider, model), model),
    )


def _known(row: ShareLink) -> KnownShare:
    return KnownShare(
        id=str(row.pk),
        token=str(row.token),
        live=row.live,
        thinking=row.with_thinking,
        tools=row.with_tools,
        created=row.created,
        expires=row.expires_at,
    )
