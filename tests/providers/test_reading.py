"""How a stream is read: at once, all that has come, until it is silent or is left."""

import asyncio
import socket
import ssl
import threading
from contextlib import suppress

import pytest

from chat.protocol.errors import ProviderError
from chat.providers.http import Answer, Http, HttpSettings
from tests.providers.certificates import certificate
from tests.support.model_server import Gate, Say, ScriptedProvider, Wait, reply
from tests.support.waiting import PATIENCE

TOKENS = [f"t{n:03} " for n in range(120)]
HEADERS = {"content-type": "application/json"}
BODY = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go"}]}'


async def until_it_says(word: bytes, answer: Answer) -> bytes:
    text = b""
    async for piece in answer.chunks():
        text += piece
        if word in text:
            break
    return text


async def test_a_word_does_not_wait_for_the_next(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    gate = Gate()
    scripted_provider.script(reply("one", gate, "two", Wait()))
    url = f"{scripted_provider.base_url}/chat/completions"
    async with http.stream("POST", url, HEADERS, BODY) as answer:
        assert b"two" not in await until_it_says(b"one", answer)
        gate.open()
        await until_it_says(b"two", answer)


@pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])
async def test_what_came_meanwhile_is_read_together(secure: bool) -> None:
    """Although each token was written by itself, over TLS as a record of its own."""
    server_side, trusted = certificate("")
    http = Http(HttpSettings(trust_env=False, verify=trusted))
    with ScriptedProvider(tls=server_side if secure else None) as server:
        server.script(reply(Say(TOKENS, ms=1)))
        url = f"{server.base_url}/chat/completions"
        async with http.stream("POST", url, HEADERS, BODY) as answer:
            await server.until(lambda server: server.requests[0].answered_at)
            pieces = [piece async for piece in answer.chunks()]
    await http.aclose()
    text = b"".join(pieces).decode()
    assert all(token.strip() in text for token in TOKENS)
    # Some 30 KB, read 16 at a time; one for each token would be 120.
    assert len(pieces) < 20


async def test_a_stream_that_falls_silent_ends_although_its_first_word_might_have_taken_longer(
    scripted_provider: ScriptedProvider,
) -> None:
    http = Http(HttpSettings(first_byte=3600, idle=0.1, trust_env=False))
    scripted_provider.script(reply("Half", Wait()))
    url = f"{scripted_provider.base_url}/chat/completions"
    with pytest.raises(ProviderError) as raised:
        async with http.stream("POST", url, HEADERS, BODY) as answer:
            await until_it_says(b"never", answer)
    assert raised.value.key == "error.chat_provider_stalled"
    await http.aclose()


class Unanswering:
    """A TLS server that takes no leave: it sees only whether the connection is still there."""

    def __init__(self, tls: ssl.SSLContext, says: bytes) -> None:
        self._tls = tls
        self._says = says
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._listening.getsockname()[1]}/chat/completions"
        self.asked = threading.Event()
        self.left = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        connection, _ = self._listening.accept()
        wire = connection.dup()
        with self._listening, wire, self._tls.wrap_socket(connection, server_side=True) as secure:
            secure.recv(65_536)
            secure.sendall(self._says)
            self.asked.set()
            with suppress(ConnectionError):
                while wire.recv(65_536):
                    pass
        self.left.set()


@pytest.mark.parametrize(
    "says", [b"", b"HTTP/1.1 200 OK\r\n\r\nword"], ids=["before its head", "in the middle"]
)
async def test_a_stopped_answer_does_not_wait_for_the_server_to_take_leave(says: bytes) -> None:
    """Over TLS a polite client would wait for that for 30 seconds."""
    server_side, trusted = certificate("")
    server = Unanswering(server_side, says)
    http = Http(HttpSettings(trust_env=False, verify=trusted))

    async def ask() -> None:
        async with http.stream("POST", server.url, HEADERS, BODY) as answer:
            await until_it_says(b"never", answer)

    asking = asyncio.create_task(ask())
    assert await asyncio.to_thread(server.asked.wait, PATIENCE)
    asking.cancel()
    assert await asyncio.to_thread(server.left.wait, 15)
    await http.aclose()
