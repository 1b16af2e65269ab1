"""Edit and resend, regenerate, continue: an answer begins again, and nothing is lost."""

from collections import defaultdict
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from chat.models import Conversation, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.factories import create_text_part
from chat.protocol.ids import is_uuid, uuid7
from chat.services import sql
from chat.services.background import shielded
from chat.services.caller import Caller
from chat.services.catalog.permissions import catalog_for
from chat.services.conversations.revision import edited
from chat.services.conversations.search_index import index_message
from chat.services.pool import in_pool
from chat.services.turns.send import check_content
from chat.services.turns.start import (
    Started,
    find_started,
    launch,
    lock_turn,
    look_at_turn,
    next_position,
    refuse,
    refuse_stale,
    resume_answer,
    write_answer,
)
from chat.services.turns.stop import stop_and_wait, when_stopped

# What can be gone on with: it stopped before it was done.
UNFINISHED = (Message.Status.ERROR, Message.Status.CANCELLED)


@shielded
async def edit(
    caller: Caller,
    conversation_id: str | UUID,
    message_id: str,
    content: object,
    *,
    archive: bool = True,
) -> Started:
    """Put another text in one's own message; what came after it is archived or deleted."""
    check_content(content, required=False)
    await _make_room(caller, conversation_id, message_id, Message.Role.USER, content)
    started = await when_stopped(write_edit, caller, conversation_id, message_id, content, archive)
    return await launch(caller, started)


@shielded
async def regenerate(
    caller: Caller, conversation_id: str | UUID, message_id: str, model_id: str = ""
) -> Started:
    """Another answer to the same message; the earlier one stays as a version. `model_id` is a
    model for this answer alone: the conversation goes on with the one that it has."""
    model = await in_pool(_pick_model, caller, model_id)
    await _make_room(caller, conversation_id, message_id, Message.Role.ASSISTANT)
    started = await when_stopped(write_regenerate, caller, conversation_id, message_id, model)
    return await launch(caller, started)


@shielded
async def continue_answer(caller: Caller, conversation_id: str | UUID, message_id: str) -> Started:
    """Go on with the last answer where it ended early; finished tools do not run again."""
    started = await when_stopped(write_continue, caller, conversation_id, message_id)
    return await launch(caller, started)


# --- each in one transaction --------------------------------------------------------


@transaction.atomic
def write_edit(
    caller: Caller, conversation_id: str | UUID, message_id: str, content: object, archive: bool
) -> Started:
    turn = lock_turn(caller, conversation_id)
    conversation = turn.conversation
    repeated = find_started(turn)
    if repeated:
        return repeated
    refuse(turn)
    message = find_message(conversation, message_id, Message.Role.USER)
    text = _check_new_text(message, content)
    if archive:
        removed = put_away(conversation, message.position + 1)
        _keep_version(conversation, message)
    else:
        removed = _delete_after(conversation, message)
        message.parts.exclude(type="file").delete()
    _write_new_text(message, text)
    started = write_answer(turn, message)
    return replace(started, event=edited(conversation, [message.pk], removed, caller))


@transaction.atomic
def write_regenerate(
    caller: Caller, conversation_id: str | UUID, message_id: str, model_id: UUID | None = None
) -> Started:
    turn = lock_turn(caller, conversation_id)
    conversation = turn.conversation
    repeated = find_started(turn)
    if repeated:
        return repeated
    refuse(turn)
    answer = find_message(conversation, message_id, Message.Role.ASSISTANT)
    if answer.parent is None:
        raise ChatError("error.chat_message_not_found")
    removed = put_away(conversation, answer.position)
    started = write_answer(turn, answer.parent, model_id=model_id)
    return replace(started, event=edited(conversation, [answer.parent.pk], removed, caller))


@transaction.atomic
def write_continue(caller: Caller, conversation_id: str | UUID, message_id: str) -> Started:
    turn = lock_turn(caller, conversation_id)
    conversation = turn.conversation
    repeated = find_started(turn)
    if repeated:
        return repeated
    refuse(turn)
    answer = find_message(conversation, message_id, Message.Role.ASSISTANT)
    ended_early = answer.status in UNFINISHED or answer.finish_reason == "length"
    if answer.pk != turn.standing.last or not ended_early:
        raise ChatError("error.chat_nothing_to_continue")
    started = resume_answer(turn, answer)
    asked = [answer.parent.pk] if answer.parent else []
    return replace(started, event=edited(conversation, [answer.pk, *asked], caller=caller))


# --- making room --------------------------------------------------------------------


