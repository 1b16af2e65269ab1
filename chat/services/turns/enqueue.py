"""Putting a message in the queue of a conversation that is being answered."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Max

from chat.models import Conversation, QueuedMessage
from chat.protocol.errors import ChatError
from chat.protocol.events import Queue
from chat.protocol.messages import WithParts
from chat.services.caller import Caller
from chat.services.conversations.attachments import keep_for_queue
from chat.services.conversations.queue import queued_value
from chat.services.conversations.revision import raise_rev
from chat.services.turns.start import Turn


@dataclass(frozen=True, slots=True)
class Queued:
    """A message that waits. One that was queued before, by the same request, has no `event`."""

    message: WithParts
    event: Queue | None = None


def must_wait(turn: Turn) -> bool:
    """Whether a message that may be queued has to be.

    Not behind an answer that was told to stop: that one is waited for, and then the message is
    sent. And not behind messages that wait for a person.
    """
    standing = turn.standing
    if standing.active is not None:
        return not standing.stopping
    return bool(standing.queued) and not turn.conversation.queue_held


def find_queued(turn: Turn) -> Queued | None:
    """The message that this `client_id` has queued already, if it has."""
    client_id = turn.caller.client_id[:64]
    if not client_id or not turn.standing.queued:
        return None
    rows = QueuedMessage.objects.filter(conversation=turn.conversation, client_id=client_id)
    row = rows.first()
    return Queued(queued_value(row)) if row else None


def enqueue(turn: Turn, text: str, files: Sequence[str]) -> Queued:
    """A new message at the end of the queue, in a conversation that is locked."""
    conversation, caller = turn.conversation, turn.caller
    limit = settings.PARLEY_LIMITS["queued_messages"]
    if turn.standing.queued >= limit:
        raise ChatError("error.chat_queue_full", limit=limit)
    last = conversation.queued.aggregate(last=Max("place"))["last"]
    row = QueuedMessage.objects.create(
        conversation=conversation,
        place=0 if last is None else last + 1,
        text=text,
        tab_id=caller.tab_id[:100],
        client_id=caller.client_id[:64],
    )
    if files:
        row.files = keep_for_queue(row, caller.user_id, files)
        row.save(update_fields=("files",))
    if last is None:
        # Whatever once held the queue held other messages.
        conversation.queue_held = False
    message = queued_value(row)
    return Queued(message, queue_changed(conversation, caller, messages=(message,)))


def queue_changed(
    conversation: Conversation,
    caller: Caller | None = None,
    *,
    messages: tuple[WithParts, ...] = (),
    removed: tuple[str, ...] = (),
) -> Queue:
    """What to tell of a queue that was changed in this transaction, of which this is the end."""
    raise_rev(conversation, "queue_held")
    return Queue(
        conversation_id=str(conversation.pk),
        rev=conversation.rev,
        tab_id=caller.tab_id if caller else "",
        messages=messages,
        removed=removed,
        held=conversation.queue_held,
        client_id=caller.client_id if caller else "",
    )
