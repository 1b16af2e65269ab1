"""A Redis that is far away, or slow, or forgets everything, while people watch at two servers."""

import asyncio
import itertools
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.remote import House, RemoteProgram, fresh_database
from tests.faults.proxy import ChaosProxy, chaos
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.redis import Redis
from tests.support.tabs import equal_pages

# Seconds for the way there, and for the way back.
NEAR, FAR, SLOW = 0.0, 0.004, 0.250
# A token every twenty milliseconds; so many are watched at each distance, each twice.
MS, WATCHED = 20, 250


def clock() -> Iterator[str]:
    """Words that say when they were said."""
    for number in itertools.count():
        yield f"{number}@{time.monotonic():.6f} "


class Timed(RemoteProgram):
    """A program that knows how old the words are that it is told."""

    def heard(self) -> None:
        event = self.events[-1]
        if event["name"] == "chat:chunk":
            now = time.monotonic()
            self.ages += [now - float(word.split("@")[1]) for word in event["delta"].split()]
            self.words += [int(word.split("@")[0]) for word in event["delta"].split()]

    def begin(self) -> None:
        self.ages: list[float] = []
        self.words: list[int] = []

    def at(self, share: float) -> float:
        """In milliseconds: so many of the words were no older."""
        return 1000 * sorted(self.ages)[int(share * (len(self.ages) - 1))]


Ages = dict[float, list[tuple[float, float, float, float]]]


def best(told: list[tuple[float, float, float, float]]) -> list[float]:
    """Whatever else the machine does only makes them older."""
    return [min(column) for column in zip(*told, strict=True)]


async def watch(own: Timed, other: Timed) -> tuple[float, float, float, float]:
    """How old words are where they are written, and at the other server: p50 and p95 of each."""
    for each in (own, other):
        each.begin()
    for each in (own, other):
        await each.until(lambda e=each: len(e.ages) > WATCHED)  # type: ignore[misc]
    return own.at(0.5), own.at(0.95), other.at(0.5), other.at(0.95)


@pytest.mark.full
async def test_distance_delays_only_the_tabs_of_others(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, own_redis: Redis
) -> None:
    """25, R3: at 8 ms for a round trip own tabs are told as ever and others within 200 ms; at half
    a second own tabs still are. 24: when Redis forgets everything, no word is lost or late."""
    scripted_provider.answer = reply(Say(clock(), ms=MS))
    async with chaos(own_redis.port) as proxy:
        house = House(
            tmp_path, scripted_provider.base_url,
            {
                "DATABASE_URL": fresh_database(postgres_url),
                "REDIS_URL": f"redis://127.0.0.1:{proxy.port}/0",
            },
        )  # fmt: skip
        with house.served("uvicorn") as first, house.served("uvicorn") as second:
            own, other = Timed(first), Timed(second)
            tab = await second.tab()
            for each in (own, other):
                each.begin()
                await each.open()
            begun = await own.send("Go")
            await other.until(lambda: len(other.ages) > 50)
            ages: Ages = {NEAR: [], FAR: [], SLOW: []}
            for delay in (NEAR, FAR, SLOW, NEAR, FAR, SLOW):
                await settle(proxy, delay, other)
                ages[delay].append(await watch(own, other))
            for delay, told in ages.items():
                p50, p95, p50_far, p95_far = best(told)
                print(f"\n{2000 * delay:.0f} ms: own p50 {p50:.0f} p95 {p95:.0f}", end=", ")
                print(f"others p50 {p50_far:.0f} p95 {p95_far:.0f} ms", end="")
            await settle(proxy, NEAR, other)
            await forgotten(own_redis, other)
            assert (await other.ask("stop"))["ok"]
            for each in (own, other):
                assert (await each.ends(begun["request_id"]))["name"] == "chat:stopped"
            await tab.sees_the_end()
            await equal_pages(tab)
            await asyncio.gather(own.close(), other.close(), tab.cut())
    near, far, slow = (best(ages[delay]) for delay in (NEAR, FAR, SLOW))
    for told in (far, slow):
        # A frame is forty milliseconds; which one a word is in is chance.
        assert told[0] < 1.25 * near[0] + 10
        assert told[1] < 1.25 * near[1] + 20
    assert far[3] < max(200, near[3] + 50)
    assert house.rows("faults") == []


async def settle(proxy: ChaosProxy, delay: float, other: Timed) -> None:
    """Until what is under way has come."""
    proxy.delay = delay
    other.begin()
    await other.until(lambda: len(other.ages) > 50)


async def forgotten(redis: Redis, other: Timed) -> None:
    other.begin()
    for _ in range(3):
        with socket.create_connection(("127.0.0.1", redis.port)) as server:
            server.sendall(b"FLUSHALL\r\n")
            assert server.recv(16).startswith(b"+OK")
        seen = len(other.ages)
        await other.until(lambda n=seen: len(other.ages) > n + 50)  # type: ignore[misc]
    # By events alone, none missing: no snapshot has mended it.
    assert other.words == list(range(other.words[0], other.words[0] + len(other.words)))
    print(f"\nforgotten three times: others p95 {other.at(0.95):.0f} ms")
