"""Comparing what two things cost, on a machine that may be slow, or busy with others.

Tests compare CPU, not time, and never with a number of seconds: only with what something else costs
in the same run. Others on the machine can only make it worse, so the best of some attempts counts.
"""

import time
from collections.abc import Awaitable, Callable
from statistics import median

Act = Callable[[], object]
AsyncAct = Callable[[], Awaitable[object]]

ATTEMPTS = 5
ROUNDS = 9


def ratio(slow: Act, quick: Act, wanted: float) -> float:
    """How many times the CPU of `quick` does `slow` take; measured again while it is too much."""
    best = float("inf")
    for _ in range(ATTEMPTS):
        pairs = [(cost(slow), cost(quick)) for _ in range(3)]
        best = min(best, _of(pairs))
        if best <= wanted:
            break
    return best


async def async_ratio(slow: AsyncAct, quick: AsyncAct, wanted: float) -> float:
    """The same of two things that are awaited."""
    for act in (slow, quick):
        await act()
    best = float("inf")
    for _ in range(ATTEMPTS):
        pairs = [(await _async_cost(slow), await _async_cost(quick)) for _ in range(ROUNDS)]
        best = min(best, _of(pairs))
        if best <= wanted:
            break
    return best


def _of(pairs: list[tuple[float, float]]) -> float:
    return median(slow for slow, _ in pairs) / median(quick for _, quick in pairs)


def cost(act: Act) -> float:
    """The CPU of one go, in seconds: only to be compared."""
    begin = time.process_time()
    act()
    return time.process_time() - begin


async def _async_cost(act: AsyncAct) -> float:
    begin = time.process_time()
    await act()
    return time.process_time() - begin
