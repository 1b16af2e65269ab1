"""Stop: whoever may see a conversation may stop its answer."""

from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.services.access import get_conversation
from chat.services.control import ask_to_stop
from chat.services.pool import in_pool
from chat.services.runs import Stop


def request_stop(user_id: int, conversation_id: str, stop: Stop, request_id: str = "") -> str:
    """Leave the wish in the row, where the process that runs it reads it at its next flush."""
    get_conversation(user_id, conversation_id)
    active = Generation.objects.filter(conversation_id=conversation_id, status="active")
    if request_id:
        active = active.filter(pk=request_id)
    run = active.only("pk").first()
    if run is None or not active.filter(pk=run.pk).update(stop_requested_by=stop.as_json()):
        raise ChatError("error.chat_no_active_generation")
    return str(run.pk)


async def stop_generation(
    user_id: int, conversation_id: str, by: str, request_id: str = ""
) -> None:
    """Stop the answer of a conversation, wherever it is being written.

    With a `request_id` only that one: whoever wants to be rid of an answer does not mean
    the next, which may have begun meanwhile.
    """
    wish = Stop(by_id=str(user_id), by=by)
    request_id = await in_pool(request_stop, user_id, conversation_id, wish, request_id)
    await ask_to_stop(conversation_id, request_id, wish)
