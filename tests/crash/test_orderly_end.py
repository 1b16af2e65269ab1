"""A server that is told to end: its sockets are closed, nothing is left behind, it exits with 0."""

import asyncio
import contextlib
import json
import signal
import subprocess
from collections.abc import Awaitable, Callable, Iterator

import pytest
from websockets.exceptions import WebSocketException

from chat.consumers.consumer import BROKEN, RESTARTING
from tests.crash.remote import House, RemoteProgram, Server
from tests.support.model_server import Say, ScriptedProvider, reply
from tests.support.server import ROOT, python

SOCKETS = 10
# A page comes back after these; one that is just being brought forward is cut off.
COME_BACK = {RESTARTING, BROKEN}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with ScriptedProvider() as provider:
        provider.answer = reply(Say([f"w{n:04} " for n in range(3_000)], ms=10))
        yield House(tmp_path_factory.mktemp("house"), provider.base_url)


Tasks = list["asyncio.Task[None]"]


async def idle(server: Server, sockets: list[RemoteProgram]) -> Tasks:
    return []


async def just_read(server: Server, sockets: list[RemoteProgram]) -> Tasks:
    """Pages were loaded a moment ago."""
    for _ in range(3):
        assert await asyncio.to_thread(server.answers)
    return []


async def answering(server: Server, sockets: list[RemoteProgram]) -> Tasks:
    await sockets[0].send("Go")
    await sockets[1].until(lambda: len(sockets[1].spoken) > 60)
    return []


async def attaching(server: Server, sockets: list[RemoteProgram]) -> Tasks:
    """More sockets come at the same moment; some of them are too late."""
    first = asyncio.Event()

    async def come() -> None:
        one = RemoteProgram(server)
        with contextlib.suppress(OSError, WebSocketException):
            await one.open(attach=False)
            first.set()
            one.wire.send(json.dumps({"command": "attach", "tab_id": one.tab_id}))
            await one.until(lambda: one.closed)
            await one.close()

    coming = [asyncio.create_task(come()) for _ in range(SOCKETS)]
    await first.wait()
    return coming


async def told_twice(server: Server, sockets: list[RemoteProgram]) -> Tasks:
    await answering(server, sockets)
    server.process.send_signal(signal.SIGTERM)
    return []


Moment = Callable[[Server, list[RemoteProgram]], Awaitable[Tasks]]


# Every start takes seconds: the moments at which each server once failed.
DAILY = {
    (just_read, signal.SIGTERM, "daphne"),
    (told_twice, signal.SIGTERM, "daphne"),
    (attaching, signal.SIGINT, "daphne"),
    (attaching, signal.SIGINT, "uvicorn"),
}


@pytest.mark.parametrize(
    "times", [pytest.param(1, id="once"), pytest.param(20, id="all", marks=pytest.mark.full)]
)
@pytest.mark.parametrize(
    ("how", "moment", "by"),
    [
        pytest.param(how, moment, by, marks=[] if (moment, how, by) in DAILY else pytest.mark.full)
        for how in (signal.SIGTERM, signal.SIGINT)
        for moment in (idle, just_read, answering, attaching, told_twice)
        for by in ("daphne", "uvicorn")
    ],
)
async def test_a_server_that_is_told_to_end_exits_with_nought(
    how: signal.Signals, moment: Moment, by: str, times: int, house: House
) -> None:
    for _ in range(times):
        with house.served(by) as server:
            sockets = [await server.program() for _ in range(SOCKETS)]
            others = await moment(server, sockets)
            server.process.send_signal(how)
            assert await server.ended() == 0
            for one in sockets:
                await one.until(lambda one=one: one.closed)  # type: ignore[misc]
                assert one.closed in COME_BACK
                await one.close()
            await asyncio.gather(*others)
            logged = server.log.read_text()
            assert "Error" not in logged
            assert "destroyed" not in logged
    assert house.rows("faults") == []


def end_of_daphne(code: str) -> "subprocess.CompletedProcess[str]":
    """A Daphne that runs `start` and then ends by itself."""
    program = """
import asyncio, threading, time, urllib.request
from daphne.server import Server
from twisted.internet import reactor
from chatsite import lifespan

{code}

ends = lifespan.Lifespan([start])
ends.attach_to_reactor()

class Quiet(Server):
    def kill_all_applications(self):
        return ends.end()

server = Quiet(ends.awaited(page), endpoints=["tcp:port=0:interface=127.0.0.1"])
server.run()
"""
    return python(ROOT / "var", "-c", program.replace("{code}", code))


def test_a_page_that_is_being_made_is_finished() -> None:
    result = end_of_daphne("""
async def page(scope, receive, send):
    reactor.stop()
    await asyncio.sleep(0.3)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"The whole page"})

def visit():
    with urllib.request.urlopen("http://%s:%s/" % server.listening_addresses[0]) as response:
        print(response.read().decode())

async def start():
    threading.Thread(target=visit).start()
""")
    assert "The whole page" in result.stdout, result.stderr
    assert result.returncode == 0


@pytest.mark.parametrize(
    "hanging",
    [
        pytest.param("threading.Thread(target=time.sleep, args=[3600]).start()", id="a thread"),
        pytest.param("ends.stubborn = asyncio.create_task(stubborn())", id="a task"),
        pytest.param("ends.shutdown = [asyncio.Event().wait]", id="a hook"),
    ],
)
def test_whatever_hangs_the_process_ends(hanging: str) -> None:
    result = end_of_daphne(f"""
lifespan.LONGEST, lifespan.PATIENCE = 1, 0.2
page = None

async def stubborn():
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            pass

async def start():
    {hanging}
    reactor.stop()
""")
    assert result.returncode == 1
    assert "Parley ends without order" in result.stderr
