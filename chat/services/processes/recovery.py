"""After a crash: what a dead process left open is settled by the living."""

import logging
from collections.abc import Collection, Iterable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now

from chat.engine.assembly import Assembly
from chat.engine.changes import PartGrew
from chat.engine.usage import last_tokens, total_cost
from chat.models import Generation, Process
from chat.protocol.events import Error
from chat.protocol.messages import WithParts
from chat.services.broadcast import publish, tell_sidebar
from chat.services.conversations.history import as_value
from chat.services.pool import in_pool, in_writer
from chat.services.processes import identity, one_server
from chat.services.processes.lease import this_process
from chat.services.runs.run import RUNS
from chat.services.runs.settle import Outcome, settle

log = logging.getLogger(__name__)

INTERRUPTED = "error.chat_interrupted"
BATCH = 100
FORGET = timedelta(hours=1)


async def settle_orphans() -> int:
    """Settle the runs of processes that are dead, and tell their viewers."""
    settled = 0
    await in_writer(_end_leases_of_the_dead)
    tried: set[UUID] = set()
    while orphans := await in_pool(_orphans, tried):
        tried.update(orphans)
        for event, owner_id in await in_writer(_settle_all, orphans):
            settled += 1
            await publish(event.conversation_id, [event])
            await tell_sidebar(owner_id, event.conversation_id)
    await in_writer(_forget_dead)
    return settled


def _end_leases_of_the_dead() -> None:
    """Nobody waits for a lease to run out whose process is known to be dead."""
    here, alone = identity.place(), one_server.serves_alone()
    others = Process.objects.filter(lease__gte=Now()).exclude(pk=this_process())
    dead = [
        each.pk
        for each in others
        if alone or (each.place == here != "" and identity.is_dead(each.pid, each.born))
    ]
    if dead:
        Process.objects.filter(pk__in=dead).update(lease=Now() - timedelta(seconds=1))


def _orphans(tried: Collection[UUID] = ()) -> list[UUID]:
    """Runs of nobody: their process is gone, or has lost them itself."""
    long_ago = Now() - timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])
    here = [run.request_id for run in list(RUNS.values())]
    lost_here = Q(process=this_process(), started__lt=long_ago) & ~Q(pk__in=here)
    nobodys = Q(process__isnull=True) | Q(process__lease__lt=Now()) | lost_here
    runs = Generation.objects.filter(nobodys, status="active").exclude(pk__in=tried)
    return list(runs.values_list("pk", flat=True)[:BATCH])


def _settle_all(orphans: Iterable[UUID]) -> list[tuple[Error, int]]:
    """What to tell of each, and whose sidebar shows it."""
    events = []
    runs = Generation.objects.filter(pk__in=orphans).select_related("message", "conversation")
    for run in runs.prefetch_related("message__parts"):
        try:
            event = _settle_one(run)
        except Exception:  # one that cannot be read must not leave the others open
            log.exception("an interrupted run could not be settled")
            continue
        if event is not None:
            events.append((event, run.conversation.owner_id))
    return events


def _settle_one(run: Generation) -> Error | None:
    message = as_value(run.message)
    assembly = Assembly(message.info.session_id, message.info.id, message.parts)
    changes = assembly.abort()
    closed = [(each.position, each.part) for each in changes if not isinstance(each, PartGrew)]
    parts = assembly.parts()
    outcome = Outcome(status="error", finish_reason="error", error_key=INTERRUPTED)
    outcome = outcome.with_usage(last_tokens(parts), total_cost(parts))
    answer = WithParts(info=message.info, parts=parts)
    settled = settle(str(run.pk), run.conversation.owner_id, answer, outcome, closed)
    if settled is None:
        return None
    return Error(
        conversation_id=message.info.session_id,
        rev=settled.rev,
        tab_id=run.tab_id,
        request_id=str(run.pk),
        seq=run.flushed_seq + 1,
        message_id=message.info.id,
        # No `info`: whoever is told of it has missed the rest too, and reads again.
        error_key=INTERRUPTED,
    )


def _forget_dead() -> None:
    """Rows of processes that are long gone, and the views they had open.

    Not at once: one that was only asleep would come back to sockets that count for nothing.
    """
    dead = Process.objects.filter(lease__lt=Now() - FORGET)
    dead.exclude(generations__status="active").delete()
