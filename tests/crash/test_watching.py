"""A8 on two processes: who watches through the one decides about answers of the other.

How long a tab is waited for is not measured. In each test a second answer, whose only tab was
closed after everything else had happened, says by its end that the grace time is over.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.remote import House, RemotePerson, RemoteTab, Server, fresh_database
from tests.support.model_server import Gate, ScriptedProvider, Wait, reply
from tests.support.tabs import equal_pages
from tests.support.waiting import PATIENCE

GRACE = {"PARLEY_LIMIT_GRACE_SECONDS": "2", "PARLEY_LIMIT_LEASE_SECONDS": "30"}


@dataclass
class Pair:
    """Two processes that serve one house, and the model that both ask."""

    house: House
    one: Server
    other: Server
    provider: ScriptedProvider

    def talk(self, *, temporary: bool = False) -> str:
        return str(self.house.rows("another", "temporary" if temporary else ""))

    def answer(self, talk: str) -> Any:
        """The last answer of a conversation, as it is kept; nothing without one."""
        return self.house.rows("answer_in", talk)

    async def ends(self, talk: str) -> dict[str, Any]:
        """The answer, when it has ended."""
        async with asyncio.timeout(PATIENCE):
            while await self.runs(talk):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return dict(await asyncio.to_thread(self.answer, talk))

    async def grace_is_over(self) -> None:
        """Whatever was closed before this began has been stopped when it ends."""
        talk = self.talk()
        self.provider.script(reply("Until nobody watches", Wait()))
        tab = await opened(self.one, talk)
        await tab.send("Go")
        await tab.sees("Until nobody watches")
        await tab.close()
        assert (await self.ends(talk))["reason"] == "unwatched"

    async def runs(self, talk: str) -> bool:
        return bool((await asyncio.to_thread(self.answer, talk))["status"] == "streaming")


@contextmanager
def served(data: Path, database: str, redis: str, **limits: str) -> Iterator[Pair]:
    with ScriptedProvider() as provider:
        settings = {"DATABASE_URL": fresh_database(database), "REDIS_URL": redis, **limits}
        house = House(data, provider.base_url, settings)
        with house.served("daphne") as one, house.served("uvicorn") as other:
            yield Pair(house, one, other, provider)


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, postgres_url: str, redis_url: str
) -> Iterator[Pair]:
    data = tmp_path_factory.mktemp("pair")
    with served(data, postgres_url, redis_url, **GRACE) as pair:
        yield pair


async def opened(server: Server, talk: str, tab_id: str = "") -> RemoteTab:
    tab = RemoteTab(RemotePerson(server), talk)
    tab.tab_id = tab_id or tab.tab_id
    await tab.load()
    await tab.open()
    # Told by its reply that it counts.
    await tab.until(lambda: "attach" in tab.replies)
    return tab


async def asked(pair: Pair, *steps: Any) -> RemoteTab:
    """A tab of the first process, where an answer runs."""
    pair.provider.script(reply("Half", *steps))
    tab = await opened(pair.one, pair.talk())
    await tab.send("Go")
    await tab.sees("Half")
    return tab


async def test_a_tab_that_goes_on_to_the_other_process_still_counts(pair: Pair) -> None:
    """To another conversation, whether or not the page says that it goes; and then is closed."""
    for says_so in (False, True):
        tab = await asked(pair, Wait())
        talk = str(tab.conversation_id)
        if says_so:
            await tab.ask("detach")
        elsewhere = await opened(pair.other, pair.talk(), tab.tab_id)
        await tab.cut()
        await pair.grace_is_over()
        assert await pair.runs(talk)
        await elsewhere.close()
        assert (await pair.ends(talk))["reason"] == "unwatched"


async def test_it_is_stopped_where_it_runs_when_its_last_tab_elsewhere_is_closed(
    pair: Pair,
) -> None:
    """Closing one of two on different processes changes nothing, whichever it is."""
    tab = await asked(pair, Wait())
    talk = str(tab.conversation_id)
    third = await opened(pair.one, talk)
    far = await opened(pair.other, talk)
    await far.sees("Half")
    await far.close()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    far = await opened(pair.other, talk)
    await tab.close()
    await third.close()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    await far.close()
    ended = await pair.ends(talk)
    assert (ended["status"], ended["reason"], ended["text"]) == ("cancelled", "unwatched", "Half")
    fresh = await opened(pair.other, talk)
    assert "nobody was watching" in fresh.page.text_of("t")
    await fresh.close()


async def test_a_lost_tab_comes_back_through_the_other_process(pair: Pair) -> None:
    """It was waited for, and shows what a reload shows."""
    gate = Gate()
    tab = await asked(pair, gate, " and the rest")
    talk = str(tab.conversation_id)
    await tab.cut()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    tab.person = RemotePerson(pair.other)
    await tab.open()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    gate.open()
    await tab.sees("Half and the rest")
    await tab.sees_the_end()
    await equal_pages(tab)
    assert (await pair.ends(talk))["status"] == "success"
    await tab.close()


async def test_who_watched_through_a_process_that_died_is_waited_for(pair: Pair) -> None:
    tab = await asked(pair, Wait())
    talk = str(tab.conversation_id)
    with pair.house.served("uvicorn") as third:
        far = await opened(third, talk)
        await tab.close()
        third.process.kill()
        await third.ended()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    far.person = RemotePerson(pair.other)
    await far.open()
    await far.until(lambda: "attach" in far.replies)
    await far.close()
    assert (await pair.ends(talk))["reason"] == "unwatched"


async def test_a_tab_that_is_lost_for_good_counts_no_more(pair: Pair) -> None:
    """Neither of two that were lost by different processes."""
    tab = await asked(pair, Wait())
    talk = str(tab.conversation_id)
    far = await opened(pair.other, talk)
    await tab.cut()
    await far.cut()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    # Ten minutes pass.
    assert await asyncio.to_thread(pair.house.rows, "left_earlier", talk, "601") == 2
    assert (await pair.ends(talk))["reason"] == "unwatched"


async def test_a_temporary_chat_goes_with_its_last_tab_on_any_process(pair: Pair) -> None:
    """Its answer is stopped where it runs, and its rows are gone for both."""
    pair.provider.script(reply("Half", Wait()))
    talk = pair.talk(temporary=True)
    tab = await opened(pair.one, talk)
    await tab.send("A secret")
    await tab.sees("Half")
    far = await opened(pair.other, talk)
    await far.sees("Half")
    await tab.close()
    await pair.grace_is_over()
    assert await pair.runs(talk)
    await far.close()
    async with asyncio.timeout(PATIENCE):
        while await asyncio.to_thread(pair.answer, talk) is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    for server in (pair.one, pair.other):
        async with httpx.AsyncClient(headers={"Cookie": pair.house.cookie}) as client:
            page = await client.get(f"{server.url}/c/{talk}/")
        assert page.status_code == 404
