"""Comparing what two things cost, on a machine that may be busy with others."""

import time
from collections.abc import Awaitable, Callable
from statistics import median

Act = Callable[[], Awaitable[object]]

ATTEMPTS = 5
ROUNDS = 9


async def ratio(slow: Act, quick: Act, wanted: float) -> float:
    """How many times the CPU of `quick` does `slow` take; measured again while it is too much.

    Both in turn, so that a busy machine disturbs them alike; the best of a few attempts, because
    others can only make it worse.
    """
    for act in (slow, quick):
        await act()
    best = float("inf")
    for _ in range(ATTEMPTS):
        pairs = [(await _cost(slow), await _cost(quick)) for _ in range(ROUNDS)]
        best = min(best, median(pair[0] for pair in pairs) / median(pair[1] for pair in pairs))
        if best <= wanted:
            break
    return best


async def _cost(act: Act) -> float:
    begin = time.process_time()
    await act()
    return time.process_time() - begin
