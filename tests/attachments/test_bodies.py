"""A body that is too large, or comes too slowly, is refused before it is there, by every server."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from chatsite.bodies import AHEAD, AROUND, PACE, bounded, largest_body
from chatsite.crowd import Crowd
from tests.support.server import running_server
from tests.support.virtual_loop import VirtualLoop
from tests.support.waiting import PATIENCE

LARGEST = 1_000_000
CHUNK = 65_536


@pytest.fixture(scope="module", params=["daphne", "uvicorn"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    data: Path = tmp_path_factory.mktemp(request.param)
    limits = {"PARLEY_LIMIT_UPLOAD_BYTES": str(LARGEST), "PARLEY_LIMIT_BODY_SECONDS": "3"}
    with running_server(data, PARLEY_SERVER=request.param, **limits) as it:
        yield it.url


def head(url: str, path: str, *headers: str) -> bytes:
    host = urlsplit(url).netloc
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def connected(url: str) -> socket.socket:
    place = urlsplit(url)
    return socket.create_connection((place.hostname, place.port), timeout=PATIENCE)


def answer_of(connection: socket.socket) -> str:
    """All that is answered until the server hangs up."""
    received = b""
    try:
        while piece := connection.recv(CHUNK):
            received += piece
    except ConnectionResetError:
        pass
    return received.decode()


@pytest.mark.parametrize("path", ["/attachments/", "/accounts/login/", "/nowhere/"])
def test_it_is_refused_by_the_length_it_says_it_has(url: str, path: str) -> None:
    """76 MB are announced, and not one byte of them is sent."""
    with connected(url) as connection:
        connection.sendall(head(url, path, "Content-Length: 76000000", "Accept-Language: zh-CN"))
        answer = answer_of(connection)
    assert answer.startswith("HTTP/1.1 413 ")
    assert "请求过大" in answer


def test_without_a_length_it_is_refused_when_it_has_grown_too_large(url: str) -> None:
    sent = 0
    with connected(url) as connection:
        connection.sendall(head(url, "/attachments/", "Transfer-Encoding: chunked"))
        try:
            while sent < 100 * LARGEST:
                connection.sendall(b"%x\r\n%s\r\n" % (CHUNK, bytes(CHUNK)))
                sent += CHUNK
        except OSError:
            # The server has hung up.
            pass
        assert sent < 100 * LARGEST
        assert sent > LARGEST - AROUND


def test_what_is_allowed_comes_through(url: str) -> None:
    with connected(url) as connection:
        length = f"Content-Length: {LARGEST}"
        connection.sendall(head(url, "/attachments/", length, "Connection: close"))
        connection.sendall(bytes(LARGEST))
        answer = answer_of(connection)
    # It is nobody's, and has no token: Django itself says so.
    assert answer.startswith("HTTP/1.1 403 ")


@pytest.mark.parametrize("path", ["/attachments/", "/accounts/login/"])
def test_what_does_not_come_is_not_waited_for(url: str, path: str) -> None:
    """S9: bodies of which a byte came now and then were waited for for ever."""
    with connected(url) as connection:
        connection.sendall(head(url, path, "Content-Length: 1000", "Accept-Language: zh-CN"))
        connection.sendall(b"a")
        answer = answer_of(connection)
    assert answer.startswith("HTTP/1.1 408 ")
    assert "请求发送得太慢" in answer


# --- on a clock that jumps --------------------------------------------------------------

SCOPE: Any = {"path": "/attachments/", "headers": [(b"transfer-encoding", b"chunked")]}


class Sender:
    """Somebody who sends so many bytes every so many seconds, and what comes of it."""

    def __init__(self, pieces: int, size: int, seconds: float) -> None:
        self.pieces, self.size, self.seconds = pieces, size, seconds
        self.answers: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(self.seconds)
        self.pieces -= 1
        return {"type": "http.request", "body": bytes(self.size), "more_body": self.pieces > 0}

    async def send(self, message: dict[str, Any]) -> None:
        self.answers.append(message)

    @property
    def status(self) -> int:
        return int(self.answers[0]["status"])


async def takes_all(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200})


# A form of a few names and passwords, of which anybody may send one.
DOOR = {**SCOPE, "path": "/accounts/login/"}


def visited(sender: Sender, application: Any = takes_all) -> int:
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(bounded(application)(SCOPE, sender.receive, sender.send))
    return sender.status


@pytest.mark.parametrize(
    ("sender", "status"),
    [
        # Five minutes on a bad line, and a minute at once.
        (Sender(300, PACE, 1), 200),
        (Sender(1, 10, 29), 200),
        (Sender(10, 10, 4), 408),
        (Sender(10_000, 1, 1), 408),
        # It begins well and then comes to a halt.
        (Sender(3, AHEAD, 25), 408),
    ],
    ids=["steady", "late", "slow", "trickling", "coming to a halt"],
)
def test_whoever_keeps_sending_has_the_time_it_takes(sender: Sender, status: int) -> None:
    assert visited(sender) == status


def test_who_sends_slowly_keeps_nobody_waiting() -> None:
    """Pages wait for a place, and whoever has not sent his form yet has none."""
    orderly, places = Crowd(1).orderly(takes_all), []

    async def visits() -> None:
        slow, quick = Sender(10, 10, 2), Sender(2, 10, 1)
        clock = asyncio.get_running_loop().time

        async def visit(sender: Sender) -> None:
            await bounded(orderly)(SCOPE, sender.receive, sender.send)
            places.append((clock(), sender.status))

        await asyncio.gather(visit(slow), visit(quick))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(visits())
    assert places == [(2, 200), (20, 200)]


def test_nobody_keeps_a_place_at_the_door_by_sending_much() -> None:
    """Of a large body only the begin is waited for outside; a form to log in is none."""
    orderly, places = Crowd(1).orderly(takes_all), []

    async def visits() -> None:
        slow, quick = Sender(3, 60_000, 5), Sender(2, 10, 6)
        clock = asyncio.get_running_loop().time

        async def visit(sender: Sender) -> None:
            await bounded(orderly)(DOOR, sender.receive, sender.send)
            places.append((clock(), sender.status))

        await asyncio.gather(visit(slow), visit(quick))

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(visits())
    assert places == [(10, 413), (12, 200)]
    assert largest_body("/accounts/login/") < AHEAD
