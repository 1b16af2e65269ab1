"""Temporary chats: kept nowhere, and gone with their last tab.

While one lives its rows are like any other's, and whatever lists conversations passes over them.
It ends when no tab counts for it any more (`processes/presence.py`), when whoever began it logs
out, or when it is deleted. First it is out of reach, its pages close and its answer is stopped;
its rows and files go when nothing writes them any more.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from chat.formats.title import title_from
from chat.models import Conversation, Generation, Message
from chat.protocol.events import Deleted, Kept
from chat.protocol.ids import is_uuid
from chat.protocol.parts import FilePart
from chat.protocol.stopped import StoppedBy
from chat.services.access import lock_conversation
from chat.services.background import shielded
from chat.services.broadcast import publish, tell_sidebar
from chat.services.caller import Caller
from chat.services.conversations.history import as_value
from chat.services.conversations.revision import raise_rev
from chat.services.conversations.search_index import index_conversation
from chat.services.pool import in_pool, in_writer
from chat.services.processes.control import stop_runs
from chat.services.processes.presence import counting_views

log = logging.getLogger(__name__)

# Under this name a session keeps which temporary chats were begun in it.
TEMPORARY = "temporary"
BATCH = 20


# --- the verbs ----------------------------------------------------------------------


@shielded
async def keep(caller: Caller, conversation_id: str | UUID) -> None:
    """Turn a temporary chat into a conversation like any other; one that is kept stays so."""
    event = await in_writer(_keep, caller, conversation_id)
    if event is not None:
        await publish(event.conversation_id, [event])
        await tell_sidebar(caller.user_id, event.conversation_id)


@shielded
async def end_of_session(user_id: int, ids: Iterable[str]) -> None:
    """Somebody has logged out: what they began in that session goes at once."""
    keys = [UUID(key) for key in ids if is_uuid(key)]
    if keys:
        await _end(await in_writer(_put_out_of_reach, keys, user_id))


async def end_abandoned() -> None:
    """End those that no tab counts for any more, and see that the rows of all that ended go."""
    abandoned = await in_pool(_abandoned)
    if abandoned:
        await _end(await in_writer(_put_out_of_reach, abandoned))
    elif await in_pool(_ended().exists):
        await in_writer(remove_ended)


async def _end(ended: Iterable[Deleted]) -> None:
    for event in ended:
        await stop_runs(event.conversation_id, StoppedBy(reason="deleted"))
        await publish(event.conversation_id, [event])
    await in_writer(remove_ended)


# --- the rows -----------------------------------------------------------------------


@transaction.atomic
def _keep(caller: Caller, conversation_id: str | UUID) -> Kept | None:
    conversation = lock_conversation(caller, conversation_id)
    if not conversation.temporary:
        return None
    conversation.temporary = False
    conversation.title = _title(conversation)
    raise_rev(conversation, "temporary", "title")
    index_conversation(conversation)
    return Kept(
        conversation_id=str(conversation.pk), rev=conversation.rev, title=conversation.title
    )


def _title(conversation: Conversation) -> str:
    """Its first words, as any other has been given when it began."""
    rows = Message.objects.shown().filter(conversation=conversation, role=Message.Role.USER)
    first = rows.order_by("position").first()
    if first is None:
        return ""
    message = as_value(first)
    names = [part.filename or "" for part in message.parts if isinstance(part, FilePart)]
    return title_from(message.text.strip() or next(iter(names), ""))


def _abandoned() -> list[UUID]:
    # Whoever has just begun one may still be on the way to its page.
    grace = Now() - timedelta(seconds=settings.PARLEY_LIMITS["grace_seconds"])
    watching = counting_views().filter(conversation_id=OuterRef("pk"))
    rows = Conversation.objects.filter(temporary=True, deleted_at=None, created__lt=grace)
    return list(rows.filter(~Exists(watching)).values_list("pk", flat=True)[:BATCH])


@transaction.atomic
def _put_out_of_reach(keys: list[UUID], owner_id: int | None = None) -> list[Deleted]:
    """Nobody reads or writes them from now on; one that was kept meanwhile stays."""
    rows = Conversation.objects.select_for_update(no_key=True)
    rows = rows.filter(pk__in=keys, temporary=True, deleted_at=None)
    if owner_id is not None:
        rows = rows.filter(owner_id=owner_id)
    events = []
    for conversation in rows:
        conversation.deleted_at = timezone.now()
        raise_rev(conversation, "deleted_at")
        events.append(Deleted(conversation_id=str(conversation.pk), rev=conversation.rev))
    return events


def _ended() -> QuerySet[Conversation]:
    """Out of reach, and nothing is written in them any more."""
    return idle(Conversation.objects.filter(temporary=True, deleted_at__isnull=False))


def idle(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Those in which nothing is written any more. What an answer has used is counted when it ends:
    without its row it would never be."""
    running = Generation.objects.filter(conversation=OuterRef("pk"), status="active")
    return rows.filter(~Exists(running))


def remove_ended() -> None:
    """Delete the rows and files of what has ended. An answer that is still being stopped is waited
    for: the next round comes in a few seconds."""
    for conversation in _ended()[:BATCH]:
        try:
            conversation.delete()
        except IntegrityError:
            # A page has just attached to it; the next round finds that too.
            log.info("a temporary chat could not be deleted yet")
