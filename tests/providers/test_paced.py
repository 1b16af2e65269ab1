"""How a stream is read: the first words at once, a quick stream a few tokens at a time."""

import time

from chat.providers.http import Http
from tests.provider import Say, ScriptedProvider, reply

TOKENS = [f"t{n:03} " for n in range(120)]


async def read(server: ScriptedProvider, http: Http) -> list[tuple[float, bytes]]:
    """The pieces of an answer, and when they came."""
    url = f"{server.base_url}/chat/completions"
    body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go"}]}'
    headers = {"content-type": "application/json"}
    async with http.stream("POST", url, headers, body) as answer:
        return [(time.monotonic(), piece) async for piece in answer.chunks()]


async def test_tokens_that_come_quickly_are_read_together(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script(reply(Say(TOKENS, ms=4)))
    pieces = await read(scripted_provider, http)
    said = b"".join(piece for _, piece in pieces).decode()
    assert all(token.strip() in said for token in TOKENS)
    # One for each token would be 120; half a second holds a dozen turns, and the quick ones.
    assert len(pieces) < 40
    assert b"t000" in b"".join(piece for _, piece in pieces[:3])


async def test_tokens_that_come_slowly_are_read_as_they_come(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script(reply(Say(TOKENS[:6], ms=80)))
    pieces = await read(scripted_provider, http)
    assert len([piece for _, piece in pieces if b"t00" in piece]) == 6


async def test_a_flood_is_not_held_up(scripted_provider: ScriptedProvider, http: Http) -> None:
    """Two megabytes: read at one buffer a turn they would take a second and a half."""
    scripted_provider.script(reply(Say([f"{n:06}" * 10 for n in range(8_000)])))
    pieces = await read(scripted_provider, http)
    size = sum(len(piece) for _, piece in pieces)
    assert size > 1_500_000
    assert pieces[-1][0] - pieces[0][0] < 0.045 * size / 65_536
