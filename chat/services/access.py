"""The only door to a conversation: through the person it belongs to."""

from uuid import UUID

from chat.models import Conversation
from chat.protocol.errors import ChatError


def get_conversation(user_id: int, conversation_id: str | UUID) -> Conversation:
    """A person's own conversation; a stranger's is as good as not there."""
    try:
        return Conversation.objects.owned_by(user_id).get(pk=UUID(str(conversation_id)))
    except (Conversation.DoesNotExist, ValueError):
        raise ChatError("error.chat_conversation_not_found") from None


def lock_conversation(user_id: int, conversation_id: str | UUID) -> Conversation:
    """The same, held against other writers until the transaction ends."""
    try:
        rows = Conversation.objects.owned_by(user_id).select_for_update(no_key=True)
        return rows.get(pk=UUID(str(conversation_id)))
    except (Conversation.DoesNotExist, ValueError):
        raise ChatError("error.chat_conversation_not_found") from None
