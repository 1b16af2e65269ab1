"""A WebSocket client that costs next to nothing.

Hundreds of tabs share the machine with the server that is measured: what they cost would be
measured with it. A library's client takes ten times as long for a frame as this one.
"""

import asyncio
import os
import time
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import urlsplit

TEXT, CLOSE, PING, PONG = 0x81, 0x88, 0x89, 0x8A
# A client must mask what it sends; this mask changes nothing.
NO_MASK = bytes(4)

Take = Callable[[bytes, float], None]
Lost = Callable[[str], None]


class Socket(asyncio.Protocol):
    """Hands every message on, with the moment it came; and says why it was closed."""

    transport: asyncio.Transport

    def __init__(self, take: Take, lost: Lost) -> None:
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._take = take
        self._lost = lost
        self._closed = ""
        self._rest = b""

    @classmethod
    async def open(cls, url: str, origin: str, cookie: str, take: Take, lost: Lost) -> "Socket":
        parts = urlsplit(url)
        _, socket = await asyncio.get_running_loop().create_connection(
            lambda: cls(take, lost), parts.hostname or "", parts.port or 80
        )
        lines = [
            f"GET {parts.path} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {b64encode(os.urandom(16)).decode()}",
            f"Origin: {origin}",
            *([f"Cookie: {cookie}"] if cookie else []),
        ]
        socket.transport.write("\r\n".join([*lines, "", ""]).encode())
        await socket.opened
        return socket

    def send(self, text: str) -> None:
        self._write(TEXT, text.encode())

    def close(self) -> None:
        self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        reason = self._closed or str(error or "closed")
        if self.opened.done():
            self._lost(reason)
        else:
            self.opened.set_exception(ConnectionError(reason))

    def data_received(self, data: bytes) -> None:
        now = time.monotonic()
        data = self._rest + data
        if not self.opened.done():
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self._rest = head
                return
            if b" 101 " not in head.split(b"\r\n")[0]:
                self._closed = head.decode("latin-1").split("\r\n")[0]
                self.transport.abort()
                return
            self.opened.set_result(None)
        self._read(data, now)

    def _read(self, data: bytes, now: float) -> None:
        at, end = 0, len(data)
        while end - at >= 2:
            size, start = data[at + 1], at + 2
            if size > 125:
                start += 2 if size == 126 else 8
                size = int.from_bytes(data[at + 2 : start], "big")
            if start + size > end:
                break
            self._message(data[at], data[start : start + size], now)
            at = start + size
        self._rest = data[at:]

    def _message(self, kind: int, body: bytes, now: float) -> None:
        if kind == TEXT:
            self._take(body, now)
        elif kind == PING:
            self._write(PONG, body)
        elif kind == CLOSE:
            self._closed = f"closed with {int.from_bytes(body[:2], 'big')}"
        else:
            raise NotImplementedError(f"a frame that begins with {kind:#x}")

    def _write(self, kind: int, body: bytes) -> None:
        size = len(body)
        if size < 126:
            length = bytes([0x80 | size])
        elif size < 65_536:
            length = b"\xfe" + size.to_bytes(2, "big")
        else:
            length = b"\xff" + size.to_bytes(8, "big")
        self.transport.write(bytes([kind]) + length + NO_MASK + body)
