"""What a process does every few seconds, as long as it lives."""

import asyncio
import logging

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
        try:
            look_for_descriptors()
            await settle_orphans()
            await send_due()
            await stop_unwatched()
            await end_abandoned()
            await go_on_removing()
            await prune()
        except Exception:  # the next round tries again
            log.exception("a round of maintenance failed")
        await asyncio.sleep(settings.PARLEY_LIMITS["renew_seconds"])
