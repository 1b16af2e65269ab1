"""The beginning and the end of a server process."""

import asyncio
import contextvars

from chat.providers.registry import shared_http
from chat.services.control import listen
from chat.services.generation import stop_all
from chat.services.process import keep_alive, retire

_helpers: list[asyncio.Task[None]] = []


async def start() -> None:
    """Take a lease, settle what the last crash left, and listen to the other processes."""
    loop = asyncio.get_running_loop()
    _helpers.extend(
        loop.create_task(helper, context=contextvars.Context())
        for helper in (keep_alive(), listen())
    )


async def stop() -> None:
    """Settle every run before the process goes; the last frames need a moment to leave."""
    await stop_all()
    for helper in _helpers:
        helper.cancel()
    _helpers.clear()
    await shared_http().aclose()
    await retire()
