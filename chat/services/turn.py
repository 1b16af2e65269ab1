"""A turn: what was said is saved and told, and its answer begins."""

from uuid import UUID

from chat.protocol.events import Event
from chat.protocol.messages import message_to_json
from chat.services import generation
from chat.services.broadcast import publish, tell_user
from chat.services.pool import in_pool
from chat.services.send import Sent, send_message


async def take_turn(
    user_id: int,
    conversation_id: str | UUID,
    content: object,
    *,
    tab_id: str = "",
    client_id: str = "",
) -> Sent:
    """Send a message; a repeated send answers as the first one did and starts nothing."""
    sent = await in_pool(
        send_message, user_id, conversation_id, content, tab_id=tab_id, client_id=client_id
    )
    if sent.assignment is not None:
        said = Event(
            name="chat:user-message",
            conversation_id=sent.message.info.session_id,
            rev=sent.assignment.rev,
            tab_id=tab_id,
            message_id=sent.message.info.id,
            body={"message": message_to_json(sent.message), "client_id": client_id},
        )
        await publish(said.conversation_id, [said])
        generation.start(sent.assignment)
        await tell_user(user_id, "column", conversation_id=said.conversation_id)
    return sent
