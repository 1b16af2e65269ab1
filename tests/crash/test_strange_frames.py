"""53: ten thousand frames that no page sends, and what is no frame at all, at both servers: nothing
breaks, nothing is left open, and another tab notices nothing."""

import asyncio
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed

from chat.consumers.consumer import BROKEN
from chat.consumers.json_wire import SUBPROTOCOL
from tests.crash.remote import House, RemoteWire, Server
from tests.security.frame_fuzz import fuzzed
from tests.support.model_server import ScriptedProvider, reply
from tests.support.waiting import PATIENCE, until_true

pytestmark = [pytest.mark.full, pytest.mark.alone]

# Half of them at each of two servers, by several sockets at a time.
FRAMES, SOCKETS = 5_000, 5
# What is not limited here: a flood would be refused before anybody looked at its frames.
UNLIMITED = {
    "PARLEY_LIMIT_FRAMES_PER_SECOND": "1000000",
    "PARLEY_LIMIT_FRAME_BYTES": "1700000",
    "PARLEY_TITLES": "first",
}


async def trouble(server: Server, seed: int, form: str) -> list[int]:
    """One socket after another is told all of these; why each of them was closed."""
    codes: list[int] = []
    frames = fuzzed(seed, FRAMES // SOCKETS, [server.house.conversation])
    while batch := [frame for frame, _ in zip(frames, range(50), strict=False)]:
        wire = RemoteWire(server, form)
        assert await wire.accepted()
        assert wire._socket
        reading = asyncio.create_task(_read(wire))
        try:
            for frame in batch:
                await wire._socket.send(frame)
        except ConnectionClosed:
            pass
        await wire.close()
        codes += await reading
    return codes


async def _read(wire: RemoteWire) -> list[int]:
    assert wire._socket
    try:
        while True:
            await wire._socket.recv()
    except ConnectionClosed as closed:
        return [closed.rcvd.code] if closed.rcvd else []


def frame(
    opcode: int, data: bytes, *, fin: bool = True, reserved: int = 0, masked: int = 1
) -> bytes:
    """A frame of RFC 6455, or something like it."""
    mask = b"abcd"
    length = len(data)
    head = bytes([fin << 7 | reserved << 4 | opcode])
    if length < 126:
        head += bytes([masked << 7 | length])
    elif length < 2**16:
        head += bytes([masked << 7 | 126]) + struct.pack("!H", length)
    else:
        head += bytes([masked << 7 | 127]) + struct.pack("!Q", length)
    if not masked:
        return head + data
    return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data))


def no_frames() -> Iterator[bytes]:
    """What a WebSocket must not say."""
    yield frame(1, b"\xff\xfe{}")
    yield frame(1, b"\xed\xa0\x80")
    yield frame(1, b"{}", masked=0)
    yield frame(0, b"{}")
    yield frame(1, b"{", fin=False) + frame(1, b"}")
    yield frame(9, b"x" * 500)
    yield frame(9, b"x", fin=False)
    yield frame(8, b"\x00")
    yield frame(8, struct.pack("!H", 999) + b"why")
    yield frame(8, struct.pack("!H", 1000) + b"\xff")
    yield b"\x81\xff" + struct.pack("!Q", 2**63 - 1) + b"abcd"
    yield b"\x81\xff" + b"\xff" * 8 + b"abcd"
    yield frame(9, b"") * 2_000
    yield frame(10, b"nobody asked") * 500
    yield (frame(1, b"", fin=False) + frame(0, b"", fin=False) * 2_000)
    for opcode in (3, 7, 11, 15):
        yield frame(opcode, b"x")
    for reserved in (1, 2, 4, 7):
        yield frame(1, b"{}", reserved=reserved)
    dice = random.Random(53)
    for _ in range(100):
        yield dice.randbytes(dice.randrange(1, 300))


async def say(server: Server, said: bytes) -> None:
    """Open a socket, say this, and hang up."""
    host = urlsplit(server.url)
    lines = [
        f"GET /ws/c/{server.house.conversation}/ HTTP/1.1", f"Host: {host.netloc}",
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", f"Cookie: {server.house.cookie}",
        f"Origin: {server.url}", "", "",
    ]  # fmt: skip
    reader, writer = await asyncio.open_connection(host.hostname, host.port)
    try:
        writer.write("\r\n".join(lines).encode())
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        await writer.drain()
        # As long as it takes the server to hang up or to read on: what follows is a new socket.
        async with asyncio.timeout(0.05):
            await reader.read()
    except (TimeoutError, ConnectionError):
        pass
    finally:
        writer.close()


@pytest.mark.parametrize("by", ["daphne", "uvicorn"])
async def test_no_frame_breaks_a_server(
    by: str, tmp_path: Path, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.answer = reply("Yes.")
    house = House(tmp_path, scripted_provider.base_url, UNLIMITED)
    with house.served(by) as server:
        beside = await server.tab()
        before = server.open_files()
        forms = [SUBPROTOCOL, ""]
        async with asyncio.timeout(10 * PATIENCE):
            codes = await asyncio.gather(
                *(trouble(server, 530 + each, forms[each % 2]) for each in range(SOCKETS))
            )
            for said in no_frames():
                await say(server, said)
        assert BROKEN not in {code for some in codes for code in some}
        assert 1011 not in {code for some in codes for code in some}
        assert beside.closed is None
        await beside.ask("stop")
        assert (await beside.send("Are you there?"))["ok"]
        await beside.sees_the_end()
        until_true(lambda: server.open_files() <= before + 5)
        assert server.process.poll() is None
        said = server.log.read_text()
        assert "Traceback" not in said, said[said.index("Traceback") - 500 :][:4_000]
        assert "Unhandled" not in said
        await beside.cut()
