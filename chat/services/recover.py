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
from chat.protocol.events import Event
from chat.services.broadcast import publish, tell_user
from chat.services.pool import in_pool
from chat.services.process import this_process
from chat.services.reading import as_value
from chat.services.runs import RUNS
from chat.services.settle import Outcome, settle

log = logging.getLogger(__name__)

INTERRUPTED = "error.chat_interrupted"
BATCH = 100
FORGET = timedelta(hours=1)


async def settle_orphans() -> int:
    """Settle the runs of processes whose lease has run out, and tell their viewers."""
    settled = 0
    tried: set[UUID] = set()
    while orphans := await in_pool(_orphans, tried):
        tried.update(orphans)
        for event, owner_id in await in_pool(_settle_all, orphans):
            settled += 1
            await publish(event.conversation_id, [event])
            await tell_user(owner_id, "column", conversation_id=event.conversation_id)
    await in_pool(_forget_dead)
    return settled


def _orphans(tried: Collection[UUID] = ()) -> list[UUID]:
    """Runs of nobody: their process is gone, or has lost them itself."""
    long_ago = Now() - timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])
    here = [run.request_id for run in list(RUNS.values())]
    lost_here = Q(process=this_process(), started__lt=long_ago) & ~Q(pk__in=here)
    nobodys = Q(process__isnull=True) | Q(process__lease__lt=Now()) | lost_here
    runs = Generation.objects.filter(nobodys, status="active").exclude(pk__in=tried)
    return list(runs.values_list("pk", flat=True)[:BATCH])


def _settle_all(orphans: Iterable[UUID]) -> list[tuple[Event, int]]:
    """What to tell of each, and whose column shows it."""
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


def _settle_one(run: Generation) -> Event | None:
    message = as_value(run.message)
    assembly = Assembly(message.info.session_id, message.info.id, message.parts)
    changes = assembly.abort()
    closed = [(each.position, each.part) for each in changes if not isinstance(each, PartGrew)]
    parts = assembly.parts()
    outcome = Outcome(status="error", finish_reason="error", error_key=INTERRUPTED)
    outcome = outcome.with_usage(last_tokens(parts), total_cost(parts))
    settled = settle(str(run.pk), outcome, closed)
    if settled is None:
        return None
    return Event(
        name="chat:error",
        conversation_id=message.info.session_id,
        rev=settled.rev,
        tab_id=run.tab_id,
        request_id=str(run.pk),
        seq=run.flushed_seq + 1,
        message_id=message.info.id,
        # No `info`: whoever hears of it has missed the rest too, and reads again.
        body={"status": "error", "error_key": INTERRUPTED, "error_data": {}},
    )


def _forget_dead() -> None:
    """Rows of processes that are long gone, and the views they had open.

    Not at once: one that was only asleep would come back to sockets that count for nothing.
    """
    dead = Process.objects.filter(lease__lt=Now() - FORGET)
    dead.exclude(generations__status="active").delete()
