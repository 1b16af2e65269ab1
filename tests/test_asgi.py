"""The ASGI application: who may open a socket, and what runs at the start and the end."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator

from chatsite.asgi import application, lifespan
from chatsite.lifespan import Lifespan, keep_what_is_loaded

ANYWHERE = "/nowhere/"


async def accepted(origin: bytes | None) -> bool:
    headers = [] if origin is None else [(b"origin", origin)]
    socket = WebsocketCommunicator(application, ANYWHERE, headers=headers)
    try:
        connected, _ = await socket.connect()
    except ValueError as error:
        # The origin was accepted: the router is asked, and knows no such address.
        return "No route found" in str(error)
    return connected


@pytest.mark.parametrize(
    "origin",
    [
        None,
        b"null",
        b"*",
        b"https://evil.example",
        b"http://127.0.0.1:8001",
        b"http://127.0.0.1",
        b"https://127.0.0.1:8000",
        b"http://127.0.0.1:8000.evil.example",
        b"http://evil.example/127.0.0.1:8000",
    ],
)
async def test_a_socket_from_elsewhere_is_refused(origin: bytes | None) -> None:
    assert not await accepted(origin)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("host", [b"127.0.0.1", b"localhost", b"[::1]"])
async def test_a_socket_from_our_own_pages_reaches_the_router(host: bytes) -> None:
    assert await accepted(b"http://" + host + b":8000")


def recording(said: list[str], word: str) -> Callable[[], Awaitable[None]]:
    async def hook() -> None:
        said.append(word)

    return hook


async def failing() -> None:
    raise RuntimeError("on purpose")


async def test_the_lifespan_runs_every_hook_once() -> None:
    said: list[str] = []
    lifespan = Lifespan(
        startup=[failing, recording(said, "start")], shutdown=[recording(said, "stop")]
    )
    received = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        await asyncio.sleep(0)
        return received.pop(0)

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await lifespan({}, receive, send)
    assert said == ["start", "stop"]
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_daphne_waits_for_the_hooks_before_it_ends() -> None:
    from tests.support.server import ROOT, python

    code = """if True:
        import asyncio
        from daphne.server import Server
        from twisted.internet import reactor
        from chatsite.lifespan import Lifespan

        async def start():
            print("started", flush=True)
            reactor.callLater(0.1, reactor.stop)

        async def stop():
            await asyncio.sleep(0.2)
            print("stopped", flush=True)

        Lifespan([start], [stop]).attach_to_reactor()
        Server(None, endpoints=["tcp:port=0:interface=127.0.0.1"], signal_handlers=False).run()
    """
    result = python(ROOT / "var", "-c", code)
    assert result.stdout.split() == ["started", "stopped"], result.stderr


async def test_the_collector_is_spared_what_a_process_has_loaded() -> None:
    assert lifespan.startup[-1] is keep_what_is_loaded
    try:
        await keep_what_is_loaded()
        assert gc.get_freeze_count() > 50_000
        assert len(gc.get_objects(generation=2)) < 1000
    finally:
        gc.unfreeze()
