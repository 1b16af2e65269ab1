"""What a message says, as it was written: Markdown, not the HTML made of it."""

from uuid import UUID

from chat.models import Message
from chat.protocol.errors import ChatError
from chat.protocol.parts import TextPart
from chat.services.access import get_conversation


def message_source(user_id: int, conversation_id: str | UUID, message_id: str | UUID) -> str:
    """The texts of one message; thinking and tools are not what it says."""
    conversation = get_conversation(user_id, conversation_id)
    message = Message.objects.filter(conversation=conversation, pk=message_id).first()
    if message is None:
        raise ChatError("error.chat_message_not_found")
    parts = (row.value() for row in message.parts.order_by("position"))
    texts = (part.text for part in parts if isinstance(part, TextPart) and not part.ignored)
    return "\n\n".join(text.strip() for text in texts if text.strip())
