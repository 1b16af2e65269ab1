"""A server that lets no socket grow old: who is closed out comes back, and has missed nothing."""

import asyncio
import time
from pathlib import Path

import pytest

from tests.crash.remote import House, RemoteTab
from tests.faults.watchers import Watcher, all_live
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.tabs import equal_pages

TOKENS = [f"w{n:05} " for n in range(30_000)]
TIMES = 3


async def come_back(tab: RemoteTab, codes: list[int | None]) -> None:
    """For ever, as a page does."""
    while True:
        await tab.until(lambda: tab.closed is not None, 10_000)
        codes.append(tab.closed)
        await tab.open()


@pytest.mark.full
async def test_who_is_closed_out_for_its_age_misses_nothing(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """37: Daphne closes every socket after a time, in the middle of whatever it says."""
    scripted_provider.answer = reply(Say(TOKENS, ms=20))
    house = House(tmp_path, scripted_provider.base_url)
    codes: list[int | None] = []
    with house.served("impatient daphne") as server:
        one = Watcher([server], 0, house.conversation)
        await one.open()
        assert (await one.send("Go"))["ok"]
        tab = await server.tab()
        returning = [
            asyncio.ensure_future(each) for each in (one.keep_open(), come_back(tab, codes))
        ]
        await tab.until(lambda: codes.count(1000) >= TIMES)
        await all_live([one], time.monotonic())
        one.say("stop")
        await tab.sees_the_end()
        await equal_pages(tab)
        for task in returning:
            task.cancel()
        await tab.cut()
        await one.close()
    kept = house.rows("answer_in", house.conversation)
    assert kept["status"] == "cancelled"
    assert not [text for text in one.longest.values() if text not in kept["text"]]
    assert house.rows("faults") == []
