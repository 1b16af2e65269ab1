"""What processes ask of each other: to stop a run, to ask its provider now, and to count somebody
as watching.

All are hints that save time: a stop is also in the generation's row, and views are rows too.
"""

from chat.models import Generation
from chat.protocol.stopped import StoppedBy
from chat.services.broadcast import PROCESSES, Subscription, tell_processes
from chat.services.notes import Note, RunLeft, Seen, StopRun, TryNow
from chat.services.pool import in_writer
from chat.services.processes import presence
from chat.services.runs.run import RUNS
from chat.services.turns.take_up import take_up_left


async def ask_to_stop(conversation_id: str, request_id: str, stop: StoppedBy) -> None:
    """Stop a run here at once, or wherever it is."""
    run = RUNS.get(conversation_id)
    if run is not None and run.request_id == request_id:
        run.stop(stop)
    else:
        await tell_processes(StopRun(conversation_id, request_id, stop))


async def stop_runs(conversation_id: str, stop: StoppedBy) -> None:
    """Stop whatever is being written in a conversation, here or elsewhere."""
    for request_id in await in_writer(request_stops, conversation_id, stop):
        await ask_to_stop(conversation_id, request_id, stop)


def request_stops(conversation_id: str, stop: StoppedBy) -> list[str]:
    """Ask the runs of a conversation to stop; their ids. Not in a transaction that holds the
    conversation: a run that writes holds its row and wants the conversation's, the other way
    round both would wait for ever."""
    active = Generation.objects.filter(conversation_id=conversation_id, status="active")
    active.update(stop_requested_by=stop.to_json())
    return [str(pk) for pk in active.values_list("pk", flat=True)]


async def stop_all_of(user_id: int) -> None:
    """Stop whatever is being written for somebody who may no longer come in."""
    for conversation_id in await in_writer(_running_for, user_id):
        await stop_runs(conversation_id, StoppedBy(reason="deactivated"))


def _running_for(user_id: int) -> list[str]:
    active = Generation.objects.filter(status="active", conversation__owner_id=user_id)
    return [str(key) for key in active.values_list("conversation_id", flat=True)]


async def ask_to_try(conversation_id: str, request_id: str) -> None:
    """End the wait of a run for its provider, here at once, or wherever it is."""
    run = RUNS.get(conversation_id)
    if run is not None and run.request_id == request_id:
        run.try_now.set()
    else:
        await tell_processes(TryNow(conversation_id, request_id))


async def listen() -> None:
    """Do what other processes ask for, as long as this one lives."""
    subscription = await Subscription.open()
    try:
        await subscription.join([PROCESSES])
        while True:
            handle(await subscription.receive())
    finally:
        await subscription.close()


def handle(note: Note) -> None:
    match note:
        case RunLeft():
            take_up_left(note)
        case Seen() if note.conversation_id in RUNS:
            presence.seen_here(note.conversation_id)
        case StopRun():
            run = RUNS.get(note.conversation_id)
            if run is not None and run.request_id == note.request_id:
                run.stop(note.stop)
        case TryNow():
            run = RUNS.get(note.conversation_id)
            if run is not None and run.request_id == note.request_id:
                run.try_now.set()
