"""This server process as the others see it: alive while its lease is renewed."""

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
from chat.services.pool import in_writer
from chat.services.processes import identity
from chat.services.statements import is_process

# A process that goes down begins nothing new.
closing = False

_id: UUID | None = None
_making = threading.Lock()


def this_process() -> UUID:
    """The row of this process; made at its first use, so that commands and tests have one."""
    global _id
    # Two rows would be one whose lease nobody renews, and whose runs are taken for lost.
    with _making:
        if _id is None or not is_process(_id):
            _id = Process.objects.create(
                pk=uuid7(),
                host=socket.gethostname(),
                pid=os.getpid(),
                place=identity.place(),
                born=identity.born(),
                lease=_lease(),
            ).pk
        return _id


def is_closing() -> bool:
    return closing


def renew_lease() -> None:
    """Push the lease forward, by the database's clock: those of processes may differ."""
    Process.objects.filter(pk=this_process()).update(lease=_lease())


def _lease() -> Combinable:
    """From now on, by the database's clock."""
    return Now() + timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])


async def retire() -> None:
    """Give the lease back at an orderly end."""
    if _id is not None:
        await in_writer(Process.objects.filter(pk=_id).delete)
