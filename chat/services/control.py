"""What processes ask of each other: to stop a run that one of them is writing.

It is a hint that saves half a second: the wish itself is in the generation's row.
"""

import asyncio
import logging

from chat.services import presence
from chat.services.broadcast import PROCESSES, Mailbox, ask_processes
from chat.services.runs import RUNS, Stop

log = logging.getLogger(__name__)

AGAIN = 2.0


async def ask_to_stop(conversation_id: str, request_id: str, stop: Stop) -> None:
    """Stop a run here at once, or wherever it is."""
    run = RUNS.get(conversation_id)
    if run is not None and run.request_id == request_id:
        run.stop(stop)
    else:
        await ask_processes(
            "stop", conversation_id=conversation_id, request_id=request_id, stop=stop.as_json()
        )


async def listen() -> None:
    """Heed what other processes ask for, as long as this one lives."""
    while True:
        mailbox = await Mailbox.open()
        try:
            await mailbox.join([PROCESSES])
            while True:
                heed(await mailbox.receive())
        except Exception:  # a layer that is away comes back; runs and rows do not need it
            log.exception("the channel layer is away")
        finally:
            await mailbox.close()
        await asyncio.sleep(AGAIN)


def heed(message: dict[str, object]) -> None:
    conversation_id = str(message.get("conversation_id", ""))
    run = RUNS.get(conversation_id)
    if run is not None and message["type"] == "glimpse":
        presence.glimpsed_here(conversation_id)
    wish = message.get("stop")
    if run is None or run.request_id != message.get("request_id"):
        return
    if message["type"] == "stop" and isinstance(wish, dict):
        run.stop(Stop(**wish))
