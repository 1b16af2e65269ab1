"""This server process as the others see it: alive while its lease is renewed."""

import contextlib
import os
import socket
import threading
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from chat.models import Process
from chat.protocol.ids import uuid7
from chat.services.pool import in_writer
from chat.services.processes import identity
from chat.services.statements import is_process

# Servers that began within this time were started by one command, and are replaced by one.
STARTED_TOGETHER = timedelta(seconds=10)

# A process that goes down begins nothing new.
closing = False
# Servers go on with what other processes leave; commands do not.
serving = False

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
                # By the database's clock, as all leases: it says who was there when one ran out.
                started=Now(),
                serves=serving and not closing,
                lease=_lease(),
            ).pk
        return _id


def began() -> datetime:
    """Since when this process is there."""
    return Process.objects.get(pk=this_process()).started


def note_serving() -> None:
    """Say in the row whether this process goes on with what others leave."""
    Process.objects.filter(pk=this_process()).update(serves=serving and not closing)


def others_serve(before: datetime | None = None) -> bool:
    """Whether another process goes on with what this one leaves; one that was there before."""
    alive = Process.objects.filter(serves=True, lease__gte=Now())
    if before is not None:
        alive = alive.filter(started__lt=before)
    return alive.exclude(pk=this_process()).exists()


def successors() -> list[str]:
    """The other processes that go on with what this one leaves: those that began after it, where
    there are any. When all are replaced, the older ones go next, and would leave it again."""
    alive = Process.objects.filter(serves=True, lease__gte=Now()).exclude(pk=this_process())
    others = dict(alive.values_list("pk", "started"))
    since = began() + STARTED_TOGETHER
    younger = [key for key, started in others.items() if started > since]
    return [str(key) for key in younger or others]


def is_this(process: str) -> bool:
    """Whether somebody means this process."""
    return _id is not None and process == str(_id)


def count_servers() -> int:
    """How many servers use this database now; none where it is empty, or of another version."""
    with contextlib.suppress(DatabaseError):
        return Process.objects.filter(serves=True, lease__gte=Now()).count()
    return 0


def is_closing() -> bool:
    return closing


def renew_lease() -> None:
    """Push the lease forward, by the database's clock: those of processes may differ."""
    Process.objects.filter(pk=this_process()).update(lease=_lease())


def _lease() -> Combinable:
    """From now on, by the database's clock."""
    return Now() + timedelta(seconds=settings.PARLEY_LIMITS["lease_seconds"])


async def retire() -> None:
    """Give the lease back at an orderly end. What could not be settled is found by its lease."""
    if _id is not None:
        mine = Process.objects.filter(pk=_id)
        await in_writer(mine.exclude(generations__status="active").delete)
