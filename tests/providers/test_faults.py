"""Every fault ends in an error with the right key or in a normal finish, text kept (A12)."""

import asyncio
import gzip
import logging
import ssl
import threading
import traceback
from dataclasses import dataclass

import pytest

from chat.providers.faults import RETRYABLE, Fault, failure
from chat.providers.http import Http, HttpSettings
from chat.providers.http.decompression import Decompressor
from chat.providers.openai import OpenAIChat
from tests.providers.asking import Answer, Naps, ask
from tests.providers.certificates import certificate
from tests.support.model_server import ScriptedProvider, Wait, refuse, reply
from tests.support.model_server.faults import FAULTS, fault

KEY = "sk-very-secret-0123456789"


@dataclass(frozen=True)
class Ends:
    """How a fault ends: its key ("" = normally), its text, how often it was asked."""

    key: Fault | None = None
    text: str = ""
    tries: int = 1
    finish: str | None = None
    calls: int = 0


HALF = "Half an answer"
WHOLE = Ends(text="Half 中文🎉", finish="stop")
RETRIED = 5

TABLE: dict[str, Ends] = {
    "silence after accept": Ends("stalled"),
    "close after accept": Ends("connect_failed", tries=RETRIED),
    "reset after accept": Ends("connect_failed", tries=RETRIED),
    "not http": Ends("connect_failed", tries=RETRIED),
    "401": Ends("auth_failed"),
    "403": Ends("forbidden"),
    "404 model": Ends("model_not_found"),
    "404 page": Ends("wrong_address"),
    "400": Ends("request_refused"),
    "400 context": Ends("context_too_long"),
    "400 filtered": Ends("content_filtered"),
    "413": Ends("request_too_large"),
    "429 seconds": Ends("rate_limited", tries=RETRIED),
    "429 date": Ends("rate_limited", tries=RETRIED),
    "429 spend limit": Ends("quota_exceeded"),
    "429 quota": Ends("quota_exceeded"),
    "500": Ends("server_error", tries=RETRIED),
    "502 html": Ends("server_error", tries=RETRIED),
    "503": Ends("overloaded", tries=RETRIED),
    "529": Ends("overloaded", tries=RETRIED),
    "redirect": Ends("wrong_address"),
    "web page": Ends("bad_response"),
    "empty body": Ends("bad_response"),
    "no content": Ends("bad_response"),
    "error first": Ends("overloaded", tries=RETRIED),
    "error as text": Ends("server_error", tries=RETRIED),
    "error later": Ends("server_error", "Half " * 49),
    "stall": Ends("stalled", HALF),
    "stall before the first word": Ends("stalled"),
    "slow with pings": Ends(text=f"{HALF} and the rest", finish="stop"),
    "close early": Ends("cut_off", HALF),
    "close without an end": Ends("cut_off", HALF),
    "close without done": Ends(text=HALF, finish="stop"),
    "length too long": Ends("cut_off", HALF),
    "reset mid chunk": Ends("cut_off", HALF),
    "endless": Ends("answer_too_large"),
    "one byte at a time": WHOLE,
    "cut inside characters": WHOLE,
    "CRLF": WHOLE,
    "CR": WHOLE,
    "no space": WHOLE,
    "several lines": WHOLE,
    "BOM": WHOLE,
    "comments": WHOLE,
    "gzip": WHOLE,
    "gzip bomb": Ends("answer_too_large"),
    "broken gzip": Ends("bad_response"),
    "unknown encoding": Ends("bad_response"),
    "5 MB event": Ends(text="x" * 5_000_000, finish="stop"),
    "9 MB event": Ends("answer_too_large"),
    "garbage": Ends("bad_response", "Half "),
    "chunk is a list": Ends("bad_response", "Half "),
    "choices are a text": Ends("bad_response", "Half "),
    "content is a number": Ends("bad_response", "Half "),
    "too deep": Ends("bad_response", "Half "),
    "null deltas": Ends(text="Half ", finish="stop"),
    "no usage": Ends(text=HALF, finish="stop"),
    "unknown reason": Ends(text=HALF, finish="other"),
    "NUL": Ends(text="Half ", finish="stop"),
    "lone surrogate": Ends(text="Half \ufffd!", finish="stop"),
    "bidi and zero width": Ends(text="Half \u202e\u200b", finish="stop"),
    "arguments split mid escape": Ends(finish="tool-calls", calls=1),
    "arguments not json": Ends(finish="tool-calls", calls=1),
    "arguments of 2 MB": Ends(finish="tool-calls", calls=1),
    "arguments too deep": Ends(finish="tool-calls", calls=1),
    "200 calls": Ends(finish="tool-calls", calls=200),
    "same index": Ends(finish="tool-calls", calls=2),
    "unknown tool": Ends(finish="tool-calls", calls=1),
}


def test_the_table_knows_every_fault() -> None:
    assert set(TABLE) == set(FAULTS)


