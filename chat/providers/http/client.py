"""Requests to providers: a pooled client for each event loop, and answers with limits."""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import aiohttp
import httpx

from chat.protocol.errors import ProviderError
from chat.providers.exchanges import Exchange
from chat.providers.faults import failure, response_failure
from chat.providers.http.decompression import Decompressor
from chat.providers.http.proxies import proxies_of_environment
from chat.providers.http.silence import Silence
from chat.providers.http.transport import new_transport

# Some faults of aiohttp come through as they are.
_FAILURES = (httpx.HTTPError, aiohttp.ClientError)
# How much of a refusal is read: its reason is at its beginning.
_ERROR_BODY = 65_536
# Where a machine answers that nobody listens there, a server may just be starting anew; else it is
# not running, and whoever waits for the answer is told so soon.
_ATTEMPTS_IF_REFUSED = 2


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Times in seconds, sizes in bytes."""

    connect: float = 10.0
    first_byte: float = 300.0
    idle: float = 90.0
    max_event: int = 8 * 1024 * 1024
    max_answer: int = 64 * 1024 * 1024
    # Proxies and certificates that the environment names are used.
    trust_env: bool = True
    verify: ssl.SSLContext | bool = True


class Answer:
    """A response whose head is here and whose body comes in chunks."""

    def __init__(self, response: httpx.Response, settings: HttpSettings, asked_at: float) -> None:
        self.headers: Mapping[str, str] = response.headers
        self.content_type = response.headers.get("content-type", "").lower()
        assert isinstance(response.stream, httpx.AsyncByteStream)
        self._body = aiter(response.stream)
        self._settings = settings
        self._asked_at = asked_at
        self.exchange: Exchange | None = None

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes; silence and size are bounded."""
        settings = self._settings
        decompressor = Decompressor.for_encoding(self.headers.get("content-encoding", ""))
        waited = asyncio.get_running_loop().time() - self._asked_at
        patience = settings.first_byte - waited
        size = 0
        with Silence() as silence:
            while chunk := await self._next(silence, patience):
                patience = settings.idle
                for piece in (chunk,) if decompressor is None else decompressor.feed(chunk):
                    size += len(piece)
                    if size > settings.max_answer:
                        raise failure("answer_too_large", "the answer does not end")
                    if self.exchange is not None:
                        self.exchange.add(piece)
                    yield piece

    async def _next(self, silence: Silence, patience: float) -> bytes:
        """What has come since the last time; empty when there will be no more."""
        try:
            return await silence.wait_for(anext(self._body, b""), patience)
        except TimeoutError:
            raise failure("stalled", "the provider fell silent") from None
        except _FAILURES as error:
            raise failure("cut_off", type(error).__name__) from None

    async def beginning(self, limit: int) -> bytes:
        """The body, at most so many bytes of it."""
        body = bytearray()
        async for chunk in self.chunks():
            body += chunk
            if len(body) > limit:
                break
        return bytes(body[:limit])


class Http:
    """Connections to providers, shared by all of them; one pool for each event loop."""

    def __init__(self, settings: HttpSettings | None = None) -> None:
        self.settings = settings or HttpSettings()
        self._clients: dict[asyncio.AbstractEventLoop, httpx.AsyncClient] = {}

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None = None,
        exchange: Exchange | None = None,
    ) -> AsyncGenerator[Answer, None]:
        """Send a request; a refusal raises. Leaving the block closes the connection at once. An
        `exchange` is told what comes back."""
        asked_at = asyncio.get_running_loop().time()
        response = await self._send(method, url, headers, body)
        try:
            answer = Answer(response, self.settings, asked_at)
            if exchange is not None:
                answer.exchange, exchange.status = exchange, response.status_code
            if response.status_code != 200:
                raise await _refusal(response.status_code, answer)
            yield answer
        finally:
            await response.aclose()

    async def read_json(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Any:
        async with self.stream(method, url, headers, body) as answer:
            document = await answer.beginning(self.settings.max_event)
        try:
            return json.loads(document)
        except (ValueError, RecursionError):
            raise failure("bad_response", "the answer is not JSON") from None

    def open(self) -> None:
        """Make this loop's client now: reading the certificates takes a while."""
        self._client()

    async def aclose(self) -> None:
        """Close this loop's connections."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    def _client(self) -> httpx.AsyncClient:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            for ended in [known for known in self._clients if known.is_closed()]:
                del self._clients[ended]
            self._clients[loop] = _new_client(self.settings)
        return self._clients[loop]

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> httpx.Response:
        client = self._client()
        try:
            request = client.build_request(method, _url(url), headers=dict(headers), content=body)
            async with asyncio.timeout(self.settings.first_byte):
                return await client.send(request, stream=True)
        except TimeoutError:
            raise failure("stalled", "the provider does not answer") from None
        except (*_FAILURES, httpx.InvalidURL, ValueError, OSError) as error:
            raise _unreached(error) from None


@lru_cache(maxsize=256)
def _url(address: str) -> httpx.URL:
    """An address taken apart: a few are asked again and again."""
    return httpx.URL(address)


def _new_client(settings: HttpSettings) -> httpx.AsyncClient:
    tls = httpx.create_ssl_context(verify=settings.verify, trust_env=settings.trust_env)
    proxies = proxies_of_environment() if settings.trust_env else {}
    return httpx.AsyncClient(
        transport=new_transport(tls),
        mounts={
            addresses: new_transport(tls, proxy) if proxy else None
            for addresses, proxy in proxies.items()
        },
        follow_redirects=False,
        # Silence is watched here (`_send`, `Answer.chunks`). Looking up an address counts as
        # waiting for a connection of the pool.
        timeout=httpx.Timeout(None, connect=settings.connect, pool=settings.connect),
        headers={"user-agent": "parley", "accept-encoding": "identity"},
    )


async def _refusal(status: int, answer: Answer) -> ProviderError:
    try:
        body = await answer.beginning(_ERROR_BODY)
    except ProviderError:
        body = b""
    return response_failure(status, answer.headers, body)


def _unreached(error: BaseException) -> ProviderError:
    """Why no response came; never with the library's text, which may hold an address or key."""
    name = type(error).__name__
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return failure("wrong_address", name)
    if isinstance(error, ValueError):
        return failure("request_refused", name)
    cause: BaseException | None = error
    while cause is not None:
        # aiohttp's own errors of this kind wrap the one that knows the reason.
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, aiohttp.ClientError):
            return failure("tls_failed", cause.reason or name)
        if isinstance(cause, ConnectionRefusedError):
            return failure("connect_failed", name, attempts=_ATTEMPTS_IF_REFUSED)
        cause = cause.__cause__ or cause.__context__
    return failure("connect_failed", name)
