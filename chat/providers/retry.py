"""Asking a provider again: only before the first word, at most five times, and visibly."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ProviderEvent, Retrying, Usage


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long to wait between; the sleep is a field so that tests need none."""

    attempts: int = 5
    first: float = 2.0
    longest: float = 30.0
    # A provider that wants us to wait longer than this has refused: nothing is retried.
    longest_hint: float = 3600.0
    sleep: Callable[[float], Coroutine[Any, Any, object]] = asyncio.sleep

    def delay(self, attempt: int, hint: float | None = None) -> float:
        """The seconds after the given failed attempt (from 1); the provider's hint wins."""
        if hint is not None:
            return hint
        return min(self.first * 2.0 ** min(attempt - 1, 30), self.longest)

    def allows(self, error: ProviderError, attempt: int) -> bool:
        """Whether to ask again after this failed attempt."""
        return (
            error.retryable
            and attempt < self.attempts_after(error)
            and (error.retry_after or 0) <= self.longest_hint
        )

    def attempts_after(self, error: ProviderError) -> int:
        return min(self.attempts, error.attempts or self.attempts)

    def cut_short_by(self, now: asyncio.Event) -> "RetryPolicy":
        """The same, but whoever sets the event ends the wait of that moment."""

        async def sleep(seconds: float) -> None:
            now.clear()
            waits = {asyncio.ensure_future(each) for each in (self.sleep(seconds), now.wait())}
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()

        return replace(self, sleep=sleep)


async def retrying(
    ask: Callable[[], AsyncGenerator[ProviderEvent, None]], policy: RetryPolicy
) -> AsyncGenerator[ProviderEvent, None]:
    """The events of one answer; failures before its first word are tried again."""
    attempt = 1
    while True:
        begun = False
        try:
            async with aclosing(ask()) as events:
                async for event in events:
                    begun = begun or not isinstance(event, Usage)
                    yield event
            return
        except ProviderError as error:
            if begun:
                error.retryable = False
            if not policy.allows(error, attempt):
                raise
            wait = policy.delay(attempt, error.retry_after)
            again = Retrying(error.key, attempt + 1, policy.attempts_after(error), wait)
        attempt += 1
        yield again
        await policy.sleep(wait)
        if wait:
            yield replace(again, wait=0.0)
