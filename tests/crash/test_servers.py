"""Whatever server `serve` runs, pages and sockets find the same Parley."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from chat.consumers.consumer import LOGGED_OUT, NOT_FOUND
from chat.services.people.attempts import PER_NAME
from chat.views.password_attempts import RESTING
from tests.crash.remote import House, Server
from tests.support.model_server import ScriptedProvider
from tests.support.waiting import PATIENCE

NOWHERE = "01890000-0000-7000-8000-000000000000"
# What a page sees when it has sent more than a server takes: Daphne hangs up without a word. It
# comes back after both.
TOO_BIG = {1006, 1009}


async def closing(server: Server, conversation: str, cookie: str, *sent: str | list[str]) -> int:
    """The code that a socket is closed with after it was sent this."""
    async with asyncio.timeout(PATIENCE):
        async with connect(
            f"ws{server.url.removeprefix('http')}/ws/c/{conversation}/",
            origin=Origin(server.url),
            additional_headers={"Cookie": cookie},
        ) as socket:
            try:
                for frame in sent:
                    await socket.send(frame)
                while True:
                    await socket.recv()
            except ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd else 1006


async def longest(server: Server, conversation: str, cookie: str) -> bool:
    """Whether the longest message is taken, each of its characters three bytes, or six escaped."""
    command = {"command": "send", "client_id": "1", "content": "水" * 200_000}
    async with asyncio.timeout(PATIENCE):
        async with connect(
            f"ws{server.url.removeprefix('http')}/ws/c/{conversation}/",
            origin=Origin(server.url),
            additional_headers={"Cookie": cookie},
            max_size=None,
        ) as socket:
            await socket.send(json.dumps(command))
            async for frame in socket:
                if str(frame).startswith("{"):
                    return bool(json.loads(frame)["ok"])
    return False


async def guessing(server: Server) -> str:
    """What the log-in page says to wrong passwords, each as if from another address."""
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as client:
        for attempt in range(PER_NAME + 1):
            await client.get("/accounts/login/")
            answer = await client.post(
                "/accounts/login/",
                data={
                    "username": "alice",
                    "password": "wrong",
                    "csrfmiddlewaretoken": client.cookies["parley_csrftoken"],
                },
                headers={"x-forwarded-for": f"192.0.2.{attempt}", "origin": server.url},
            )
    return answer.text


# A page elsewhere cannot say these, but what stands between it and us may be talked into it: bytes
# that some take for the end of a line, another host in the address, the same header twice.
SMUGGLED = [
    *(b"X-Seen: x%cOrigin: %%b" % byte for byte in b"\x0b\x0c\x1c\x1d\x1e\x85"),
    b"X-Seen: x\rOrigin: %b", b"X-Seen: x\n\tOrigin: %b", b"Origin : %b", b"\tOrigin: %b",
    b"Origin: https://evil.example\r\nX-Forwarded-Origin: %b",
    b"Origin: null\r\nReferer: %b/", b"Origin: %b.evil.example", b"Origin: https://evil.example/%b",
    b"Origin: %b@evil.example", b"Origin: %b1", b"Origin:", b"X-Origin: %b",
]  # fmt: skip


def handshake(server: Server, header: bytes, patience: float = PATIENCE) -> bool:
    """Whether a socket opens when this says where it comes from; some servers say nothing at all to
    a head that they cannot read."""
    host = urlsplit(server.url).netloc
    lines = [
        f"GET /ws/c/{server.house.conversation}/ HTTP/1.1", f"Host: {host}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Cookie: {server.house.cookie}",
    ]  # fmt: skip
    head = "\r\n".join([*lines, ""]).encode() + header.replace(b"%b", server.url.encode())
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port)), timeout=patience) as connection:
        connection.sendall(head + b"\r\n\r\n")
        try:
            return b" 101 " in connection.recv(1_000).split(b"\r\n")[0]
        except TimeoutError:
            return False


async def found(server: Server) -> dict[str, Any]:
    house = server.house
    async with httpx.AsyncClient(base_url=server.url, timeout=PATIENCE) as client:
        page = await client.get(f"/c/{house.conversation}/", headers={"cookie": house.cookie})
        script = page.text.split('<script src="', 1)[1].split('"', 1)[0]
        static = await client.get(script, headers={"accept-encoding": "identity"})
        stranger = await client.get("/", headers={"x-forwarded-proto": "https"})
    kept = ("content-type", "cache-control", "content-length", "server", "location", "set-cookie")
    too_long = json.dumps({"command": "send", "content": "x" * 2_000_000})
    return {
        "page": (page.status_code, sorted(page.headers.keys() - {"date"})),
        "static": (static.status_code, [static.headers.get(name) for name in kept]),
        "stranger": (stranger.status_code, [stranger.headers.get(name) for name in kept[:-1]]),
        "logged out": await closing(server, house.conversation, ""),
        "not found": await closing(server, NOWHERE, house.cookie),
        "too long": await closing(server, house.conversation, house.cookie, too_long) in TOO_BIG,
        "too long in pieces": (
            await closing(server, house.conversation, house.cookie, ["x" * 500_000] * 6) in TOO_BIG
        ),
        "opened from elsewhere": [
            header
            for header in SMUGGLED
            if await asyncio.to_thread(handshake, server, header, patience=3)
        ],
        "opened from here": await asyncio.to_thread(handshake, server, b"Origin: %b"),
        "longest": await longest(server, house.conversation, house.cookie),
        "throttled": str(RESTING) in await guessing(server),
    }


async def test_both_servers_answer_alike(
    tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    """Pages, static files, whom a proxy speaks for, whose sockets open, and why one is closed."""
    house = House(tmp_path, scripted_provider.base_url)
    with house.served("daphne") as one:
        by_daphne = await found(one)
        assert "with Daphne" in one.log.read_text()
    with house.served("uvicorn") as other:
        by_uvicorn = await found(other)
        assert "with uvicorn" in other.log.read_text()
    assert by_daphne == by_uvicorn
    assert by_daphne["static"][0] == 200
    assert by_daphne["throttled"]
    assert by_daphne["too long"]
    assert by_daphne["too long in pieces"]
    assert by_daphne["longest"]
    assert by_daphne["opened from here"]
    assert by_daphne["opened from elsewhere"] == []
    assert (by_daphne["logged out"], by_daphne["not found"]) == (LOGGED_OUT, NOT_FOUND)
