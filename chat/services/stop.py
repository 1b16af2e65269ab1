"""Stop: whoever may see a conversation may stop its answer."""

from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.services.access import get_conversation
from chat.services.control import ask_to_stop
from chat.services.pool import in_pool
from chat.services.runs import Stop


def request_stop(user_id: int, conversation_id: str, stop: Stop) -> None:
    """Leave the wish in the row, where the process that runs it reads it at its next flush."""
    get_conversation(user_id, conversation_id)
    asked = Generation.objects.filter(conversation_id=conversation_id, status="active").update(
        stop_requested_by=stop.as_json()
    )
    if not asked:
        raise ChatError("error.chat_no_active_generation")


async def stop_generation(user_id: int, conversation_id: str, by: str) -> None:
    """Stop the answer of a conversation, wherever it is being written."""
    wish = Stop(by_id=str(user_id), by=by)
    await in_pool(request_stop, user_id, conversation_id, wish)
    await ask_to_stop(conversation_id, wish)