async def test_a_key_of_no_known_shape_is_not_repeated_either(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    """70: keys of gateways look like anything; what is known is which one was sent."""
    key = "acme.9f2c-the-harbour-key"
    scripted_provider.script(refuse(401, {"error": {"message": f"No such key: {key}."}}))
    provider = OpenAIChat(scripted_provider.base_url, key, http=http, retry=naps.policy)
    answer = await ask(provider)
    assert answer.error is not None
    assert answer.error.message == "No such key: …."
    assert key not in "".join(traceback.format_exception(answer.error))


@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_ends_as_it_should(
    name: str,
    scripted_provider: ScriptedProvider,
    http: Http,
    impatient_http: Http,
    naps: Naps,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A12: the right key, the text kept, no key of ours in a log or a traceback."""
    caplog.set_level(logging.DEBUG)
    played = fault(name)
    scripted_provider.script(*[played] * RETRIED)
    expected = TABLE[name]
    waiting = impatient_http if expected.key == "stalled" else http
    provider = OpenAIChat(scripted_provider.base_url, KEY, http=waiting, retry=naps.policy)
    answer = await ask(provider)
    text = answer.text if name != "endless" else ""
    ended = (answer.fault, text, answer.finish)
    why = answer.error.message if answer.error else ""
    assert ended == (expected.key or "", expected.text, expected.finish), why
    assert len(scripted_provider.requests) == expected.tries
    assert len(answer.calls) == expected.calls
    assert sum(bool(one.wait) for one in answer.retries) == expected.tries - 1
    assert KEY not in caplog.text
    if answer.error is not None:
        assert KEY not in "".join(traceback.format_exception(answer.error))


async def test_arguments_split_anywhere_come_whole(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script(fault("arguments split mid escape"), fault("arguments of 2 MB"))
    provider = OpenAIChat(scripted_provider.base_url, http=http)
    assert (await ask(provider)).calls[0].arguments == {"expression": '🎉 " \\ 1+1'}
    assert len((await ask(provider)).calls[0].arguments["x"]) == 2_000_000


async def asked(url: str, http: Http) -> Answer:
    return await ask(OpenAIChat(url, KEY, http=http, retry=Naps().policy))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_nobody_listens(host: str, http: Http) -> None:
    """A server that is not running: asked once more, and told so after two seconds."""
    with ScriptedProvider() as gone:
        url = gone.base_url.replace("127.0.0.1", host)
    answer = await asked(url, http)
    assert answer.fault == "connect_failed"
    assert [(one.attempts, one.wait) for one in answer.retries] == [(2, 2), (2, 0)]


async def test_no_such_host(http: Http) -> None:
    assert (await asked("http://no-such-host.invalid/v1", http)).fault == "connect_failed"


@pytest.mark.parametrize("url", ["ftp://example.org", "not an address", "http://", "http://[::"])
async def test_no_address_at_all(url: str, http: Http) -> None:
    assert (await asked(url, http)).fault == "wrong_address"


async def test_tls_is_expected_but_not_spoken(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    url = scripted_provider.base_url.replace("http:", "https:")
    answer = await asked(url, http)
    assert (answer.fault, answer.retries) == ("tls_failed", [])


@pytest.mark.parametrize("flaw", ["unknown", "expired", "other host"])
async def test_a_wrong_certificate_is_not_trusted(flaw: str) -> None:
    server_side, trusted = certificate(flaw)
    http = Http(HttpSettings(trust_env=False, verify=trusted))
    with ScriptedProvider(tls=server_side) as server:
        answer = await asked(server.base_url, http)
        assert (answer.fault, answer.retries, server.requests) == ("tls_failed", [], [])
    await http.aclose()


async def test_a_right_certificate_is_trusted() -> None:
    server_side, trusted = certificate("")
    assert isinstance(trusted, ssl.SSLContext)
    http = Http(HttpSettings(trust_env=False, verify=trusted))
    with ScriptedProvider(tls=server_side) as server:
        server.script("Hello.")
        assert (await asked(server.base_url, http)).text == "Hello."
    await http.aclose()


async def test_a_redirect_takes_the_key_nowhere(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    with ScriptedProvider() as elsewhere:
        moved = fault("redirect")
        moved.headers["location"] = f"{elsewhere.base_url}/chat/completions"
        scripted_provider.script(moved)
        assert (await asked(scripted_provider.base_url, http)).fault == "wrong_address"
        assert elsewhere.requests == []


@pytest.mark.parametrize("key", ["sk-中文-secret", "sk-secret\nx: y"])
async def test_a_key_that_cannot_be_sent_is_not_shown_either(
    key: str, scripted_provider: ScriptedProvider, http: Http
) -> None:
    answer = await ask(OpenAIChat(scripted_provider.base_url, key, http=http))
    assert answer.fault == "auth_failed"
    assert "secret" not in "".join(traceback.format_exception(answer.error))
    assert scripted_provider.requests == []


async def test_stalled_providers_hold_no_threads(
    scripted_provider: ScriptedProvider, impatient_http: Http
) -> None:
    scripted_provider.answer = reply("Half", Wait())
    before = threading.active_count()
    provider = OpenAIChat(scripted_provider.base_url, http=impatient_http)
    tasks = [asyncio.create_task(ask(provider)) for _ in range(40)]
    await scripted_provider.until(lambda server: len(server.requests) >= 40)
    # A few may have been started for other things.
    assert threading.active_count() < before + 10
    assert {answer.fault for answer in await asyncio.gather(*tasks)} == {"stalled"}


def test_a_bomb_is_inflated_a_small_piece_at_a_time() -> None:
    bomb = gzip.compress(b" " * 5_000_000)
    decompressor = Decompressor.for_encoding("gzip")
    assert decompressor is not None
    sizes = [len(piece) for piece in decompressor.feed(bomb)]
    assert sum(sizes) == 5_000_000
    assert max(sizes) <= 300_000


def test_every_fault_has_a_key_of_its_own() -> None:
    keys = {failure(name).key for name in RETRYABLE}
    assert len(keys) == len(RETRYABLE)
    assert all(key.startswith("error.chat_provider_") for key in keys)
