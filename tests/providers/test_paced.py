"""How a stream is read: the first words at once, a quick stream a few tokens at a time."""

import asyncio
import time
from collections.abc import Iterator
from itertools import pairwise

import httpcore
import pytest

from chat.benchmark.virtual import VirtualLoop
from chat.providers.http import Http, HttpSettings
from chat.providers.paced import PacedBackend, PacedStream
from tests.provider import Say, ScriptedProvider, reply
from tests.providers.certificates import certificate

TOKENS = [f"t{n:03} " for n in range(120)]
EVERY = 0.045


class Tokens(httpcore.AsyncNetworkStream):
    """A connection on which a token of some bytes comes every so many seconds."""

    def __init__(self, count: int, gap: float, size: int = 200) -> None:
        self.due: Iterator[float] = (n * gap for n in range(count))
        self.next = next(self.due, None)
        self.size = size

    def get_extra_info(self, info: str) -> None:
        return None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        loop = asyncio.get_running_loop()
        if self.next is not None and self.next > loop.time():
            await asyncio.sleep(self.next - loop.time())
        found = 0
        while self.next is not None and self.next <= loop.time() + 1e-9 and found < max_bytes:
            found += self.size
            self.next = next(self.due, None)
        return b"x" * min(found, max_bytes)


def reads(tokens: Tokens) -> list[tuple[float, int]]:
    """When something was read, and how many tokens it was, on a clock that jumps."""

    async def read() -> list[tuple[float, int]]:
        stream = PacedStream(tokens, lambda: EVERY)
        found = []
        while data := await stream.read(65_536):
            found.append((asyncio.get_running_loop().time(), len(data) // tokens.size))
        return found

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(read())


def test_the_first_are_read_at_once_and_quick_ones_together() -> None:
    found = reads(Tokens(100, 0.010))
    assert [at for at, _ in found[:3]] == pytest.approx([0, 0.010, 0.020])
    pauses = [after - before for (before, _), (after, _) in pairwise(found[4:])]
    assert pauses == pytest.approx([EVERY] * len(pauses), abs=0.011)
    assert sum(count for _, count in found) == 100


def test_slow_ones_are_read_as_they_come() -> None:
    found = reads(Tokens(10, 0.100))
    assert found == [(pytest.approx(n * 0.100), 1) for n in range(10)]


def test_after_a_flood_nothing_waits() -> None:
    found = reads(Tokens(400, 0.000_1, size=2_000))
    # All of it within the time in which it came, but for the pause before it was noticed.
    assert found[-1][0] < 0.040 + 2 * EVERY
    assert sum(count for _, count in found) >= 380


async def heard(server: ScriptedProvider, http: Http) -> list[bytes]:
    """The pieces in which a real answer is read."""
    url = f"{server.base_url}/chat/completions"
    body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go"}]}'
    headers = {"content-type": "application/json"}
    async with http.stream("POST", url, headers, body) as answer:
        return [piece async for piece in answer.chunks()]


@pytest.mark.parametrize("secure", [False, True])
async def test_a_real_stream_is_read_a_few_tokens_at_a_time(secure: bool) -> None:
    """Over TLS too, where every token is a record of its own."""
    server_side, trusted = certificate("")
    http = Http(HttpSettings(trust_env=False, verify=trusted))
    with ScriptedProvider(tls=server_side if secure else None) as server:
        server.script(reply(Say(TOKENS, ms=4)))
        begun = time.monotonic()
        pieces = await heard(server, http)
        took = time.monotonic() - begun
    said = b"".join(pieces).decode()
    assert all(token.strip() in said for token in TOKENS)
    # One for each token would be 120 and take 5 s; half a second holds a dozen turns.
    assert len(pieces) < 40
    assert took < 3
    await http.aclose()


async def test_connections_through_a_proxy_are_paced_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    http = Http()
    client = http._client()
    pools = [
        transport._pool
        for transport in (client._transport, *client._mounts.values())
        if transport is not None
    ]
    assert len(pools) > 1
    assert all(isinstance(pool._network_backend, PacedBackend) for pool in pools)
    await http.aclose()
