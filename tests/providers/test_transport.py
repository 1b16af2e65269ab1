"""Which way requests take to a provider, and that its stream is closed on every way."""

import asyncio
import ssl

import httpx
import pytest

from chat.protocol.errors import ProviderError
from chat.providers.http import Http, HttpSettings
from chat.providers.http.proxies import proxies_of_environment
from tests.providers.certificates import certificate
from tests.providers.forward_proxy import ForwardProxy
from tests.support.model_server import Drop, Gate, Raw, Say, ScriptedProvider, Wait, reply
from tests.support.waiting import eventually

TOKENS = [f"t{n:03} " for n in range(120)]
HEADERS = {"content-type": "application/json"}
BODY = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "Go"}]}'


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


async def pieces_of(server: ScriptedProvider, tls: ssl.SSLContext) -> list[bytes]:
    """The pieces in which an answer is read, by a client that trusts the environment."""
    http = Http(HttpSettings(verify=tls))
    try:
        async with http.stream(
            "POST", f"{server.base_url}/chat/completions", HEADERS, BODY
        ) as answer:
            return [piece async for piece in answer.chunks()]
    finally:
        await http.aclose()


@pytest.mark.parametrize(("secure", "variable"), [(False, "HTTP_PROXY"), (True, "HTTPS_PROXY")])
async def test_a_stream_comes_through_a_proxy(
    monkeypatch: pytest.MonkeyPatch, secure: bool, variable: str
) -> None:
    server_side, trusted = certificate("")
    async with ForwardProxy() as proxy:
        monkeypatch.setenv(variable, f"http://someone:secret@127.0.0.1:{proxy.port}")
        with ScriptedProvider(tls=server_side if secure else None) as server:
            server.script(reply(Say(TOKENS)))
            pieces = await pieces_of(server, trusted)
    text = b"".join(pieces).decode()
    assert all(token.strip() in text for token in TOKENS)
    [head] = proxy.heads
    assert head.startswith("CONNECT 127.0.0.1" if secure else "POST http://127.0.0.1")
    assert "proxy-authorization: basic " in head.lower()


async def test_what_came_before_a_break_is_read_to_its_end(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """Also when nobody was reading while it came and while the connection broke."""
    why = Raw(b'data: {"error": {"message": "out of memory"}}\n\n')
    gate = Gate()
    scripted_provider.script(reply(Say(["Half"]), gate, Say([" an answer"]), why, Drop()))
    url = f"{scripted_provider.base_url}/chat/completions"
    read = b""

    async def read_in_two_goes() -> None:
        nonlocal read
        async with http.stream("POST", url, HEADERS, BODY) as answer:
            pieces = aiter(answer.chunks())
            while b"Half" not in read:
                read += await anext(pieces)
            gate.open()
            await eventually(lambda: not scripted_provider.connections)
            for _ in range(50):
                await asyncio.sleep(0)  # the break is noticed while nobody reads
            async for piece in pieces:
                read += piece

    with pytest.raises(ProviderError) as caught:
        await read_in_two_goes()
    assert caught.value.key == "error.chat_provider_cut_off"
    assert b" an answer" in read
    assert b"out of memory" in read


async def test_hosts_that_need_no_proxy_are_asked_straight(
    monkeypatch: pytest.MonkeyPatch, scripted_provider: ScriptedProvider
) -> None:
    async with ForwardProxy() as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "example.org, 127.0.0.1")
        scripted_provider.script("Hello.")
        pieces = await pieces_of(scripted_provider, ssl.create_default_context())
    assert b"Hello." in b"".join(pieces)
    assert proxy.heads == []


async def test_an_environment_that_is_not_trusted_names_no_proxy(
    monkeypatch: pytest.MonkeyPatch, scripted_provider: ScriptedProvider, http: Http
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    scripted_provider.script("Hello.")
    url = f"{scripted_provider.base_url}/chat/completions"
    async with http.stream("POST", url, HEADERS, BODY) as answer:
        assert b"Hello." in await answer.beginning(10_000)


async def test_a_proxy_that_is_away_is_no_connection(
    monkeypatch: pytest.MonkeyPatch, scripted_provider: ScriptedProvider
) -> None:
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with pytest.raises(ProviderError) as raised:
        await pieces_of(scripted_provider, ssl.create_default_context())
    assert raised.value.key == "error.chat_provider_connect_failed"
    assert scripted_provider.requests == []


@pytest.mark.parametrize("begun", [False, True], ids=["before reading", "while reading"])
async def test_leaving_a_stream_through_a_proxy_closes_it_at_the_provider(
    monkeypatch: pytest.MonkeyPatch, scripted_provider: ScriptedProvider, begun: bool
) -> None:
    scripted_provider.script(reply(Say(["Hello"]), Wait()))
    async with ForwardProxy() as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"127.0.0.1:{proxy.port}")
        http = Http(HttpSettings(verify=ssl.create_default_context()))
        url = f"{scripted_provider.base_url}/chat/completions"
        async with http.stream("POST", url, HEADERS, BODY) as answer:
            if begun:
                assert await anext(answer.chunks())
        await scripted_provider.until(lambda server: server.requests[0].disconnected_at)
        await http.aclose()
    assert len(proxy.heads) == 1


@pytest.mark.parametrize(
    ("environment", "straight", "by_proxy"),
    [
        ({}, ["https://a.org"], []),
        ({"HTTPS_PROXY": "http://p:1"}, ["http://a.org"], ["https://a.org"]),
        ({"ALL_PROXY": "p:1"}, [], ["http://a.org", "https://a.org"]),
        ({"ALL_PROXY": "p:1", "NO_PROXY": "*"}, ["http://a.org"], []),
        (
            {"ALL_PROXY": "p:1", "NO_PROXY": "a.org"},
            ["http://a.org", "https://b.a.org"],
            ["http://aa.org"],
        ),
        ({"ALL_PROXY": "p:1", "NO_PROXY": ".a.org"}, ["http://b.a.org"], ["http://a.org"]),
        (
            {"ALL_PROXY": "p:1", "NO_PROXY": "localhost,10.0.0.1,::1"},
            ["http://localhost:8000", "http://10.0.0.1", "http://[::1]:8000"],
            ["http://10.0.0.2"],
        ),
        ({"ALL_PROXY": "p:1", "NO_PROXY": "https://a.org"}, ["https://a.org"], ["http://a.org"]),
    ],
)
async def test_the_environment_is_read_as_httpx_reads_it(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    straight: list[str],
    by_proxy: list[str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def answering(text: str) -> httpx.MockTransport:
        return httpx.MockTransport(lambda _request: httpx.Response(200, text=text))

    mounts = {
        addresses: answering("by proxy") if proxy else None
        for addresses, proxy in proxies_of_environment().items()
    }
    async with httpx.AsyncClient(transport=answering("straight"), mounts=mounts) as client:
        assert [(await client.get(url)).text for url in straight] == ["straight"] * len(straight)
        assert [(await client.get(url)).text for url in by_proxy] == ["by proxy"] * len(by_proxy)
