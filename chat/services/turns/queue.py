"""The queue: what is sent while an answer runs waits in rows, and is sent when the answer ends.

Every change holds the conversation, so of all who want to send the next message one does. What no
process has sent by then (it crashed, was going down, or had no room) is found by `send_due`.
"""

import logging
from dataclasses import dataclass, replace
from uuid import UUID

from django.db import transaction

from chat.models import Attachment, Conversation, Generation, Message, QueuedMessage
from chat.protocol.errors import ChatError
from chat.protocol.events import Queue
from chat.protocol.ids import is_uuid
from chat.services.access import lock_conversation, lock_row
from chat.services.background import shielded, shielded_work
from chat.services.broadcast import publish
from chat.services.caller import Caller
from chat.services.conversations.history import as_value
from chat.services.conversations.queue import queued_value
from chat.services.pool import in_pool, in_writer
from chat.services.runs import settle
from chat.services.turns.enqueue import queue_changed
from chat.services.turns.send import check_content, write_message
from chat.services.turns.start import Started, Turn, held_turn, launch, refuse, turn_in
from chat.services.turns.stop import stop_and_wait, when_stopped

log = logging.getLogger(__name__)

# Why a message cannot be sent yet, although nothing is wrong with it.
NO_ROOM = (
    "error.chat_server_busy",
    "error.chat_too_many_generations",
    "error.chat_too_many_messages",
)
BATCH = 100


# --- the verbs ----------------------------------------------------------------------


@shielded
async def edit_queued(
    caller: Caller, conversation_id: str | UUID, message_id: str, content: object
) -> None:
    """Put another text in a message that waits; its files stay on it."""
    check_content(content, required=False)
    await _tell(await in_writer(_edit, caller, conversation_id, message_id, content))


@shielded
async def remove_queued(caller: Caller, conversation_id: str | UUID, message_id: str) -> None:
    """Take a message out of the queue, and its files with it."""
    await _tell(await in_writer(_remove, caller, conversation_id, message_id))


@shielded
async def hold_queue(caller: Caller, conversation_id: str | UUID, *, held: bool) -> None:
    """Let the queue wait, or go on."""
    await _tell(await in_writer(_hold, caller, conversation_id, held))
    if not held:
        await send_next(str(conversation_id))


@shielded
async def send_queued(caller: Caller, conversation_id: str | UUID, message_id: str) -> Started:
    """Send a message that waits now: the running answer is stopped for it, and what else waits
    goes on after it."""
    way = await in_writer(_make_way, caller, conversation_id, message_id)
    if isinstance(way, Started):
        return way
    await _tell(way.event)
    if way.request_id:
        await stop_and_wait(caller, conversation_id, way.request_id)
    started = await when_stopped(_write_chosen, caller, conversation_id, message_id)
    return await launch(caller, started)


# --- going on by itself -------------------------------------------------------------


@shielded
async def send_next(conversation_id: str) -> None:
    """Send the next message, unless an answer runs, nothing waits, or the queue is held."""
    try:
        written = await in_writer(_write_next, conversation_id)
    except ChatError as error:
        if error.key not in NO_ROOM:
            # No model, say: a person must see to it.
            log.info("a queued message cannot be sent: %s", error.key)
            await _tell(await in_writer(_hold_row, conversation_id))
        return
    if written is not None:
        caller, started = written
        # Whoever queued it need not watch.
        spec = replace(started.spec, unwatched="continue") if started.spec else None
        await launch(caller, replace(started, spec=spec))


async def send_due() -> None:
    """Send what waits for nothing any more: its answer ended with its process, or just before."""
    for conversation_id in await in_pool(_due):
        try:
            await send_next(conversation_id)
        except Exception:  # one that cannot be written must not hold up the others
            log.exception("a queued message could not be sent")


def _send_soon(conversation_id: str) -> None:
    shielded_work.spawn(send_next(conversation_id), f"queue of {conversation_id}")


# The end of an answer lets the queue go on.
settle.go_on.append(_send_soon)


def _due() -> list[str]:
    idle = Conversation.objects.filter(deleted_at=None, queue_held=False, queued__isnull=False)
    running = Generation.objects.filter(status="active").values("conversation_id")
    found = idle.exclude(pk__in=running).distinct().values_list("pk", flat=True)
    return [str(pk) for pk in found[:BATCH]]


