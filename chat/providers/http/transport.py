"""How httpx reaches the network here: through aiohttp.

A provider sends every token by itself, and httpx's own way to the network costs as much for each
as drawing it. aiohttp takes HTTP apart in C and collects what comes until it is read, so that a
burst is one piece for us, not a hundred.
"""

import ssl
from typing import Any

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

# Idle connections are kept for the next request, but not for ever.
_IDLE_SECONDS = 5.0
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


class _Response(aiohttp.ClientResponse):
    """Cuts the connection when it is left before its end.

    aiohttp would first send what is waiting, and over TLS take leave and wait for an answer; a
    provider that is busy with a stopped answer would go on with it.
    """

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
