"""What a process does every few seconds, as long as it lives."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from django.conf import settings

from chat.services.conversations.temporary import end_abandoned
from chat.services.people.leaving import go_on_removing
from chat.services.pool import in_writer
from chat.services.processes.descriptors import look_for_descriptors
from chat.services.processes.lease import renew_lease
from chat.services.processes.presence import stop_unwatched
from chat.services.processes.recovery import settle_orphans
from chat.services.turns.queue import send_due
from chat.services.upkeep.prune import prune

log = logging.getLogger(__name__)

Step = Callable[[], Coroutine[Any, Any, object]]


async def keep_lease() -> None:
    """Renew the lease, for ever, and by itself: a round may have hundreds of runs to take up, and
    take longer than the lease lasts."""
    while True:
        try:
            await in_writer(renew_lease)
        except Exception:  # without its lease the process would lose every run it has
            log.exception("the lease could not be renewed")
        await asyncio.sleep(settings.PARLEY_LIMITS["renew_seconds"])


async def keep_order() -> None:
    """See to what dead processes and closed pages left behind, for ever."""
    while True:
        await go_round(ROUND)
        await asyncio.sleep(settings.PARLEY_LIMITS["renew_seconds"])


async def go_round(steps: Sequence[Step]) -> None:
    """Each by itself: one that fails round after round keeps none of the others from theirs."""
    for step in steps:
        try:
            await step()
        except Exception:  # the next round tries again
            log.exception("maintenance failed: %s", step.__name__)


async def _look_for_descriptors() -> None:
    look_for_descriptors()


ROUND: Final[tuple[Step, ...]] = (
    _look_for_descriptors,
    settle_orphans,
    send_due,
    stop_unwatched,
    end_abandoned,
    go_on_removing,
    prune,
)
