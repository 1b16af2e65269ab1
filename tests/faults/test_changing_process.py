"""Servers that end and die while they answer: the others go on, and nobody is told of an end."""

import asyncio
import signal
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.crash.remote import House, RemoteProgram, fresh_database
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.tabs import equal_pages
from tests.support.waiting import slowness

# A token every ten milliseconds. Leases count for nothing here: processes of one machine know.
MS = 10
LONG_LEASES = {"PARLEY_LIMIT_LEASE_SECONDS": "3600", "PARLEY_LIMIT_RENEW_SECONDS": "1"}


def endless(letter: str) -> list[str]:
    return [f"{letter}{n:05} " for n in range(30_000)]


def longest_pause(one: RemoteProgram, since: float) -> float:
    times = [since, *(at for _, at in one.growth if at > since)]
    return max((b - a for a, b in pairwise(times)), default=0.0)


async def test_an_answer_outlives_two_of_its_processes(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """16, 15: the first ends in order and leaves it, all of it; the second is killed, and what was
    stored goes on in the third. One request, one end, one answer."""
    scripted_provider.answer = reply(Say(endless("a"), ms=MS))
    database = fresh_database(postgres_url)
    settings = {**LONG_LEASES, "DATABASE_URL": database, "REDIS_URL": redis_url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served() as first, house.served("uvicorn") as second:
        one, other, tab = await first.program(), await second.program(), await second.tab()
        begun = await one.send("Go")
        await other.until(lambda: len(other.spoken) > 300)
        scripted_provider.answer = reply(Say(endless("b"), ms=MS))
        slow = await slowness(lambda: other.ask("messages"))
        before = time.monotonic()
        first.process.terminate()
        assert await first.ended() == 0
        await other.hears("b00020 ")
        pause = longest_pause(other, before)
        print(f"\nleft: the longest pause was {pause:.2f} s")
        assert pause < 3 + slow
        # Nothing that was told is lost, and nothing was told twice.
        assert "".join(endless("a")).startswith(one.spoken)
        [written] = [text for text in other.seen.texts.values() if text.startswith("a00000 ")]
        assert written.startswith(one.spoken)
        assert not other.seen.taken_back

        with house.served() as third:
            last = await third.program()
            await last.hears("b00030 ")
            scripted_provider.answer = reply("c, and the end.")
            before = time.monotonic()
            second.process.kill()
            ended = await last.ends(begun["request_id"])
            print(f"killed: gone on and done {time.monotonic() - before:.2f} s later")
            assert ended["name"] == "chat:complete"
            await last.hears("c, and the end.")
            tab.person.server = third
            await tab.open()
            await tab.sees_the_end()
            await equal_pages(tab)
            for client in (one, other, last):
                await client.close()
            await tab.cut()
    [kept] = house.rows("answers")
    assert kept["status"] == "success"
    assert kept["text"].startswith(one.spoken)
    assert kept["text"].endswith("c, and the end.")
    assert len(scripted_provider.requests) == 3
    assert house.rows("faults") == []


@pytest.mark.full
async def test_the_last_of_two_settles(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """Both are told to end at once: nobody is there to go on, so the answer has ended."""
    scripted_provider.answer = reply(Say(endless("a"), ms=MS))
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served() as first, house.served("uvicorn") as second:
        one = await first.program()
        await one.send("Go")
        await one.until(lambda: len(one.spoken) > 300)
        for server in (first, second):
            server.process.send_signal(signal.SIGTERM)
        for server in (first, second):
            assert await server.ended() == 0
        await one.close()
    [kept] = await asyncio.to_thread(house.rows, "answers")
    assert (kept["status"], kept["error_key"]) == ("error", "error.chat_shutdown")
    assert kept["text"].startswith(one.spoken)
    assert house.rows("faults") == []
