"""Waits for a provider that have an end, without a timer for each."""

import asyncio
from collections.abc import Awaitable

import pytest

from chat.providers.http.silence import Silence
from tests.support.virtual_loop import VirtualLoop


def run(work: Awaitable[None]) -> None:
    """On a clock that jumps."""

    async def main() -> None:
        await work

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())


class Timers(VirtualLoop):
    """Counts the timers that are set."""

    def __init__(self) -> None:
        super().__init__()
        self.set = 0

    def call_at(self, *args: object, **kwargs: object) -> asyncio.TimerHandle:  # type: ignore[override]
        self.set += 1
        return super().call_at(*args, **kwargs)  # type: ignore[arg-type]


async def come(value: str, after: float = 0) -> str:
    await asyncio.sleep(after)
    return value


def test_a_stream_may_take_far_longer_than_its_silence() -> None:
    async def work() -> None:
        with Silence() as silence:
            for _ in range(50):
                assert await silence.wait_for(come("more", after=0.9), patience=1) == "more"
            with pytest.raises(TimeoutError):
                await silence.wait_for(come("late", after=1.1), patience=1)

    run(work())


def test_pieces_set_no_timers_of_their_own() -> None:
    async def work() -> None:
        with Silence() as silence:
            for _ in range(1000):
                await silence.wait_for(come("more"), patience=90)

    with asyncio.Runner(loop_factory=Timers) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Timers)
        before = loop.set
        runner.run(work())
        assert loop.set - before == 1


def test_a_later_wait_may_be_shorter_or_longer() -> None:
    async def work() -> None:
        loop = asyncio.get_running_loop()
        with Silence() as silence:
            await silence.wait_for(come("first", after=200), patience=300)
            began = loop.time()
            with pytest.raises(TimeoutError):
                await silence.wait_for(come("never", after=9999), patience=90)
            assert loop.time() - began == pytest.approx(90)
            assert await silence.wait_for(come("in time", after=290), patience=300) == "in time"

    run(work())


def test_what_is_done_between_two_waits_is_not_cut_off() -> None:
    async def work() -> None:
        with Silence() as silence:
            await silence.wait_for(come("a call"), patience=1)
            await asyncio.sleep(100)
            assert await silence.wait_for(come("more", after=0.5), patience=1) == "more"

    run(work())


def test_whoever_is_stopped_while_waiting_is_stopped() -> None:
    async def work() -> None:
        async def wait() -> None:
            with Silence() as silence:
                await silence.wait_for(come("never", after=9999), patience=50)

        stopped = asyncio.create_task(wait())
        await asyncio.sleep(1)
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        # Both in one moment: whoever stops it comes first.
        both = asyncio.create_task(wait())
        asyncio.get_running_loop().call_later(50, both.cancel)
        with pytest.raises(asyncio.CancelledError):
            await both

    run(work())
