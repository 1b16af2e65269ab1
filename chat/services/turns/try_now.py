"""Try now: whoever waits with an answer for its provider may cut that wait short."""

from uuid import UUID

from chat.models import Generation
from chat.protocol.errors import ChatError
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.pool import in_pool
from chat.services.processes.control import ask_to_try


async def try_now(caller: Caller, conversation_id: str | UUID) -> None:
    """Ask the provider again at once, wherever the answer is being written. An answer that does
    not wait goes on as it is."""
    await ask_to_try(str(conversation_id), await in_pool(_running, caller, conversation_id))


def _running(caller: Caller, conversation_id: str | UUID) -> str:
    conversation = get_conversation(caller, conversation_id)
    active = Generation.objects.filter(conversation=conversation, status="active")
    run = active.values_list("pk", flat=True).first()
    if run is None:
        raise ChatError("error.chat_nothing_waits")
    return str(run)
