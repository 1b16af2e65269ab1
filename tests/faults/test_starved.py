"""A machine that gives no more: file descriptors run out, and what is stored cannot be changed."""

import asyncio
import resource
import subprocess
import time
from pathlib import Path

import psycopg
import pytest

from tests.crash.remote import House, RemoteTab, Server, fresh_database
from tests.faults.test_stores import (
    MS,
    SILENT,
    TOKENS,
    assert_kept,
    ends_whole,
    grows,
    silence,
    statuses,
)
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.server import python
from tests.support.waiting import eventually, slowness

OUT = "no more files and connections can be opened (Too many open files)"
AGAIN = "files and connections can be opened again"


def limit_files(server: Server, most: int) -> None:
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (min(most, hard), hard))


async def knock(server: Server, times: int) -> list[asyncio.StreamWriter]:
    """Open so many connections, and say nothing."""
    port = int(server.url.rsplit(":", 1)[1])
    knocks = [asyncio.open_connection("127.0.0.1", port) for _ in range(times)]
    opened = await asyncio.gather(*knocks, return_exceptions=True)
    return [each[1] for each in opened if not isinstance(each, BaseException)]


@pytest.mark.full
@pytest.mark.parametrize("by", ["daphne", "uvicorn"])
async def test_no_more_files_can_be_opened(
    by: str, tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """21: who is in stays in and is told every word; the log says what is missing; and once there
    are some again, whoever has waited gets in. Nothing is lost."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    house = House(tmp_path, scripted_provider.base_url)
    with house.served(by) as server:
        one, tab = await server.program(), await server.tab()
        begun = await one.send("Go")
        await grows(one)
        slow = await slowness(lambda: one.ask("messages"))
        starved = time.monotonic()
        limit_files(server, server.open_files() + 8)
        knocking = await knock(server, 40)
        await eventually(lambda: OUT in server.log.read_text())
        await grows(one, 1_000)
        # Nobody new gets in, and whoever is in can do what they could.
        assert not await asyncio.to_thread(server.answers)
        assert (await one.ask("rename", title="Without another file"))["ok"]
        await one.until(lambda: one.named("chat:title"))
        quiet = silence(one, starved)
        print(f"\n{by}: own tabs silent {quiet:.2f} s, a log of {server.log.stat().st_size} bytes")
        limit_files(server, 1_024)
        for writer in knocking:
            writer.close()
        late = await server.program()
        await late.hears("w00300 ")
        assert await statuses(server, f"/c/{house.conversation}/") == {200}
        assert (await one.ask("rename", title="There are some again"))["ok"]
        assert quiet < SILENT + slow
        await ends_whole(one, begun, tab)
        await late.close()
        await eventually(lambda: AGAIN in server.log.read_text())
        # Said once, and not with every try.
        assert server.log.read_text().count(OUT) == 1
    assert_kept(house, one)


@pytest.mark.full
async def test_postgresql_takes_no_writes_while_an_answer_is_written(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str
) -> None:
    """30: as one does that has become a standby. Pages are read, words go on, what is written is
    refused in words; and all of it is kept once it is the first again."""
    scripted_provider.answer = reply(Say(TOKENS, ms=MS))
    database = fresh_database(postgres_url)
    house = House(tmp_path, scripted_provider.base_url, {"DATABASE_URL": database})

    def writable(yes: bool) -> None:
        with psycopg.connect(postgres_url, autocommit=True) as server:
            name = database.rsplit("/", 1)[1]
            word = "off" if yes else "on"
            server.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {word}')
            server.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s",
                [name],
            )

    with house.served() as server:
        one, tab = await server.program(), await server.tab()
        begun = await one.send("Go")
        await grows(one)
        slow = await slowness(lambda: one.ask("messages"))
        began = time.monotonic()
        await asyncio.to_thread(writable, False)
        await eventually(lambda: "a flush failed" in server.log.read_text())
        refused = await one.ask("rename", title="Nowhere to write it")
        assert not refused["ok"]
        assert refused["message"]
        assert await statuses(server, f"/c/{house.conversation}/") <= {200, 503}
        await grows(one)
        await asyncio.to_thread(writable, True)
        await grows(one)
        quiet = silence(one, began)
        print(f"\nread-only for {time.monotonic() - began:.1f} s, own tabs silent {quiet:.2f} s")
        assert quiet < SILENT + slow
        assert (await one.ask("rename", title="It can be written"))["ok"]
        await ends_whole(one, begun, tab)
    assert_kept(house, one)


@pytest.mark.full
async def test_a_disk_that_cannot_be_written_is_named_at_the_start(
    small_disk: Path, scripted_provider: ScriptedProvider
) -> None:
    """30: in a sentence; and nothing is lost when it can be written again."""
    scripted_provider.answer = reply("Kept.")
    house = House(small_disk / "data", scripted_provider.base_url)
    with house.served() as server:
        one = await server.program()
        begun = await one.send("Go")
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        await one.close()
    house.close()
    remount(small_disk, "ro")
    ended = await asyncio.to_thread(python, house.data, "manage.py", "serve", PORT="1")
    print(f"\n{ended.stderr.strip()}")
    assert ended.returncode == 1
    assert f"The folder {house.data} cannot be written." in ended.stderr
    assert "Traceback" not in ended.stderr
    remount(small_disk, "rw")
    with house.served() as server:
        tab: RemoteTab = await server.tab()
        await tab.sees("Kept.")
        await tab.cut()


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True)
