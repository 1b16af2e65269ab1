"""Waiting for what must happen, and how long it may take on a busy machine."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any

# In seconds: far more than anything takes. A test that passes does not wait that long.
PATIENCE = 120.0


async def eventually(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait for a condition; there is nothing to hold on to between two looks at it."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def quickest(act: Callable[[], Awaitable[float]], wanted: float, tries: int = 5) -> float:
    """The least time that a try of the act says it took; tried again while it is too long.

    Others on the machine can only make it longer, so the best of some tries counts.
    """
    best = float("inf")
    for _ in range(tries):
        best = min(best, await act())
        if best < wanted:
            break
    return best


async def slowness(act: Callable[[], Awaitable[object]], rounds: int = 5) -> float:
    """What a bound in seconds must allow for on this machine, now: ten times an everyday act.

    On an idle machine that is next to nothing; when everything takes longer, so does this.
    """
    took = []
    for _ in range(rounds):
        begun = time.monotonic()
        await act()
        took.append(time.monotonic() - begun)
    return 10 * median(took)


def until_true(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """The same as `eventually`, where nothing else has to run meanwhile."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
