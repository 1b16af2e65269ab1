"""Stop: whoever may see a conversation may stop its answer."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar
from uuid import UUID

from chat.models import Conversation, Generation
from chat.protocol.errors import ChatError
from chat.protocol.stopped import StoppedBy
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.pool import in_pool, in_transaction, in_writer
from chat.services.processes.control import ask_to_stop
from chat.services.processes.recovery import settle_orphans
from chat.services.runs.run import RUNS
from chat.services.upkeep.audit import Verb, audit

P = ParamSpec("P")
T = TypeVar("T")

NOTHING_RUNS = "error.chat_no_active_generation"
BUSY = ("error.chat_generation_in_progress", "error.chat_generation_in_progress_other_tab")

# How long an edit waits for the answer it has stopped to be settled, in seconds.
PATIENCE = 5.0


async def stop(caller: Caller, conversation_id: str | UUID, request_id: str = "") -> None:
    """Stop the answer of a conversation, wherever it is being written.

    With a `request_id` only that one: whoever wants to be rid of an answer does not mean
    the next, which may have begun meanwhile.
    """
    await in_pool(get_conversation, caller, conversation_id)
    await _stop(str(conversation_id), request_id, _by(caller))


async def stop_as_admin(caller: Caller, generation: Generation, *, reason: str = "") -> None:
    """Stop anybody's answer; its owner reads who did, and so does the audit log."""
    await _stop(str(generation.conversation_id), str(generation.pk), _by(caller))
    await in_writer(_write_down, caller, generation.conversation_id, reason)


def _write_down(caller: Caller, conversation_id: UUID, reason: str) -> None:
    conversation = Conversation.objects.select_related("owner").get(pk=conversation_id)
    audit(caller, Verb.STOP, conversation, reason=reason)


async def when_stopped(
    write: Callable[Concatenate[Caller, str | UUID, P], T],
    caller: Caller,
    conversation_id: str | UUID,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Write a turn. If the answer in its way was told to stop, or lost its process, see it settled
    and write again: nobody can know that a stop which was confirmed is not through yet."""
    try:
        return await in_transaction(write, caller, conversation_id, *args, **kwargs)
    except ChatError as error:
        if error.key not in BUSY or not await _ends(str(conversation_id)):
            raise
    return await in_transaction(write, caller, conversation_id, *args, **kwargs)


async def stop_and_wait(caller: Caller, conversation_id: str | UUID, request_id: str) -> None:
    """Stop an answer and see it settled; one that has ended by itself is fine too."""
    try:
        await stop(caller, conversation_id, request_id)
    except ChatError as error:
        if error.key != NOTHING_RUNS:
            raise
    try:
        async with asyncio.timeout(PATIENCE):
            await _settled(str(conversation_id), request_id)
    except TimeoutError:
        raise ChatError("error.chat_previous_generation_not_finished") from None


def _by(caller: Caller) -> StoppedBy:
    return StoppedBy(by_id=str(caller.user_id), by=caller.name)


async def _stop(conversation_id: str, request_id: str, stop: StoppedBy) -> None:
    request_id = await in_writer(_request_stop, conversation_id, request_id, stop)
    await ask_to_stop(conversation_id, request_id, stop)
    if conversation_id not in RUNS:
        # Perhaps its process is dead, and nobody hears.
        await settle_orphans()


def _request_stop(conversation_id: str, request_id: str, stop: StoppedBy) -> str:
    """Leave the request in the row, where the process that runs it reads it at its next flush."""
    active = Generation.objects.filter(conversation_id=conversation_id, status="active")
    if request_id:
        active = active.filter(pk=request_id)
    run = active.only("pk").first()
    if run is None or not active.filter(pk=run.pk).update(stop_requested_by=stop.to_json()):
        raise ChatError(NOTHING_RUNS)
    return str(run.pk)


async def _ends(conversation_id: str) -> bool:
    """See the answer of a conversation settled, if it is about to be."""
    run = RUNS.get(conversation_id)
    if run is None:
        await settle_orphans()
    request_id, told = await in_pool(_running, conversation_id)
    told = told or (run is not None and (run.ending or run.stopped is not None))
    if request_id and told:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await _settled(conversation_id, request_id)
    return told


def _running(conversation_id: str) -> tuple[str, bool]:
    """The answer that is being written, and whether it was told to stop; none counts as told."""
    run = Generation.objects.filter(conversation_id=conversation_id, status="active").first()
    return (str(run.pk), run.stop_requested_by is not None) if run else ("", True)


async def _settled(conversation_id: str, request_id: str) -> None:
    run = RUNS.get(conversation_id)
    if run is not None and run.request_id == request_id and run.task is not None:
        await asyncio.wait({run.task})
    # Another process settles its runs without telling this one.
    while await in_pool(_is_running, request_id):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def _is_running(request_id: str) -> bool:
    return Generation.objects.filter(pk=request_id, status="active").exists()