async def _make_room(
    caller: Caller,
    conversation_id: str | UUID,
    message_id: str,
    role: str,
    content: object = None,
) -> None:
    """Stop a running answer and see it settled; not for a request that will be refused anyway."""
    request_id = await in_pool(_run_in_the_way, caller, conversation_id, message_id, role, content)
    if request_id:
        await stop_and_wait(caller, conversation_id, request_id)


def _pick_model(caller: Caller, model_id: str) -> UUID | None:
    """The model that is asked for; one that cannot be used is refused before anything is
    stopped for it."""
    if not model_id:
        return None
    picked = catalog_for(caller).asked_model(model_id)
    if picked is None:
        raise ChatError("error.chat_model_not_configured")
    return picked


def _run_in_the_way(
    caller: Caller, conversation_id: str | UUID, message_id: str, role: str, content: object
) -> str:
    """The run that an edit must stop first. It is looked for before the request is checked: one
    that begins in between has changed what the request is about, and must not be stopped."""
    turn = look_at_turn(caller, conversation_id)
    if turn.standing.started:
        return ""
    refuse_stale(turn)
    message = find_message(turn.conversation, message_id, role)
    if role == Message.Role.USER:
        _check_new_text(message, content)
    return str(turn.standing.active or "")


def find_message(conversation: Conversation, message_id: str, role: str = "") -> Message:
    """A message of this conversation that is shown and, if that is asked for, has this role."""
    rows = Message.objects.shown().filter(conversation=conversation)
    rows = rows.filter(role=role) if role else rows
    message = rows.filter(pk=message_id).first() if is_uuid(str(message_id)) else None
    if message is None:
        raise ChatError("error.chat_message_not_found")
    return message


def put_away(conversation: Conversation, first: int) -> list[int]:
    """Take the messages from a position on out of sight; their positions."""
    later = Message.objects.shown().filter(conversation=conversation, position__gte=first)
    positions = list(later.values_list("position", flat=True))
    later.update(archived_at=timezone.now())
    return positions


# --- the text of a message ----------------------------------------------------------


def _check_new_text(message: Message, content: object) -> str:
    """The new text of a message; its files stay on it, and may be all that it has."""
    return check_content(content, required=not message.parts.filter(type="file").exists())


def _write_new_text(message: Message, text: str) -> None:
    last = message.parts.aggregate(last=Max("position"))["last"]
    if text:
        part = create_text_part(str(message.conversation_id), str(message.pk), text)
        sql.insert([Part.of(part, 0 if last is None else last + 1)])
    message.updated = timezone.now()
    message.revision += 1
    message.save(update_fields=("version", "revision", "updated"))
    index_message(message.pk)


def _delete_after(conversation: Conversation, message: Message) -> list[int]:
    """Delete all messages after this one, in earlier versions of it as well; the positions of
    those that were shown."""
    children: defaultdict[UUID | None, list[UUID]] = defaultdict(list)
    for pk, parent, original in Message.objects.filter(conversation=conversation).values_list(
        "pk", "parent_id", "copy_of_id"
    ):
        children[original or parent].append(pk)
    kept = set(Message.objects.filter(copy_of=message).values_list("pk", flat=True))
    gone: list[UUID] = []
    following = [pk for pk in children[message.pk] if pk not in kept]
    while following:
        gone += following
        following = [child for pk in following for child in children[pk]]
    later = Message.objects.shown().filter(conversation=conversation, position__gt=message.position)
    positions = list(later.values_list("position", flat=True))
    later.delete()
    Message.objects.filter(pk__in=gone).delete()
    return positions


def _keep_version(conversation: Conversation, message: Message) -> None:
    """Keep the old text out of sight; the new one has the same files."""
    files = list(message.parts.filter(type="file"))
    keep_text(message, next_position(conversation))
    for file in files:
        file.pk = uuid7()
        file.save(force_insert=True)


def keep_text(message: Message, position: int, **told: Any) -> Message:
    """Move the text of a message, and the answers to it, to a row of their own; what else is
    `told` of it is kept with them. The message is given the next version, unsaved."""
    kept = Message.objects.create(
        conversation_id=message.conversation_id,
        copy_of=message,
        version=message.version,
        position=position,
        role=message.role,
        format_version=message.format_version,
        archived_at=timezone.now(),
        **told,
    )
    Part.objects.filter(message=message).update(message=kept)
    Message.objects.filter(parent=message).update(parent=kept)
    highest = Message.objects.filter(copy_of=message).aggregate(highest=Max("version"))["highest"]
    message.version = max(highest, message.version) + 1
    return kept
