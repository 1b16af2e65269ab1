"""What a process does every few seconds, as long as it lives."""

import asyncio
import logging

from django.conf import settings

from chat.services.conversations.temporary import end_abandoned
from chat.services.pool import in_writer
from chat.services.processes.lease import renew_lease
from chat.services.processes.presence import stop_unwatched
from chat.services.processes.recovery import settle_orphans
from chat.services.turns.queue import send_due
from chat.services.upkeep.prune import prune

log = logging.getLogger(__name__)


async def keep_alive() -> None:
    """Renew the lease, and see to what dead processes and closed pages left behind, for ever."""
    while True:
        try:
            await in_writer(renew_lease)
            await settle_orphans()
            await send_due()
            await stop_unwatched()
            await end_abandoned()
            await prune()
        except Exception:  # without its lease the process would lose every run it has
            log.exception("the lease could not be renewed")
        await asyncio.sleep(settings.PARLEY_LIMITS["renew_seconds"])
