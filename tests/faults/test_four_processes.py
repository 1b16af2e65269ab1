"""Four servers answer, and one is killed: its answers go on, and nobody else notices."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.crash.remote import House, RemoteTab, Server, fresh_database
from tests.faults.watchers import Watcher, all_live, ended
from tests.support.model_server import Gate, Say, ScriptedProvider, reply
from tests.support.tabs import equal_pages
from tests.support.waiting import slowness

STREAMS, MS = 24, 40
TOKENS = [f"w{n:05} " for n in range(30_000)]
LIMITS = {"PARLEY_LIMIT_GENERATIONS_PER_USER": "1000", "PARLEY_LIMIT_CONNECTIONS": "10"}
# What an answer says when it goes on, before it is held for a comparison.
WENT_ON = "and went on."


@dataclass
class Four:
    """Four servers; answers with a program that watches each; and of each answer at the first
    server a page there and a page at the second."""

    house: House
    servers: list[Server]
    watchers: list[Watcher]
    tabs: list[RemoteTab]

    @property
    def at_the_first(self) -> list[Watcher]:
        return self.watchers[::4]

    @property
    def others(self) -> list[Watcher]:
        return [each for at, each in enumerate(self.watchers) if at % 4]

    async def lose_the_first(self) -> None:
        """Its pages come back to the second."""
        self.servers[0].process.kill()
        for tab in self.tabs[::2]:
            await tab.until(lambda tab=tab: tab.closed is not None)  # type: ignore[misc]
            tab.person.server = self.servers[1]
            await tab.open()

    async def stop_all(self) -> None:
        for each in self.watchers:
            assert (await each.ask("stop"))["ok"]
            await each.until(lambda each=each: each.named("chat:stopped"))  # type: ignore[misc]
            await each.close()
        for tab in self.tabs:
            await tab.sees_the_end()
        await equal_pages(*self.tabs)
        for tab in self.tabs:
            await tab.cut()


@asynccontextmanager
async def four_that_answer(house: House) -> AsyncIterator[Four]:
    with ExitStack() as stack:
        servers = [stack.enter_context(house.served("uvicorn")) for _ in range(4)]
        talks = [house.rows("another") for _ in range(STREAMS)]
        four = Four(
            house, servers, [Watcher(servers, at, talk) for at, talk in enumerate(talks)], []
        )
        for each in four.watchers:
            await each.open()
            assert (await each.send("Go"))["ok"]
        for each in four.at_the_first:
            four.tabs += [await server.tab(str(each.conversation_id)) for server in servers[:2]]
        await all_live(four.watchers, time.monotonic())
        returning = [asyncio.ensure_future(each.keep_open()) for each in four.watchers]
        yield four
        for task in returning:
            task.cancel()
        await four.stop_all()


@pytest.mark.full
async def test_one_of_four_is_killed_while_they_answer(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """15: its answers go on within thirty seconds, and then every tab of them shows within five
    what a fresh page shows; those of the others do not pause for a second."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    settings = {"DATABASE_URL": fresh_database(postgres_url), "REDIS_URL": redis_url, **LIMITS}
    async with four_that_answer(House(tmp_path, scripted_provider.base_url, settings)) as four:
        tabs = four.tabs
        slow = await slowness(lambda: four.watchers[1].ask("messages"))
        slow_page = await slowness(lambda: tabs[1].person.page(tabs[1].conversation_id))
        gate = Gate()
        scripted_provider.answer = reply(WENT_ON, gate, Say(TOKENS, ms=MS))
        killed, killed_at = time.monotonic(), time.time()
        await four.lose_the_first()
        for each in four.at_the_first:
            await each.hears(WENT_ON)
        went_on = time.monotonic()
        assert went_on - killed < 30 + slow
        for tab in tabs:
            await tab.sees(WENT_ON)
        await equal_pages(*tabs)
        equal = time.monotonic()
        await all_live(four.others, equal)
        pauses = [each.pause_there(killed_at) for each in four.others]
        print(
            f"\nwent on after {went_on - killed:.2f} s, tabs right {equal - went_on:.2f} s later; "
            f"the longest pause of others {max(pauses):.2f} s"
        )
        assert equal - went_on < 5 + slow_page
        assert max(pauses) < 1 + slow
        assert not ended(four.watchers)
        gate.open()
        await all_live(four.at_the_first, time.monotonic())
    assert_kept(four)


def assert_kept(four: Four) -> None:
    """Nothing that was told is missing, and only the answers that were hit went on elsewhere."""
    for each in four.others:
        kept = four.house.rows("answer_in", each.conversation_id)
        assert kept["status"] == "cancelled"
        assert not [text for text in each.longest.values() if text not in kept["text"]]
    runs = {run["conversation"]: run["attempt"] for run in four.house.rows("runs")}
    assert {runs[str(each.conversation_id)] for each in four.at_the_first} == {1}
    assert {runs[str(each.conversation_id)] for each in four.others} == {0}
    assert four.house.rows("faults") == []
