"""The revision of a conversation: raised in every transaction that changes what its pages are
drawn from, and told to them."""

from collections.abc import Collection, Sequence
from uuid import UUID

from django.db import transaction

from chat.models import Conversation
from chat.protocol.events import Edited, Event
from chat.services import sql
from chat.services.broadcast import publish, tell_sidebar
from chat.services.caller import Caller
from chat.services.conversations.history import read_messages
from chat.services.pool import from_thread


def raise_rev(conversation: Conversation, *columns: str) -> None:
    """One more revision of a conversation that is locked, saved with these columns of it."""
    conversation.rev += 1
    sql.update(conversation, "rev", *columns)


def edited(
    conversation: Conversation,
    changed: Sequence[UUID] = (),
    removed: Collection[int] = (),
    caller: Caller | None = None,
) -> Edited:
    """What to tell of messages that were changed or taken out of sight in this transaction."""
    return Edited(
        conversation_id=str(conversation.pk),
        rev=conversation.rev,
        tab_id=caller.tab_id if caller else "",
        message_id=str(changed[0]) if changed else "",
        messages=read_messages(changed),
        removed=tuple(sorted(removed)),
        client_id=caller.client_id if caller else "",
    )


def tell_on_commit(conversation: Conversation, event: Event) -> None:
    """Tell a conversation's pages, and its owner's sidebars, once this transaction is kept."""

    transaction.on_commit(lambda: from_thread(publish, event.conversation_id, [event]))
    tell_sidebar_on_commit(conversation)


def tell_sidebar_on_commit(conversation: Conversation) -> None:
    """The same where only the sidebar shows what has changed."""
    owner_id, key = conversation.owner_id, str(conversation.pk)
    transaction.on_commit(lambda: from_thread(tell_sidebar, owner_id, key))
