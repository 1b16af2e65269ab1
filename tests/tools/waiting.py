"""Waiting for what another thread does."""

import asyncio
from collections.abc import Callable


async def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - a thread cannot set our event
            await asyncio.sleep(0.001)
