"""How httpx reaches the network here: through aiohttp.

A provider sends every token by itself, and httpx's own way to the network costs as much for each
as drawing it. aiohttp takes HTTP apart in C and collects what comes until it is read, so that a
burst is one piece for us, not a hundred.
"""

import ssl
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import httpx
from aiohttp.connector import Connection
from httpx_aiohttp import AiohttpTransport

# Idle connections are kept for the next request, but not for ever: for less time than the gateways
# of providers keep them (a minute and more), so that none is used in the moment it is closed.
_IDLE_SECONDS = 30.0
# So many bytes may lie here unread before the provider has to wait.
_UNREAD_BYTES = 65_536
# Some gateways explain themselves at length in one header.
_HEADER_BYTES = 65_536


def new_transport(tls: ssl.SSLContext, proxy: httpx.Proxy | None = None) -> AiohttpTransport:
    """A pool of HTTP/1.1 connections without an upper limit, straight or through a proxy."""

    def session() -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=tls, limit=0, keepalive_timeout=_IDLE_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            read_bufsize=_UNREAD_BYTES,
            max_line_size=_HEADER_BYTES,
            max_field_size=_HEADER_BYTES,
        )

    return AiohttpTransport(verify=tls, proxy=proxy, client=session)


class _Body:
    """What has come of an answer, to its last byte.

    Where a connection breaks, aiohttp raises that at once and throws away what came before it and
    was not read yet: the last words of an answer, or the provider's own word why it ends.
    """

    def __init__(self, reader: aiohttp.StreamReader) -> None:
        self._reader = reader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        while True:
            try:
                chunk = await self._reader.read(size)
            except aiohttp.ClientError:
                self._reader.set_exception(None)  # type: ignore[arg-type]  # lets it be read on
                if rest := self._reader.read_nowait():
                    yield rest
                raise
            if not chunk:
                return
            yield chunk


class _Response(aiohttp.ClientResponse):
    """Is read to its last byte, and cuts the connection when it is left before its end.

    aiohttp would first send what is waiting, and over TLS take leave and wait for an answer; a
    provider that is busy with a stopped answer would go on with it.
    """

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        await super().start(connection)
        self.content = _Body(self.content)  # type: ignore[assignment]
        return self

    def release(self) -> Any:
        self._cut()
        return super().release()

    def close(self) -> None:
        self._cut()
        super().close()

    def _cut(self) -> None:
        # At its end a response has given its connection back already.
        if self.connection is not None and self.connection.transport is not None:
            self.connection.transport.abort()
