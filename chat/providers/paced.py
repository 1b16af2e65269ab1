"""Reading a stream of tokens a few at a time.

A provider writes every token by itself, and each read of the HTTP client costs as much as
drawing the token. No page is told of two tokens sooner than a frame apart, so after a few quick
reads the next one waits until more has come together; after a silence it is immediate again.
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

import httpcore

# So many reads need not wait.
_QUICK = 3.0
# A read of so many bytes means that more is waiting: none waits for so many seconds.
_FLOOD = 16_384
_FLOODED = 0.25

Every = Callable[[], float]


class _Allowance:
    """Reads that need not wait: a few, and one more with every so many seconds."""

    def __init__(self, every: Every) -> None:
        self._every = every
        self._left = _QUICK
        self._counted = 0.0
        self._free_until = 0.0

    async def spend(self) -> None:
        now, every = asyncio.get_running_loop().time(), self._every()
        if now < self._free_until or every <= 0:
            return
        self._left = min(_QUICK, self._left + (now - self._counted) / every)
        self._counted = now
        if self._left < 1:
            wait = (1 - self._left) * every
            await asyncio.sleep(wait)
            self._counted += wait
            self._left = 1
        self._left -= 1

    def note(self, size: int) -> None:
        if size >= _FLOOD:
            self._free_until = asyncio.get_running_loop().time() + _FLOODED


class PacedStream(httpcore.AsyncNetworkStream):
    """A connection that is read a few tokens at a time."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, every: Every) -> None:
        self._stream = stream
        self._every = every
        self._allowance = _Allowance(every)
        self._tls: ssl.SSLObject | None = stream.get_extra_info("ssl_object")

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        await self._allowance.spend()
        found = await self._stream.read(max_bytes, timeout)
        if found:
            found += self._decrypted(max_bytes - len(found))
        self._allowance.note(len(found))
        return found

    def _decrypted(self, most: int) -> bytes:
        """What has come besides: one read of TLS gives one record, which is one token."""
        pieces: list[bytes] = []
        while self._tls is not None and most > 0:
            try:
                piece = self._tls.read(most)
            except ssl.SSLError:  # nothing more for now, or an end that the next read meets
                break
            if not piece:
                break
            pieces.append(piece)
            most -= len(piece)
        return b"".join(pieces)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(self, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        return PacedStream(await self._stream.start_tls(*args, **options), self._every)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class PacedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections as another backend does, and paces them."""

    def __init__(self, backend: httpcore.AsyncNetworkBackend, every: Every) -> None:
        self._backend = backend
        self._every = every

    async def connect_tcp(self, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        return PacedStream(await self._backend.connect_tcp(*args, **options), self._every)

    async def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        stream = await self._backend.connect_unix_socket(*args, **options)
        return PacedStream(stream, self._every)

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)
