"""26, 30: a database that goes and comes back, and a full disk, in the middle of answers."""

import asyncio
import shutil
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.crash.remote import House, RemoteProgram, RemoteTab, Server, fresh_database
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.postgres import Postgres, own_postgres
from tests.support.process import ServiceMissing
from tests.support.tabs import equal_pages
from tests.support.waiting import eventually, slowness

# A token every ten milliseconds: whoever hears nothing for so long has waited for the database.
TOKENS, MS, SILENT = [f"w{n:05} " for n in range(30_000)], 10, 1.0


def silence(one: RemoteProgram, since: float) -> float:
    times = [since, *(at for _, at in one.growth if at > since), time.monotonic()]
    return max(b - a for a, b in pairwise(times))


async def grows(one: RemoteProgram, characters: int = 300) -> None:
    """It is told so much more."""
    wanted = len(one.spoken) + characters
    await one.until(lambda: len(one.spoken) > wanted)


async def statuses(server: Server, path: str, times: int = 3) -> set[int]:
    headers = {"Cookie": server.house.cookie}
    async with httpx.AsyncClient(headers=headers, timeout=60) as client:
        return {(await client.get(f"{server.url}{path}")).status_code for _ in range(times)}


@pytest.fixture
def postgres() -> Iterator[Postgres]:
    """One for this test, which stops it."""
    try:
        with own_postgres(durable=True) as server:
            yield server
    except ServiceMissing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("by", ["daphne", pytest.param("uvicorn", marks=pytest.mark.full)])
async def test_postgresql_is_restarted_while_an_answer_is_written(
    by: str, tmp_path: Path, scripted_provider: ScriptedProvider, postgres: Postgres
) -> None:
    """26: at once, as after a crash; the words go on meanwhile, and none is lost."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    settings = {"DATABASE_URL": fresh_database(postgres.url)}
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served(by) as server:
        one, tab = await server.program(), await server.tab()
        begun = await one.send("Go")
        await grows(one)
        slow = await slowness(lambda: one.ask("messages"))
        away = time.monotonic()
        await asyncio.to_thread(postgres.stop, signal.SIGQUIT)
        assert await statuses(server, "/readyz") == {503}
        assert await statuses(server, f"/c/{house.conversation}/") == {503}
        refused = await one.ask("rename", title="Nowhere to write it")
        assert not refused["ok"]
        await grows(one)
        await asyncio.to_thread(postgres.start)
        await grows(one)
        quiet = silence(one, away)
        print(f"\naway for {time.monotonic() - away:.1f} s, own tabs silent {quiet:.2f} s")
        assert quiet < SILENT + slow
        await ends_whole(one, begun, tab)
        assert await statuses(server, "/readyz") == {200}
    assert_kept(house, one)
    assert len(scripted_provider.requests) == 1


async def ends_whole(one: RemoteProgram, begun: dict[str, Any], tab: RemoteTab) -> None:
    assert (await one.ask("stop"))["ok"]
    assert (await one.ends(begun["request_id"]))["name"] == "chat:stopped"
    await tab.sees_the_end()
    await equal_pages(tab)
    await one.close()
    await tab.cut()


def assert_kept(house: House, one: RemoteProgram) -> None:
    """What was told is kept to the last character, and it is what was said."""
    [kept] = house.rows("answers")
    assert kept["status"] == "cancelled"
    assert kept["text"].startswith(one.spoken)
    assert "".join(TOKENS).startswith(kept["text"])
    assert not one.seen.taken_back
    assert house.rows("faults") == []


def fill(folder: Path) -> Path:
    """All that is left of the disk."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1_000_000, 4_096, 1):
            with suppress(OSError):
                while file.write(b"x" * size):
                    pass
    assert shutil.disk_usage(folder).free == 0
    return filler


@pytest.mark.full
async def test_the_disk_is_full_while_an_answer_is_written(
    small_disk: Path, scripted_provider: ScriptedProvider
) -> None:
    """30: what is said is told all the time and kept once there is room; nothing is broken."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    house = House(small_disk / "data", scripted_provider.base_url)
    with house.served() as server:
        one, tab = await server.program(), await server.tab()
        begun = await one.send("Go")
        await grows(one)
        slow = await slowness(lambda: one.ask("messages"))
        full = time.monotonic()
        filler = await asyncio.to_thread(fill, small_disk)
        await eventually(lambda: "a flush failed" in server.log.read_text())
        refused = await one.ask("rename", title="Nowhere to write it" * 5)
        assert not refused["ok"], refused
        assert refused["message"]
        assert await statuses(server, f"/c/{house.conversation}/") <= {200, 503}
        await grows(one)
        filler.unlink()
        await grows(one)
        quiet = silence(one, full)
        print(f"\nfull for {time.monotonic() - full:.1f} s, own tabs silent {quiet:.2f} s")
        assert quiet < SILENT + slow
        assert (await one.ask("rename", title="There is room"))["ok"]
        await ends_whole(one, begun, tab)
    assert_kept(house, one)
    with closing(sqlite3.connect(small_disk / "data" / "db.sqlite3")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.full
async def test_fifty_answers_at_once_on_sqlite(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """29: none is refused or lost, and whoever writes something else meanwhile hardly waits."""
    words = TOKENS[:150]
    scripted_provider.answer = reply(Say(words, ms=20))
    limits = ("GENERATIONS_PER_USER", "SOCKETS_PER_USER")
    many = {f"PARLEY_LIMIT_{name}": "100" for name in limits} | {"PARLEY_TITLES": "first"}
    house = House(tmp_path, scripted_provider.base_url, many)
    with house.served() as server:
        programs = [await server.program(house.rows("another")) for _ in range(50)]
        slow = await slowness(lambda: programs[0].ask("messages"))
        asked = [each.say("send", content="Go") for each in programs]
        begun = [await each.reply(key) for each, key in zip(programs, asked, strict=True)]
        assert all(each["ok"] for each in begun)
        took = []
        for each in programs[:20]:
            before = time.monotonic()
            assert (await each.ask("rename", title="Meanwhile"))["ok"]
            took.append(time.monotonic() - before)
        for each, told in zip(programs, begun, strict=True):
            assert (await each.ends(told["request_id"]))["name"] == "chat:complete"
            await each.close()
        print(f"\na write beside fifty answers: at most {1000 * max(took):.0f} ms")
        assert max(took) < 2 + slow
        assert "locked" not in server.log.read_text()
    assert [each["text"] for each in house.rows("answers")] == ["".join(words)] * 50
    assert house.rows("faults") == []