# --- each in one transaction --------------------------------------------------------


@transaction.atomic
def _edit(
    caller: Caller, conversation_id: str | UUID, message_id: str, content: object
) -> Queue | None:
    conversation = lock_conversation(caller, conversation_id)
    row = _find(conversation, message_id)
    text = check_content(content, required=not row.files)
    if text == row.text:
        return None
    row.text = text
    row.revision += 1
    row.save(update_fields=("text", "revision"))
    return queue_changed(conversation, caller, messages=(queued_value(row),))


@transaction.atomic
def _remove(caller: Caller, conversation_id: str | UUID, message_id: str) -> Queue:
    conversation = lock_conversation(caller, conversation_id)
    _find(conversation, message_id).delete()
    return queue_changed(conversation, caller, removed=(message_id,))


@transaction.atomic
def _hold(caller: Caller, conversation_id: str | UUID, held: bool) -> Queue | None:
    return _set_held(lock_conversation(caller, conversation_id), held, caller)


@transaction.atomic
def _hold_row(conversation_id: str) -> Queue | None:
    return _set_held(lock_row(conversation_id), True)


@dataclass(frozen=True, slots=True)
class _Way:
    """What was done for a message that is to be sent now: the run to stop, and what to tell."""

    request_id: str
    event: Queue | None


@transaction.atomic
def _make_way(caller: Caller, conversation_id: str | UUID, message_id: str) -> _Way | Started:
    """Hold the queue, so that no other message takes the place of the answer that is stopped.
    A message that is no longer queued may have been sent: then that is the answer."""
    turn = turn_in(caller, lock_conversation(caller, conversation_id))
    sent = _sent(turn, message_id)
    if sent:
        return sent
    _find(turn.conversation, message_id)
    if turn.standing.active is None:
        return _Way("", None)
    return _Way(str(turn.standing.active), _set_held(turn.conversation, True, caller))


@transaction.atomic
def _write_chosen(caller: Caller, conversation_id: str | UUID, message_id: str) -> Started:
    conversation = lock_conversation(caller, conversation_id)
    turn = turn_in(caller, conversation)
    return _sent(turn, message_id) or _write(
        conversation, _find(conversation, message_id), caller.name
    )


@transaction.atomic
def _write_next(conversation_id: str) -> tuple[Caller, Started] | None:
    conversation = lock_row(conversation_id)
    row = QueuedMessage.objects.filter(conversation=conversation).order_by("place").first()
    if row is None or conversation.queue_held or conversation.deleted_at:
        return None
    if Generation.objects.filter(conversation=conversation, status="active").exists():
        return None
    if not conversation.owner.is_active:
        return None
    return Caller(conversation.owner_id), _write(conversation, row)


def _write(conversation: Conversation, row: QueuedMessage, name: str = "") -> Started:
    """A queued message becomes a message, as if it had been sent now by whoever queued it."""
    caller = Caller(conversation.owner_id, name, row.tab_id, row.client_id)
    turn = held_turn(caller, conversation)
    refuse(turn)
    Attachment.objects.filter(queued=row).update(queued=None)
    files = [file["id"] for file in row.files]
    conversation.queue_held = False
    row_id, text = row.pk, row.text
    row.delete()
    return write_message(turn, text, files, row_id)


def _sent(turn: Turn, message_id: str) -> Started | None:
    """The turn of a message that has left the queue."""
    if not is_uuid(message_id):
        return None
    runs = Generation.objects.filter(
        conversation=turn.conversation, message__parent=UUID(message_id)
    )
    run = runs.order_by("started").first()
    if run is None:
        return None
    message = Message.objects.get(pk=message_id)
    return Started(request_id=str(run.pk), message=as_value(message))


def _find(conversation: Conversation, message_id: str) -> QueuedMessage:
    rows = QueuedMessage.objects.filter(conversation=conversation)
    row = rows.filter(pk=message_id).first() if is_uuid(message_id) else None
    if row is None:
        raise ChatError("error.chat_not_queued")
    return row


def _set_held(conversation: Conversation, held: bool, caller: Caller | None = None) -> Queue | None:
    if conversation.queue_held == held:
        return None
    conversation.queue_held = held
    return queue_changed(conversation, caller)


async def _tell(event: Queue | None) -> None:
    if event is not None:
        await publish(event.conversation_id, [event])
