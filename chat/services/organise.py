"""Rename, pin, archive, delete: what the column can do with a conversation."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.models import Agent, Conversation, Generation, LanguageModel
from chat.protocol.errors import ChatError
from chat.protocol.events import Event, EventName
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.protocol.transcript import Chosen
from chat.services.access import get_conversation, lock_conversation
from chat.services.broadcast import publish, tell_user
from chat.services.control import ask_to_stop
from chat.services.pool import in_pool
from chat.services.reading import chosen_in
from chat.services.runs import Stop
from chat.services.search_index import index_title

TITLE_LENGTH = 200
PURGED_AT_ONCE = 20


async def rename(user_id: int, conversation_id: str | UUID, title: object) -> str:
    """Give a title by hand; it is never replaced by a made one."""
    conversation = await in_pool(_rename, user_id, conversation_id, title)
    await _tell(conversation, "chat:title", title=conversation.title)
    return conversation.title


async def pin(user_id: int, conversation_id: str | UUID, *, pinned: bool) -> None:
    await in_pool(_pin, user_id, conversation_id, pinned)
    await tell_user(user_id, "column", conversation_id=str(conversation_id))


async def delete(user_id: int, conversation_id: str | UUID) -> None:
    """Take it out of sight; until it is purged it can be brought back."""
    conversation = await in_pool(_delete, user_id, conversation_id)
    stop = Stop(by_id=str(user_id), reason="deleted")
    for request_id in await in_pool(_leave_wish, conversation, stop):
        await ask_to_stop(str(conversation.pk), request_id, stop)
    await _tell(conversation, "chat:deleted")


async def restore(user_id: int, conversation_id: str | UUID) -> None:
    """Undo a delete."""
    await in_pool(_restore, user_id, conversation_id)
    await tell_user(user_id, "column", conversation_id=str(conversation_id))


async def choose(user_id: int, conversation_id: str | UUID, agent_id: str, model_id: str) -> Chosen:
    """Who answers from the next turn on; what may not be used, or is not named, stays."""
    conversation, changed = await in_pool(_choose, user_id, conversation_id, agent_id, model_id)
    chosen = chosen_in(conversation)
    if changed:
        await _publish(conversation, "chat:choice", **chosen._asdict())
    return chosen


def purge_deleted() -> None:
    """Delete for good what was deleted long ago; some at a time, others want to write too."""
    days = settings.PARLEY_LIMITS["deleted_days"]
    if not days:
        return
    old = Conversation.objects.filter(deleted_at__lt=timezone.now() - timedelta(days=days))
    for conversation in old[:PURGED_AT_ONCE]:
        conversation.delete()


def was_deleted(user_id: int, conversation_id: str) -> bool:
    """Whether this is a conversation of theirs that can still be brought back."""
    rows = Conversation.objects.filter(owner_id=user_id, pk=conversation_id)
    return rows.filter(deleted_at__isnull=False).exists()


async def _tell(conversation: Conversation, name: EventName, **body: str) -> None:
    await _publish(conversation, name, **body)
    await tell_user(conversation.owner_id, "column", conversation_id=str(conversation.pk))


async def _publish(conversation: Conversation, name: EventName, **body: str) -> None:
    key = str(conversation.pk)
    await publish(key, [Event(name=name, conversation_id=key, rev=conversation.rev, body=body)])


@transaction.atomic
def _rename(user_id: int, conversation_id: str | UUID, title: object) -> Conversation:
    text = " ".join(clean_text(title).split()) if isinstance(title, str) else ""
    if not text:
        raise ChatError("error.chat_title_required")
    conversation = lock_conversation(user_id, conversation_id)
    conversation.title = text[:TITLE_LENGTH]
    conversation.titled_by_hand = True
    conversation.rev += 1
    conversation.save(update_fields=("title", "titled_by_hand", "rev"))
    index_title(conversation)
    return conversation


def _pin(user_id: int, conversation_id: str | UUID, pinned: bool) -> None:
    conversation = get_conversation(user_id, conversation_id)
    Conversation.objects.filter(pk=conversation.pk).update(pinned=pinned)


@transaction.atomic
def _choose(
    user_id: int, conversation_id: str | UUID, agent_id: str, model_id: str
) -> tuple[Conversation, bool]:
    """The conversation, and whether anything about it has changed."""
    conversation = lock_conversation(user_id, conversation_id)
    before = conversation.agent_id, conversation.model_id
    models = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    if is_uuid(agent_id) and Agent.objects.filter(enabled=True, pk=agent_id).exists():
        conversation.agent_id = UUID(agent_id)
    if is_uuid(model_id) and models.filter(pk=model_id).exists():
        conversation.model_id = UUID(model_id)
    if before == (conversation.agent_id, conversation.model_id):
        return conversation, False
    conversation.rev += 1
    conversation.save(update_fields=("agent", "model", "rev"))
    return conversation, True


@transaction.atomic
def _delete(user_id: int, conversation_id: str | UUID) -> Conversation:
    conversation = lock_conversation(user_id, conversation_id)
    conversation.deleted_at = timezone.now()
    conversation.rev += 1
    conversation.save(update_fields=("deleted_at", "rev"))
    return conversation


def _leave_wish(conversation: Conversation, stop: Stop) -> list[str]:
    """Not in the transaction above: a run that writes holds its row and wants the conversation's,
    the other way round both would wait for ever."""
    active = Generation.objects.filter(conversation=conversation, status="active")
    active.update(stop_requested_by=stop.as_json())
    return [str(pk) for pk in active.values_list("pk", flat=True)]


def _restore(user_id: int, conversation_id: str | UUID) -> None:
    rows = Conversation.objects.filter(owner_id=user_id, pk=conversation_id)
    if not rows.update(deleted_at=None):
        raise ChatError("error.chat_conversation_not_found")
