"""After a crash: the living go on with what a dead process left open, or settle it."""

import logging
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chat.engine.assembly import Assembly
from chat.engine.changes import PartGrew
from chat.engine.usage import last_tokens, total_cost
from chat.models import Generation, Process
from chat.protocol.events import Ending, Error, ending_of
from chat.protocol.messages import WithParts
from chat.protocol.stopped import StoppedBy
from chat.services.broadcast import publish, tell_sidebar
from chat.services.conversations.history import as_value
from chat.services.pool import in_pool, in_writer
from chat.services.processes import identity, one_server
from chat.services.processes.lease import others_serve, this_process
from chat.services.runs.run import RUNS
from chat.services.runs.settle import SHUTDOWN, Outcome, cancelled, settle
from chat.services.telemetry.metrics import count_end
from chat.services.turns.take_up import TAKING, take_up_all, takes_up

log = logging.getLogger(__name__)

INTERRUPTED = "error.chat_interrupted"
BATCH = 100
FORGET = timedelta(hours=1)


async def settle_orphans() -> int:
    """Go on with the runs of processes that are dead, where that is possible; settle the others,
    and tell their viewers. How many were settled."""
    settled = 0
    await in_writer(_end_leases_of_the_dead)
    tried: set[UUID] = set()
    while orphans := await in_pool(_orphans, tried):
        tried.update(orphans)
        if takes_up():
            orphans = await take_up_all(orphans)
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
    """Some runs of nobody, not the same to everybody who looks; those with which others go on are
    theirs."""
    runs = Generation.objects.filter(_of_nobody(), status="active").exclude(pk__in=tried)
    return list(runs.order_by("?").values_list("pk", flat=True)[:BATCH])


def _of_nobody() -> Q:
    """Their process is gone, or has lost them itself."""
    # By the clock of this process, which dated them.
    long_ago = timezone.now() - timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])
    here = [*(run.request_id for run in list(RUNS.values())), *list(TAKING)]
    mine = Q(process=this_process())
    lost_here = mine & Q(started__lt=long_ago) & ~Q(pk__in=here)
    # A process that has slept for longer than its lease renews it before anybody takes its runs.
    gone = Q(process__lease__lt=Now()) & ~mine
    nobodys = Q(process__isnull=True) | gone | lost_here
    if not takes_up() and others_serve():
        # They go on with it.
        nobodys = lost_here
    return nobodys


def _settle_all(orphans: Iterable[UUID]) -> list[tuple[Ending, int]]:
    """What to tell of each, and whose sidebar shows it."""
    events = []
    # Looked at again: somebody may go on with one by now, and then has another attempt.
    runs = Generation.objects.filter(_of_nobody(), pk__in=orphans, status="active")
    runs = runs.select_related("message", "conversation")
    for run in runs.prefetch_related("message__parts"):
        try:
            event = _settle_one(run)
        except Exception:  # one that cannot be read must not leave the others open
            log.exception("an interrupted run could not be settled")
            continue
        if event is not None:
            events.append((event, run.conversation.owner_id))
    return events


def _settle_one(run: Generation) -> Ending | None:
    message = as_value(run.message)
    assembly = Assembly(message.info.session_id, message.info.id, message.parts)
    changes = assembly.abort()
    closed = [(each.position, each.part) for each in changes if not isinstance(each, PartGrew)]
    parts = assembly.parts()
    # Of nobody: it was left in order, and no other process was there to take it up.
    key = INTERRUPTED if run.process_id else SHUTDOWN
    outcome = Outcome(status="error", finish_reason="error", error_key=key)
    if run.stop_requested_by:
        outcome = cancelled(StoppedBy.from_json(run.stop_requested_by))
    outcome = outcome.with_usage(last_tokens(parts), total_cost(parts))
    answer = WithParts(info=message.info, parts=parts)
    owner_id = run.conversation.owner_id
    settled = settle(str(run.pk), owner_id, answer, outcome, closed, run.attempt)
    if settled is None:
        return None
    count_end(str(run.pk), settled.info, parts)
    ending = ending_of(WithParts(info=settled.info, parts=parts))
    if isinstance(ending, Error):
        # Whoever is told of it has missed the rest too, and reads again.
        ending = replace(ending, info=None)
    return replace(
        ending,
        rev=settled.rev,
        tab_id=run.tab_id,
        request_id=str(run.pk),
        seq=run.flushed_seq + 1,
    )


def _forget_dead() -> None:
    """Rows of processes that are long gone, and the views they had open.

    Not at once: one that was only asleep would come back to sockets that count for nothing.
    """
    dead = Process.objects.filter(lease__lt=Now() - FORGET)
    dead.exclude(generations__status="active").delete()
