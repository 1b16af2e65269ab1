"""The beginning and the end of a server process."""

import asyncio
import sys

from chat.providers.registry import shared_http
from chat.services.background import Background, shielded_work
from chat.services.pool import in_writer
from chat.services.processes import lease
from chat.services.processes.control import listen
from chat.services.processes.maintenance import keep_alive
from chat.services.runs.generate import stop_all_runs
from chat.services.runs.request import http_settings
from chat.services.runs.titles import stop_asking_for_titles

# How long verbs under way may take to start their runs, and helpers to end, in seconds.
PATIENCE = 5.0
# The last events need this long to leave through sockets that are about to close.
LAST_FRAMES = 0.3

_helpers = Background()


async def start_process() -> None:
    """Take a lease, settle what the last crash left, and listen to the other processes."""
    lease.closing = False
    # Each send gives the interpreter away: the event loop must soon have it back, whatever the
    # threads compute.
    sys.setswitchinterval(0.0003)
    _helpers.spawn(keep_alive(), "maintenance")
    _helpers.spawn(listen(), "control")
    # Before the first request: made in the middle of one, the row would wait for its transaction.
    # The helpers are there by now: if the database is away they make the row when it is back.
    await in_writer(lease.this_process)
    # The first question would wait while the certificates are read.
    shared_http(http_settings()).open()


async def stop_process() -> None:
    """Settle every run before the process goes."""
    lease.closing = True
    await shielded_work.finish(PATIENCE)
    if await stop_all_runs():
        await asyncio.sleep(LAST_FRAMES)
    await stop_asking_for_titles()
    await _helpers.cancel(PATIENCE)
    await shared_http().aclose()
