"""This server process as the others see it: alive while its lease is renewed."""

import asyncio
import logging
import os
import socket
import threading
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from chat.models import Process
from chat.protocol.ids import uuid7
from chat.services.pool import in_pool

log = logging.getLogger(__name__)

# A process that goes down begins nothing new.
closing = False

_id: UUID | None = None
_making = threading.Lock()


def this_process() -> UUID:
    """The row of this process; made at its first use, so that commands and tests have one."""
    global _id
    # Two rows would be one whose lease nobody renews, and whose runs are taken for lost.
    with _making:
        if _id is None or not Process.objects.filter(pk=_id).exists():
            _id = Process.objects.create(
                pk=uuid7(), host=socket.gethostname(), pid=os.getpid(), lease=_lease()
            ).pk
        return _id


def renew_lease() -> None:
    """Push the lease forward, by the database's clock: those of processes may differ."""
    Process.objects.filter(pk=this_process()).update(lease=_lease())


def _lease() -> Combinable:
    """From now on, by the database's clock."""
    return Now() + timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])


async def keep_alive() -> None:
    """Renew the lease, and see to what dead processes and closed pages left behind, for ever."""
    from chat.services.presence import look_around
    from chat.services.recover import settle_orphans
    from chat.services.sweep import sweep

    while True:
        try:
            await in_pool(renew_lease)
            await settle_orphans()
            await look_around()
            await sweep()
        except Exception:  # without its lease the process would lose every run it has
            log.exception("the lease could not be renewed")
        await asyncio.sleep(settings.PARLEY_LIMITS["renew_seconds"])


async def retire() -> None:
    """Give the lease back at an orderly end."""
    if _id is not None:
        await in_pool(Process.objects.filter(pk=_id).delete)
