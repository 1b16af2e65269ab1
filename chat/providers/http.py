"""The one way out to model providers: a pooled client per event loop, and bounded answers.

HTTP/1.1 on purpose: the client library sends no RST_STREAM when an HTTP/2 stream is left
early, so a stopped generation would go on, and be paid for, on the provider's side.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

import httpx

from chat.protocol.errors import ProviderError
from chat.providers.compression import Inflater
from chat.providers.faults import failure, response_failure
from chat.providers.inflow import Inflow
from chat.providers.paced import Every, PacedBackend

_ERROR_BODY = 65_536


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Times in seconds, sizes in bytes."""

    connect: float = 10.0
    first_byte: float = 300.0
    idle: float = 90.0
    max_event: int = 8 * 1024 * 1024
    max_answer: int = 64 * 1024 * 1024
    trust_env: bool = True
    verify: ssl.SSLContext | bool = True
    # How long the next piece of a quick stream may wait for company.
    read_every: Every = lambda: 0.045


class Answer:
    """A response whose head is here and whose body comes in chunks."""

    def __init__(self, response: httpx.Response, settings: HttpSettings, began: float) -> None:
        self.headers: Mapping[str, str] = response.headers
        self.content_type = response.headers.get("content-type", "").lower()
        self._response = response
        self._settings = settings
        self._began = began

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it comes; silence and size are bounded."""
        settings = self._settings
        inflater = Inflater.of(self.headers.get("content-encoding", ""))
        waited = asyncio.get_running_loop().time() - self._began
        stream = cast(httpx.AsyncByteStream, self._response.stream)
        inflow = Inflow(stream, first=settings.first_byte - waited, idle=settings.idle)
        size = 0
        try:
            while chunk := await self._next(inflow):
                for piece in (chunk,) if inflater is None else inflater.feed(chunk):
                    size += len(piece)
                    if size > settings.max_answer:
                        raise failure("answer_too_large", "the answer does not end")
                    yield piece
        finally:
            await inflow.close()

    async def _next(self, inflow: Inflow) -> bytes:
        try:
            return await inflow.take()
        except TimeoutError:
            raise failure("stalled", "the provider fell silent") from None
        except httpx.HTTPError as error:
            raise failure("cut_off", type(error).__name__) from None

    async def rest(self, limit: int) -> bytes:
        """The body, or as much of it as the limit lets through."""
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
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncGenerator[Answer, None]:
        """Ask; a refusal raises. Leaving the block closes the connection at once."""
        began = asyncio.get_running_loop().time()
        response = await self._send(method, url, headers, body)
        try:
            answer = Answer(response, self.settings, began)
            if response.status_code != 200:
                raise await _refusal(response.status_code, answer)
            yield answer
        finally:
            await response.aclose()

    async def get_json(self, url: str, headers: Mapping[str, str]) -> Any:
        async with self.stream("GET", url, headers) as answer:
            body = await answer.rest(self.settings.max_event)
        try:
            return json.loads(body)
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
        client = self._clients.get(loop)
        if client is None:
            for ended in [known for known in self._clients if known.is_closed()]:
                del self._clients[ended]
            settings = self.settings
            client = self._clients[loop] = httpx.AsyncClient(
                follow_redirects=False,
                # Silence is watched here (`_send`, `Answer.chunks`): cheaper, and a busy
                # process is not mistaken for a silent provider.
                timeout=httpx.Timeout(None, connect=settings.connect),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
                trust_env=settings.trust_env,
                verify=settings.verify,
                headers={"user-agent": "parley", "accept-encoding": "identity"},
            )
            _pace(client, settings.read_every)
        return client

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> httpx.Response:
        client = self._client()
        try:
            request = client.build_request(method, url, headers=dict(headers), content=body)
            async with asyncio.timeout(self.settings.first_byte):
                return await client.send(request, stream=True)
        except TimeoutError:
            raise failure("stalled", "the provider does not answer") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OSError) as error:
            raise _unreached(error) from None


def _pace(client: httpx.AsyncClient, every: Every) -> None:
    """Pace all connections of a client, through proxies too.

    httpx hands no network backend on to the pools that it makes, so it is put there afterwards.
    """
    for transport in (client._transport, *client._mounts.values()):
        if isinstance(transport, httpx.AsyncHTTPTransport):
            pool = transport._pool
            pool._network_backend = PacedBackend(pool._network_backend, every)


async def _refusal(status: int, answer: Answer) -> ProviderError:
    try:
        body = await answer.rest(_ERROR_BODY)
    except ProviderError:
        body = b""
    return response_failure(status, answer.headers, body)


def _unreached(error: BaseException) -> ProviderError:
    """Why no response came; never with the library's text, which may hold an address or key."""
    name = type(error).__name__
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return failure("wrong_address", name)
    if isinstance(error, httpx.LocalProtocolError | UnicodeError):
        return failure("request_refused", name)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return failure("tls_failed", cause.reason or name)
        cause = cause.__cause__ or cause.__context__
    return failure("connect_failed", name)
