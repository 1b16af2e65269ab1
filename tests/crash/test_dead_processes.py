"""A process that is known to be dead is not waited for; one that lives is never taken for dead."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from chat.models import Generation
from chat.services.pool import close_connections
from chat.services.processes import identity
from tests.crash.remote import House, fresh_database
from tests.support import factories as make
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.server import python
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread

# Nothing in these tests may be due to a lease that ran out.
LONG_LEASES = {"PARLEY_LIMIT_LEASE_SECONDS": "3600", "PARLEY_LIMIT_RENEW_SECONDS": "1"}


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"]) as process:
        yield process
        process.kill()


def birth(pid: int) -> int:
    return identity._state_and_birth(pid)[1]


# --- one process ------------------------------------------------------------------


def test_a_living_process_is_not_dead(sleeper: "subprocess.Popen[bytes]") -> None:
    assert not identity.is_dead(os.getpid(), identity.born())
    assert not identity.is_dead(sleeper.pid, birth(sleeper.pid))
    # The first process of the machine belongs to somebody else, perhaps.
    assert not identity.is_dead(1, birth(1))


def test_a_stopped_process_is_not_dead(sleeper: "subprocess.Popen[bytes]") -> None:
    began = birth(sleeper.pid)
    sleeper.send_signal(signal.SIGSTOP)
    assert not identity.is_dead(sleeper.pid, began)


def test_a_killed_process_is_dead_before_and_after_it_was_waited_for(
    sleeper: "subprocess.Popen[bytes]",
) -> None:
    began = birth(sleeper.pid)
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert identity.is_dead(sleeper.pid, began)
    sleeper.wait()
    assert identity.is_dead(sleeper.pid, began)


def test_another_process_with_its_number_is_not_it(sleeper: "subprocess.Popen[bytes]") -> None:
    assert identity.is_dead(sleeper.pid, birth(sleeper.pid) - 1)


def test_without_a_proc_nothing_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(identity, "PROC", tmp_path)
    assert identity.place() == ""
    assert not identity.is_dead(os.getpid(), 1)


# --- the command ------------------------------------------------------------------


@pytest.mark.both_databases
def test_the_command_settles_what_the_dead_left_and_nothing_else(
    transactional_db: None, sleeper: "subprocess.Popen[bytes]"
) -> None:
    """Their leases run for a while yet. Two containers may have one host name and a process 1."""
    here = identity.place()
    assert here
    dead = make.a_process(pid=sleeper.pid, place=here, born=birth(sleeper.pid) - 1)
    alive = make.a_process(pid=sleeper.pid, place=here, born=birth(sleeper.pid))
    elsewhere = make.a_process(pid=sleeper.pid, place="another boot pid:[1]", born=1)
    unknown = make.a_process(pid=sleeper.pid)
    for process in (dead, alive, elsewhere, unknown):
        answer = make.a_message(role="assistant", status="streaming")
        make.a_generation(answer, process=process)
    said = StringIO()
    call_command("settle", stdout=said)
    close_connections()
    assert said.getvalue() == "Settled 1 answer.\n"
    left = Generation.objects.filter(status="active").values_list("process", flat=True)
    assert set(left) == {alive.pk, elsewhere.pk, unknown.pk}


# --- a person ---------------------------------------------------------------------


@pytest.fixture
async def lost(site: Site) -> Generation:
    """An answer whose process has just died."""

    def rows() -> Generation:
        dead = make.a_process(pid=os.getpid(), place=identity.place(), born=1)
        question = make.a_message(site.talk, "user", status="success")
        answer = make.a_message(site.talk, "assistant", status="streaming", parent=question)
        make.a_text_part(answer, "Half a sent")
        return make.a_generation(answer, process=dead, user=site.alice.user)

    return await in_thread(rows)()


async def test_stop_ends_what_nobody_writes(
    site: Site, program: Programs, lost: Generation
) -> None:
    one = await program()
    await one.ask("stop")
    await in_thread(lost.refresh_from_db)()
    assert lost.status == "stopped"


async def test_send_does_not_wait_for_what_nobody_writes(
    site: Site, program: Programs, lost: Generation
) -> None:
    one = await program()
    site.provider.script("Here I am.")
    begun = await one.send("Hello?")
    assert begun["ok"], begun
    await one.ends(begun["request_id"])


# --- servers ----------------------------------------------------------------------


async def test_the_next_server_settles_at_once(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """R8: also when the kernel knows nothing of the old one (its container is gone)."""
    scripted_provider.answer = reply(Say(["word "] * 30_000, ms=10))
    house = House(tmp_path, scripted_provider.base_url, LONG_LEASES)
    with house.served() as server:
        one = await server.program()
        await one.send("Go")
        await one.until(lambda: len(one.spoken) > 50)
        server.process.kill()
        await server.ended()
        await one.close()
    house.rows("forget_places")
    with house.served() as server:
        one = await server.program()
        scripted_provider.answer = reply("Here I am.")
        begun = {}
        while not begun.get("ok"):
            begun = await one.send("Hello?")
        assert (await one.ends(begun["request_id"]))["name"] == "chat:complete"
        await one.close()
    assert [each["error_key"] for each in house.rows("answers")] == ["error.chat_interrupted", ""]
    assert house.rows("faults") == []


async def test_a_second_server_on_sqlite_is_refused(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """R13: commands still work beside the first, and after a kill the next one starts."""
    house = House(tmp_path, scripted_provider.base_url)
    with house.served() as server:
        for words in (["manage.py", "serve"], ["-m", "uvicorn", "chatsite.asgi:application"]):
            second = await asyncio.to_thread(python, tmp_path, *words, PORT="1")
            assert second.returncode == 1
            assert f"Parley is running already (process {server.process.pid})" in second.stderr
            assert "Traceback" not in second.stderr
        for command in ("prepare", "settle"):
            assert python(tmp_path, "manage.py", command).returncode == 0
        server.process.kill()
        await server.ended()
    with house.served() as server:
        assert server.answers()


@pytest.mark.full
async def test_a_second_server_on_postgresql_is_welcome(
    tmp_path: Path, scripted_provider: ScriptedProvider, postgres_url: str, redis_url: str
) -> None:
    """R8: what the first writes is not taken from it; when it is killed, the second goes on with
    it, although its lease has not run out. R4: a program that watches there is told the end of the
    answer whose start it was told. (Every day: `tests/faults/test_changing_process.py`, where a
    server is killed beside others, and the command above, which leaves what lives alone.)"""
    scripted_provider.answer = reply(Say(["word "] * 30_000, ms=10))
    database = fresh_database(postgres_url)
    settings = {**LONG_LEASES, "DATABASE_URL": database, "REDIS_URL": redis_url}
    house = House(tmp_path, scripted_provider.base_url, settings)
    with house.served() as first, house.served() as second:
        one, other = await first.program(), await second.program()
        begun = await one.send("Go")
        await other.until(lambda: len(other.spoken) > 50)
        assert python(tmp_path, "manage.py", "settle", **house.settings).stdout.endswith(
            "Settled 0 answers.\n"
        )
        assert not (await other.send("Hello?"))["ok"]
        before = len(one.spoken)
        await one.until(lambda: len(one.spoken) > before)
        scripted_provider.answer = reply("and the rest.")
        first.process.kill()
        await first.ended()
        assert (await other.ends(begun["request_id"]))["name"] == "chat:complete"
        await other.hears("and the rest.")
        for client in (one, other):
            await client.close()
    assert house.rows("faults") == []
