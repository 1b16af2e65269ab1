"""The beginning and the end of a server process."""

import asyncio
import contextvars
import sys

from chat.providers.registry import shared_http
from chat.services import process, titles, turn
from chat.services.asking import http_settings
from chat.services.control import listen
from chat.services.generation import stop_all
from chat.services.pool import in_pool

# What was said last needs this long to leave through sockets that are about to close.
LAST_FRAMES = 0.3

_helpers: list[asyncio.Task[None]] = []


async def start() -> None:
    """Take a lease, settle what the last crash left, and listen to the other processes."""
    process.closing = False
    # Each send gives the interpreter away: the event loop must soon have it back, whatever the
    # threads compute.
    sys.setswitchinterval(0.0003)
    loop = asyncio.get_running_loop()
    _helpers.extend(
        loop.create_task(helper, context=contextvars.Context())
        for helper in (process.keep_alive(), listen())
    )
    # Before the first request: made in the middle of one, the row would wait for its transaction.
    # The helpers are there by now: if the database is away they make the row when it is back.
    await in_pool(process.this_process)
    # The first question would wait while the certificates are read.
    shared_http(http_settings()).open()


async def stop() -> None:
    """Settle every run before the process goes."""
    process.closing = True
    await turn.all_begun()
    if await stop_all():
        await asyncio.sleep(LAST_FRAMES)
    await titles.stop_all()
    for helper in _helpers:
        helper.cancel()
    _helpers.clear()
    await shared_http().aclose()
    await process.retire()
