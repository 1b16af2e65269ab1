"""The beginning and the end of a server process."""

import asyncio
import logging
import sys

from django.conf import settings
from django.db import DatabaseError, connection

from chat.providers.registry import shared_http
from chat.services.background import Background, shielded_work
from chat.services.broadcast import open_layer, send_away
from chat.services.people.leaving import stop_removing
from chat.services.pool import in_writer
from chat.services.processes import lease
from chat.services.processes.control import listen
from chat.services.processes.maintenance import keep_lease, keep_order
from chat.services.processes.recovery import settle_orphans
from chat.services.runs.generate import leave_all_runs, stop_all_runs
from chat.services.runs.request import http_settings
from chat.services.runs.request_log import stop_keeping_requests
from chat.services.runs.titles import stop_asking_for_titles
from chat.services.telemetry.exporting import begin_tracing, end_tracing
from chat.services.telemetry.metrics import watch_loop

log = logging.getLogger(__name__)

# How long verbs under way may take to start their runs, and helpers to end, in seconds.
PATIENCE = 5.0
# How long readers have to find another server before their answers do, in seconds.
READERS_MOVE = 0.5
# The last events need this long to leave through sockets that are about to close.
LAST_FRAMES = 0.3

_helpers = Background()


async def start_process() -> None:
    """Take a lease, settle what the last crash left, and listen to the other processes."""
    lease.closing, lease.serving = False, True
    open_layer()
    # Each send gives the interpreter away: the event loop must soon have it back, whatever the
    # threads compute.
    sys.setswitchinterval(0.0003)
    _helpers.spawn(keep_lease(), "lease")
    _helpers.spawn(keep_order(), "maintenance")
    _helpers.spawn(listen(), "control")
    if settings.PARLEY_METRICS_TOKEN:
        _helpers.spawn(watch_loop(), "loop lag")
    begin_tracing()
    # Before the first request: made in the middle of one, the row would wait for its transaction.
    # The helpers are there by now: if the database is away they make the row when it is back.
    await in_writer(lease.note_serving)
    # The first question would wait while the certificates are read.
    shared_http(http_settings()).open()


async def stop_process() -> None:
    """Leave every run to another process, or settle it, before this one goes."""
    lease.closing = True
    await shielded_work.finish(PATIENCE)
    await stop_removing()
    if successors := await _successors():
        send_away()
        # Readers find another server while words still come from here: otherwise they would wait
        # for both, one after the other.
        await asyncio.sleep(READERS_MOVE)
        await leave_all_runs(successors)
    if await stop_all_runs():
        await asyncio.sleep(LAST_FRAMES)
    await _settle_what_is_left()
    await stop_asking_for_titles()
    await stop_keeping_requests()
    await _helpers.cancel(PATIENCE)
    await shared_http().aclose()
    await end_tracing()


async def _successors() -> list[str]:
    """Say that this process takes nothing up any more; the others that do."""
    try:
        await in_writer(lease.note_serving)
        return await in_writer(lease.successors)
    except DatabaseError:
        log.warning("it cannot be seen whether another process serves", exc_info=True)
        return []


async def _settle_what_is_left() -> None:
    """Whoever goes last settles what the others have left to it: told to end at the same moment,
    each may have taken the others for alive."""
    if connection.vendor == "sqlite":
        return
    try:
        if not await in_writer(lease.others_serve):
            await settle_orphans()
    except DatabaseError:
        log.warning("what other processes have left could not be settled", exc_info=True)
