"""Rename, pin, archive, delete, restore, choose who answers: what one does with a conversation."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.protocol.events import Choice, Deleted, Title
from chat.protocol.stopped import StoppedBy
from chat.protocol.text import clean_text
from chat.protocol.transcript import Chosen
from chat.services.access import get_conversation, lock_conversation
from chat.services.background import shielded
from chat.services.broadcast import publish, tell_sidebar
from chat.services.caller import Caller
from chat.services.catalog.permissions import catalog_for
from chat.services.catalog.picks import Picks, apply_picks
from chat.services.catalog.preferences import remember_choice
from chat.services.conversations.history import chosen_in
from chat.services.conversations.revision import raise_rev
from chat.services.conversations.search_index import index_title
from chat.services.conversations.temporary import idle, remove_ended
from chat.services.pool import in_writer
from chat.services.processes.control import stop_runs

TITLE_LENGTH = 200
PURGED_AT_ONCE = 20
PUT_AWAY_PAGE = 100

PutAway = Literal["deleted", "archived"]
_PUT_AWAY_AT: dict[PutAway, str] = {"deleted": "deleted_at", "archived": "archived_at"}


@shielded
async def rename(caller: Caller, conversation_id: str | UUID, title: object) -> str:
    """Give a title by hand; it is never replaced by a made one."""
    event = await in_writer(_rename, caller, conversation_id, title)
    await publish(event.conversation_id, [event])
    await tell_sidebar(caller.user_id, event.conversation_id)
    return event.title


@shielded
async def pin(caller: Caller, conversation_id: str | UUID, *, pinned: bool) -> None:
    """Keep a conversation on top of the sidebar, or no longer."""
    await in_writer(_pin, caller, conversation_id, pinned)
    await tell_sidebar(caller.user_id, str(conversation_id))


@shielded
async def archive(caller: Caller, conversation_id: str | UUID, *, archived: bool) -> None:
    """Take a conversation out of the column, or bring it back; search finds it all the same."""
    await in_writer(_archive, caller, conversation_id, archived)
    await tell_sidebar(caller.user_id, str(conversation_id))


@shielded
async def delete(caller: Caller, conversation_id: str | UUID) -> None:
    """Take a conversation out of sight; until it is purged it can be brought back. A temporary
    one goes for good."""
    event = await in_writer(_delete, caller, conversation_id)
    stop = StoppedBy(by_id=str(caller.user_id), reason="deleted")
    await stop_runs(event.conversation_id, stop)
    await publish(event.conversation_id, [event])
    await tell_sidebar(caller.user_id, event.conversation_id)
    await in_writer(remove_ended)


@shielded
async def restore(caller: Caller, conversation_id: str | UUID) -> None:
    """Bring back what was deleted."""
    await in_writer(_restore, caller, conversation_id)
    await tell_sidebar(caller.user_id, str(conversation_id))


@shielded
async def undo(caller: Caller, conversation_id: str | UUID, what: PutAway) -> None:
    """Take back that a conversation was deleted or archived, together with all others to which it
    was done in the same act: they have the same time."""
    await in_writer(_undo, caller, conversation_id, what)
    await tell_sidebar(caller.user_id, str(conversation_id))


@shielded
async def purge(caller: Caller, conversation_id: str | UUID) -> None:
    """Delete for good, now, what was deleted before."""
    await in_writer(_purge, caller, conversation_id)


@shielded
async def choose(caller: Caller, conversation_id: str | UUID, picks: Picks) -> Chosen:
    """Who answers from the next turn on, how hard it thinks, and which tools are on and off."""
    chosen, event = await in_writer(_choose, caller, conversation_id, picks)
    if event is not None:
        await publish(event.conversation_id, [event])
    return chosen


def purge_deleted() -> None:
    """Delete for good what was deleted long ago; some at a time, others want to write too."""
    days = settings.PARLEY_LIMITS["deleted_days"]
    if not days:
        return
    old = Conversation.objects.filter(deleted_at__lt=timezone.now() - timedelta(days=days))
    for conversation in idle(old)[:PURGED_AT_ONCE]:
        conversation.delete()


@dataclass(frozen=True, slots=True)
class DeletedConversation:
    """A conversation that can still be brought back, and until when."""

    id: str
    title: str
    until: datetime | None


@dataclass(frozen=True, slots=True)
class ArchivedConversation:
    """A conversation that the column does not list, and since when."""

    id: str
    title: str
    since: datetime


def list_archived(caller: Caller, page: int) -> tuple[list[ArchivedConversation], bool]:
    """Those that were archived last come first; and whether there are more behind this page."""
    rows = Conversation.objects.kept_by(caller.user_id).filter(archived_at__isnull=False)
    values, more = _put_away_page(rows, "archived_at", page)
    return [ArchivedConversation(str(key), title, at) for key, title, at in values], more


def list_deleted(caller: Caller, page: int) -> tuple[list[DeletedConversation], bool]:
    """Those that were deleted last come first; and whether there are more behind this page."""
    rows = _deleted(caller)
    values, more = _put_away_page(rows, "deleted_at", page)
    days = settings.PARLEY_LIMITS["deleted_days"]
    listed = [
        DeletedConversation(str(key), title, at + timedelta(days=days) if days else None)
        for key, title, at in values
    ]
    return listed, more


def _put_away_page(
    rows: QuerySet[Conversation], when: str, page: int
) -> tuple[list[tuple[UUID, str, datetime]], bool]:
    """One page of what was put away, the latest first, and whether there are more behind it."""
    begin = (page - 1) * PUT_AWAY_PAGE
    found = rows.order_by(f"-{when}", "-pk")[begin : begin + PUT_AWAY_PAGE + 1]
    values = list(found.values_list("pk", "title", when))
    return values[:PUT_AWAY_PAGE], len(values) > PUT_AWAY_PAGE


def count_archived_with(caller: Caller, conversation_id: str) -> int:
    """How many were archived in one act with this conversation of theirs, itself included; none
    if it is not archived."""
    return _put_away_with(caller, conversation_id, "archived").count()


def count_deleted_with(caller: Caller, conversation_id: str) -> int:
    """The same of a conversation that was deleted and can still be brought back."""
    return _put_away_with(caller, conversation_id, "deleted").count()


def _put_away_with(
    caller: Caller, conversation_id: str | UUID, what: PutAway
) -> QuerySet[Conversation]:
    deleted = what == "deleted"
    mine = _deleted(caller) if deleted else Conversation.objects.kept_by(caller.user_id)
    at = mine.filter(pk=conversation_id, **{f"{_PUT_AWAY_AT[what]}__isnull": False})
    return mine.filter(**{f"{_PUT_AWAY_AT[what]}__in": at.values(_PUT_AWAY_AT[what])})


def _deleted(caller: Caller) -> QuerySet[Conversation]:
    """What can still be brought back; temporary chats are gone when they are deleted."""
    rows = Conversation.objects.filter(owner_id=caller.user_id, deleted_at__isnull=False)
    return rows.filter(temporary=False)


@transaction.atomic
def _rename(caller: Caller, conversation_id: str | UUID, title: object) -> Title:
    text = " ".join(clean_text(title).split()) if isinstance(title, str) else ""
    if not text:
        raise ChatError("error.chat_title_required")
    conversation = _refuse_temporary(lock_conversation(caller, conversation_id))
    conversation.title = text[:TITLE_LENGTH]
    conversation.titled_by_hand = True
    raise_rev(conversation, "title", "titled_by_hand")
    index_title(conversation)
    return Title(
        conversation_id=str(conversation.pk), rev=conversation.rev, title=conversation.title
    )


def _refuse_temporary(conversation: Conversation) -> Conversation:
    """What is not kept has no place in lists."""
    if conversation.temporary:
        raise ChatError("error.chat_temporary")
    return conversation


def _pin(caller: Caller, conversation_id: str | UUID, pinned: bool) -> None:
    conversation = _refuse_temporary(get_conversation(caller, conversation_id))
    Conversation.objects.filter(pk=conversation.pk).update(pinned=pinned)


def _archive(caller: Caller, conversation_id: str | UUID, archived: bool) -> None:
    conversation = _refuse_temporary(get_conversation(caller, conversation_id))
    rows = Conversation.objects.filter(pk=conversation.pk, archived_at__isnull=archived)
    rows.update(archived_at=timezone.now() if archived else None)


@transaction.atomic
def _choose(
    caller: Caller, conversation_id: str | UUID, picks: Picks
) -> tuple[Chosen, Choice | None]:
    """Who is chosen now, and what to tell if that has changed."""
    conversation = lock_conversation(caller, conversation_id)
    before = chosen_in(conversation)
    catalog = catalog_for(caller, trying=picks.agent_id)
    apply_picks(conversation, catalog, picks)
    chosen = chosen_in(conversation)
    if chosen == before:
        return chosen, None
    raise_rev(conversation, "agent_id", "model_id", "effort", "tools_off")
    remember_choice(caller, catalog, conversation)
    event = Choice(
        conversation_id=str(conversation.pk),
        rev=conversation.rev,
        **chosen._asdict(),
    )
    return chosen, event


@transaction.atomic
def _delete(caller: Caller, conversation_id: str | UUID) -> Deleted:
    conversation = lock_conversation(caller, conversation_id)
    conversation.deleted_at = timezone.now()
    raise_rev(conversation, "deleted_at")
    return Deleted(conversation_id=str(conversation.pk), rev=conversation.rev)


def _restore(caller: Caller, conversation_id: str | UUID) -> None:
    rows = Conversation.objects.filter(owner_id=caller.user_id, pk=conversation_id)
    if not rows.filter(temporary=False).update(deleted_at=None):
        raise ChatError("error.chat_conversation_not_found")


def _undo(caller: Caller, conversation_id: str | UUID, what: PutAway) -> None:
    keys = list(_put_away_with(caller, conversation_id, what).values_list("pk", flat=True))
    if not keys:
        raise ChatError("error.chat_conversation_not_found")
    Conversation.objects.filter(pk__in=keys).update(**{_PUT_AWAY_AT[what]: None})


def _purge(caller: Caller, conversation_id: str | UUID) -> None:
    mine = _deleted(caller).filter(pk=conversation_id)
    conversation = idle(mine).first()
    if conversation is not None:
        conversation.delete()
    elif mine.exists():
        raise ChatError("error.chat_previous_generation_not_finished")
    else:
        raise ChatError("error.chat_conversation_not_found")
