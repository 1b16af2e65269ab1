"""One client connection: HTTP/1.1 read by hand, so that every fault can be played."""

import asyncio
import json
import socket
import struct
import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.support.model_server.replies import Reply

if TYPE_CHECKING:
    from tests.support.model_server.server import ScriptedProvider


@dataclass
class Received:
    """A request as it came, and what became of it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)
    answered_at: float | None = None  # the whole reply was written
    disconnected_at: float | None = None  # the client left before that

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Connection(asyncio.Protocol):
    """Reads requests, has each played, and notices when the client leaves."""

    def __init__(self, server: "ScriptedProvider") -> None:
        self.server = server
        self.transport: asyncio.Transport
        self._buffer = bytearray()
        self._task: asyncio.Task[None] | None = None
        self._received: Received | None = None
        self._drained = asyncio.Event()
        self._drained.set()
        self.chunked = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections.add(self)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer[:1] == b"\x16":  # a TLS greeting where none is understood
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            self.transport.close()
            return
        self._next()

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.connections.discard(self)
        if self._received is not None:
            self._received.disconnected_at = time.monotonic()
            self._received = None
            self.server.changed()
        if self._task is not None:
            self._task.cancel()

    def _next(self) -> None:
        if self._task is not None:
            return
        request = self._parse()
        if request is not None:
            self._received = request
            self._task = asyncio.get_running_loop().create_task(self._serve(request))

    def _parse(self) -> Received | None:
        head, separator, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not separator:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return None
        self._buffer = bytearray(rest[length:])
        method, target, _ = first.split(" ", 2)
        return Received(method, urlsplit(target).path, headers, rest[:length])

    async def _serve(self, request: Received) -> None:
        ended = await self.server.play(self, request)
        if self._received is not None:
            self._received.answered_at = time.monotonic()
            self._received = None
            self.server.changed()
        self._task = None
        if ended:
            self.transport.close()
        else:
            self._next()

    def head(self, reply: Reply, content_type: str, length: int | None) -> None:
        """The status line and headers; from here on bodies are framed as they say."""
        phrase = (
            HTTPStatus(reply.status).phrase if reply.status in set(HTTPStatus) else "Overloaded"
        )
        headers = {"content-type": content_type} | reply.headers
        self.chunked = length is None and reply.framing == "chunked"
        if self.chunked:
            headers["transfer-encoding"] = "chunked"
        elif length is not None:
            headers.setdefault("content-length", str(length))
        lines = [f"HTTP/1.1 {reply.status} {phrase}", *(f"{k}: {v}" for k, v in headers.items())]
        self.transport.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def framed(self, data: bytes) -> bytes:
        # An empty chunk would be the end of the body.
        return b"%x\r\n%b\r\n" % (len(data), data) if self.chunked and data else data

    def write(self, data: bytes) -> None:
        """One piece of the body, as one TCP write."""
        self.transport.write(self.framed(data))

    async def drain(self) -> None:
        await self._drained.wait()

    def reset(self) -> None:
        """Tear the connection: the client sees RST, not an orderly end."""
        found = self.transport.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()
