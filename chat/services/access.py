"""The only door to a conversation: through the person it belongs to."""

from uuid import UUID

from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.services.caller import Caller
from chat.services.statements import own_conversation


def get_conversation(caller: Caller, conversation_id: str | UUID) -> Conversation:
    """A person's own conversation; a stranger's is as good as not there."""
    return _own(caller, conversation_id)


def lock_conversation(caller: Caller, conversation_id: str | UUID) -> Conversation:
    """The same, held against other writers until the transaction ends."""
    return _own(caller, conversation_id, lock=True)


def _own(caller: Caller, conversation_id: str | UUID, *, lock: bool = False) -> Conversation:
    key = str(conversation_id)
    row = own_conversation(caller.user_id, UUID(key), lock=lock) if is_uuid(key) else None
    if row is None:
        raise ChatError("error.chat_conversation_not_found")
    return row


def lock_row(conversation_id: str | UUID) -> Conversation:
    """Anybody's conversation, held against other writers: for what the program itself does, and
    for administrators. `no_key` lets rows that only point to it be written meanwhile."""
    return Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
