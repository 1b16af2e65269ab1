"""The beginning and the end of a server process."""

import asyncio
import contextvars

from chat.providers.registry import shared_http
from chat.services.generation import stop_all
from chat.services.process import keep_alive, retire

_keeper: asyncio.Task[None] | None = None


async def start() -> None:
    """Take a lease, settle what the last crash left, and keep doing both."""
    global _keeper
    _keeper = asyncio.get_running_loop().create_task(
        keep_alive(), name="lease", context=contextvars.Context()
    )


async def stop() -> None:
    """Settle every run before the process goes; the last frames need a moment to leave."""
    await stop_all()
    if _keeper is not None:
        _keeper.cancel()
    await shared_http().aclose()
    await retire()
