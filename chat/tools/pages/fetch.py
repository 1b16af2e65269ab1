"""Fetching a page that a model has named: from public addresses, within limits of size and time.

The address is checked where the socket is made, for every hop and every address that a name has,
so neither a redirect nor a name that leads elsewhere a moment later gets past it. Proxies of the
environment are not used: they would look names up and connect for us, unchecked.
"""

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address

import aiohttp
import httpx
from aiohttp.typedefs import LooseHeaders
from yarl import URL

from chat.protocol.errors import ToolFailure
from chat.protocol.reasons import reason
from chat.protocol.text import clean_text
from chat.tools.pages.addresses import BAD_PORTS, Allowed, is_own, is_public

LONGEST_ADDRESS = 2000
_HEADERS: LooseHeaders = {
    "user-agent": "Mozilla/5.0 (compatible; Parley; reads one page for a person)",
    "accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "accept-encoding": "gzip, deflate",
}
_REDIRECTS = (301, 302, 303, 307, 308)
# A model writes `example.org/page` for what a person would type.
_BARE = re.compile(r"[\w-]+(\.[\w-]+)+([/?#:].*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came: where it was found in the end, what it says it is, and its bytes."""

    url: str
    mime: str
    charset: str
    body: bytes = field(repr=False)
    # There was more of it than we take.
    cut: bool = False

    @property
    def host(self) -> str:
        return URL(self.url).host or ""


@dataclass(slots=True)
class Fetcher:
    """Times in seconds, sizes in bytes."""

    allowed: Allowed = field(default_factory=Allowed)
    seconds: float = 20.0
    largest: int = 8_000_000
    redirects: int = 5
    tls: ssl.SSLContext | None = None

    async def fetch(self, address: str) -> Fetched:
        """The page at an address; a `ToolFailure` says why there is none."""
        url = parse_address(address)
        try:
            async with asyncio.timeout(self.seconds):
                return await self._follow(url)
        except TimeoutError:
            why = reason("page_slow", seconds=self.seconds)
            raise ToolFailure(f"The page took longer than {self.seconds:g} s", why) from None

    async def _follow(self, url: URL) -> Fetched:
        for _ in range(self.redirects + 1):
            found = await self._get(url)
            if isinstance(found, Fetched):
                return found
            url = found
        raise ToolFailure("The page redirects too often", reason("page_redirects"))

    async def _get(self, url: URL) -> Fetched | URL:
        """The page, or the address it sends us on to."""
        host = url.host or ""
        guard = _Guard(host, self.allowed)
        connector = aiohttp.TCPConnector(
            resolver=aiohttp.ThreadedResolver(),
            ssl=self.tls or _certificates(),
            socket_factory=guard.socket,
            use_dns_cache=False,
            force_close=True,
        )
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                    trust_env=False,
                    timeout=aiohttp.ClientTimeout(total=None),
                ) as session,
                session.get(url, headers=_HEADERS, allow_redirects=False) as response,
            ):
                if response.status in _REDIRECTS and "location" in response.headers:
                    return parse_address(_joined(url, response.headers["location"]))
                return await self._read(url, response)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise _unreached(host, guard, error) from error

    async def _read(self, url: URL, response: aiohttp.ClientResponse) -> Fetched:
        if response.status != 200:
            why = reason("page_refused", status=response.status)
            raise ToolFailure(f"The page answered with status {response.status}", why)
        body = bytearray()
        async for piece in _plain_pieces(response):
            body += piece
            if len(body) > self.largest:
                break
        return Fetched(
            url=str(url),
            mime=clean_text(response.content_type).lower(),
            charset=clean_text(response.charset or ""),
            body=bytes(body[: self.largest]),
            cut=len(body) > self.largest,
        )


class _Guard:
    """Makes the sockets of one hop, and none to an address that may not be read from."""

    def __init__(self, host: str, allowed: Allowed) -> None:
        self.refused = False
        self._host = host
        self._allowed = allowed

    def socket(self, info: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, place = info
        address = ip_address(place[0])
        named = self._allowed.has_host(self._host) or self._allowed.has_address(address)
        if not named and (not is_public(address) or is_own(address)):
            self.refused = True
            raise PermissionError(f"{address} is not a public address")
        return socket.socket(family, kind, protocol)


def parse_address(address: str) -> URL:
    """The address of a page, checked as far as it can be without looking it up."""
    text = clean_text(address).strip()
    if _BARE.fullmatch(text):
        text = f"https://{text}"
    try:
        url = URL(text).with_fragment(None)
        host, port = url.host, url.port
    except (ValueError, TypeError):
        raise _not_an_address() from None
    odd = "\\" in text or len(text) > LONGEST_ADDRESS or any(c.isspace() for c in text)
    user = url.user is not None or url.password is not None
    if url.scheme not in ("http", "https") or not host or odd or user or port in BAD_PORTS:
        raise _not_an_address()
    return url


def _joined(url: URL, location: str) -> str:
    try:
        return str(url.join(URL(location.strip())))
    except (ValueError, TypeError):
        raise _not_an_address() from None


def _not_an_address() -> ToolFailure:
    text = "url: not an address of a web page (http or https, no user name, an ordinary port)"
    return ToolFailure(text, reason("page_address"))


def _unreached(host: str, guard: _Guard, error: Exception) -> ToolFailure:
    if guard.refused:
        text = f"{host} is not on the public internet: it is not opened"
        return ToolFailure(text, reason("page_not_public", host=host))
    if isinstance(error, aiohttp.ClientSSLError):
        text = f"{host} does not prove who it is: its certificate is not valid"
        return ToolFailure(text, reason("page_certificate", host=host))
    return ToolFailure(f"{host} could not be reached", reason("page_unreachable", host=host))


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """The same that providers are checked by; reading them takes a while."""
    return httpx.create_ssl_context()


async def _plain_pieces(response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body, decompressed by pieces: a small bomb must not become a large one."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in ("", "identity"):
        async for chunk in response.content.iter_any():
            yield chunk
        return
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ValueError(f"unknown content encoding {encoding!r}")
    unpack: zlib._Decompress | None = None
    async for chunk in response.content.iter_any():
        unpack = unpack or zlib.decompressobj(_window(encoding, chunk))
        packed = chunk
        try:
            while packed and (piece := unpack.decompress(packed, 65_536)):
                yield piece
                packed = unpack.unconsumed_tail
        except zlib.error as error:
            raise ValueError("broken compression") from error


def _window(encoding: str, start: bytes) -> int:
    """Some servers call deflate what has no header of zlib's."""
    bare = encoding == "deflate" and start[:1] and start[0] & 0x0F != 8
    return -zlib.MAX_WBITS if bare else zlib.MAX_WBITS | 32
