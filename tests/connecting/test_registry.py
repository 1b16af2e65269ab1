"""A row says which wire is spoken; the address says what its server wants different."""

from pathlib import Path

import pytest

from chat.models import Provider
from chat.protocol.errors import ProviderError
from chat.providers.anthropic import AnthropicMessages
from chat.providers.claude_code import CommandLine
from chat.providers.demo import DemoProvider
from chat.providers.http import Http, HttpSettings
from chat.providers.ollama import Ollama
from chat.providers.openai import OpenAIChat
from chat.providers.registry import Connection, connect
from tests.providers.asking import ask, request
from tests.support.impatient_http import TRUST
from tests.support.model_server import ScriptedProvider
from tests.support.world import KEY


@pytest.mark.parametrize(
    ("kind", "speaker"),
    [
        ("openai", OpenAIChat),
        ("anthropic", AnthropicMessages),
        ("ollama", Ollama),
        ("demo", DemoProvider),
    ],
)
def test_each_kind_is_spoken_to_in_its_wire(kind: str, speaker: type) -> None:
    assert type(connect(Connection(kind, "http://127.0.0.1:1"), Http())) is speaker


@pytest.mark.parametrize("kind", Provider.Kind.values)
def test_each_kind_that_the_administration_offers_is_served(kind: str) -> None:
    command = CommandLine("/usr/bin/claude", Path("/nowhere"))
    assert connect(Connection(kind, "http://127.0.0.1:1", command=command), Http())


@pytest.mark.parametrize("kind", ["pigeon", ""])
def test_a_kind_that_is_not_built_is_refused_by_name(kind: str) -> None:
    with pytest.raises(ProviderError) as refused:
        connect(Connection(kind), Http())
    assert refused.value.key == "error.chat_provider_not_supported"
    assert not refused.value.retryable


@pytest.mark.parametrize(
    ("host", "field"),
    [("api.openai.com", "max_output_tokens"), ("api.example.com", "max_tokens")],
)
async def test_what_a_known_server_wants_comes_from_its_address(
    host: str,
    field: str,
    scripted_provider: ScriptedProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Named as a proxy, the scripted server is asked in the place of the one at the address."""
    monkeypatch.setenv("HTTP_PROXY", scripted_provider.root)
    monkeypatch.delenv("NO_PROXY", raising=False)
    scripted_provider.script("Hello.")
    http = Http(HttpSettings(verify=TRUST))
    answer = await ask(
        connect(Connection("openai", f"http://{host}/v1"), http), request(output_limit=9)
    )
    await http.aclose()
    assert answer.text == "Hello."
    [received] = scripted_provider.requests
    assert received.headers["host"] == host
    assert received.json[field] == 9


def test_a_connection_shows_no_secret_when_printed() -> None:
    shown = repr(Connection("openai", "https://x", KEY, {"x-key": KEY}))
    assert KEY not in shown
