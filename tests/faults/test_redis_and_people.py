"""Two servers, a Redis that fails in every way, and people who notice next to nothing of it."""

import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crash.remote import House, RemoteProgram, Server, fresh_database
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.redis import Redis
from tests.support.tabs import equal_pages
from tests.support.waiting import slowness

# A token every ten milliseconds; an own tab that hears nothing for so long has waited for Redis.
TOKENS, MS, SILENT = [f"w{n:05} " for n in range(30_000)], 10, 1.0
# Tabs compare themselves with the database every so many seconds, and rows are half a second old.
COMPARED = 5.0 + 0.5


def silence(one: RemoteProgram, since: float) -> float:
    """The longest time since then in which nothing came."""
    times = [since, *(at for _, at in one.growth if at > since)]
    return max(b - a for a, b in pairwise([*times, time.monotonic()]))


async def catches_up(behind: RemoteProgram, ahead: RemoteProgram) -> float:
    """How long it takes until it has what the other has now."""
    length, before = len(ahead.spoken), time.monotonic()
    await behind.until(lambda: len(text_of(behind)) >= length)
    return time.monotonic() - before


def text_of(program: RemoteProgram) -> str:
    """The longest text that it shows: the answer, however it came."""
    return max(program.seen.texts.values(), key=len, default="")


async def newcomers(*servers: Server) -> float:
    """How long it takes to load a page, open its socket and attach."""
    before = time.monotonic()
    for server in servers:
        tab = await server.tab()
        await tab.sees("w0")
        await tab.cut()
    return time.monotonic() - before


@pytest.mark.full
async def test_redis_may_hang_die_and_forget(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, own_redis: Redis
) -> None:
    """22, 23, 24, R2: own tabs are told as ever, others within the comparison, pages and sockets
    open as ever; what comes after that is live again."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": own_redis.url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    process = own_redis.process
    faults: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
        "hanging": (
            lambda: process.send_signal(signal.SIGSTOP),
            lambda: process.send_signal(signal.SIGCONT),
        ),
        "killed": (own_redis.stop, own_redis.start),
    }
    with house.served("daphne") as first, house.served("uvicorn") as second:
        one, other, tab = await first.program(), await second.program(), await second.tab()
        begun = await one.send("Go")
        await other.until(lambda: len(other.spoken) > 100)
        usual = await newcomers(first, second)
        for fault, (begin, end) in faults.items():
            slow = await slowness(lambda: other.ask("messages"))
            began = time.monotonic()
            begin()
            assert await newcomers(first, second) < 3 * usual + 2 * slow
            behind = await catches_up(other, one)
            quiet = silence(one, began)
            end()
            print(f"\n{fault}: own tabs silent {quiet:.2f} s, others behind {behind:.2f} s")
            assert quiet < SILENT + slow
            assert behind < COMPARED + slow
            # And then it is live again: far less behind than the comparison could be.
            await other.until(lambda: other.growth[-1][1] > time.monotonic() - 0.1)
        assert (await other.ask("stop"))["ok"]
        for client in (one, other):
            assert (await client.ends(begun["request_id"]))["name"] == "chat:stopped"
        await tab.sees_the_end()
        await equal_pages(tab)
        for server in (first, second):
            log = server.log.read_text()
            assert log.count("Redis is away") == log.count("Redis is back") == len(faults)
            assert "Traceback" not in log
        for client in (one, other):
            await client.close()
        await tab.cut()
    assert house.rows("faults") == []


@pytest.mark.full
async def test_servers_start_without_redis(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, own_redis: Redis
) -> None:
    """23: a conversation works, and the other server's tab has it within the comparison."""
    scripted_provider.answer = reply("Hello, program.")
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": own_redis.url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    own_redis.stop()
    with house.served("daphne") as first, house.served("uvicorn") as second:
        one, other = await first.program(), await second.program()
        begun = await one.send("Hello")
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        await other.until(lambda: "Hello, program." in text_of(other))
        for client in (one, other):
            await client.close()
    assert house.rows("faults") == []
