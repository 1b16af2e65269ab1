"""Known providers, and what they say they have."""

import pytest

from chat.protocol.errors import ProviderError
from chat.providers.http import Http
from chat.providers.model_list import read_models
from chat.providers.presets import PRESETS, Wire, open_provider, preset_at
from chat.providers.registry import Connection, connect
from tests.providers.asking import ask, request
from tests.support.model_server import ScriptedProvider, refuse

WIRES: list[Wire] = ["openai", "anthropic", "ollama"]


def address(server: ScriptedProvider, wire: Wire) -> str:
    return server.root if wire == "ollama" else server.base_url


@pytest.mark.parametrize("wire", WIRES)
async def test_every_wire_lists_its_models(
    wire: Wire, scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.models = ("b", "models/a")
    provider = open_provider(wire, address(scripted_provider, wire), "sk-secret-1", http=http)
    assert [facts.model_id for facts in await read_models(provider)] == ["b", "a"]
    assert "sk-secret-1" in str(scripted_provider.requests[0].headers)


async def test_a_refused_list_says_why(scripted_provider: ScriptedProvider, http: Http) -> None:
    scripted_provider.script(refuse(401, {"error": {"message": "no"}}))
    with pytest.raises(ProviderError) as caught:
        await read_models(open_provider("openai", scripted_provider.base_url, http=http))
    assert caught.value.key == "error.chat_provider_auth_failed"


@pytest.mark.parametrize("wire", WIRES)
async def test_every_wire_answers(
    wire: Wire, scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script("Hello.")
    provider = open_provider(wire, address(scripted_provider, wire), http=http)
    assert (await ask(provider)).text == "Hello."


def test_an_address_finds_its_preset() -> None:
    assert preset_at("https://api.deepseek.com").slug == "deepseek"
    assert preset_at("https://API.mistral.ai/v1/").slug == "mistral"
    assert preset_at("https://dashscope-intl.aliyuncs.com/compatible-mode/v1").slug == "qwen"
    assert preset_at("https://llm.example.org/v1").slug == "custom"
    assert preset_at("").slug == "custom"
    assert preset_at("http://[").slug == "custom"


def test_presets_are_told_apart() -> None:
    assert len({preset.slug for preset in PRESETS}) == len(PRESETS)
    addresses = [preset.base_url for preset in PRESETS]
    assert len(set(addresses)) == len(addresses)


@pytest.mark.parametrize(
    ("kind", "wire"),
    [("openai", "chat"), ("openai", "responses"), ("anthropic", "auto"), ("ollama", "auto")],
)
async def test_extra_parameters_are_sent_on_every_wire(
    kind: str, wire: str, scripted_provider: ScriptedProvider, http: Http
) -> None:
    """Objects are merged into what is sent anyway; what is set wins over it."""
    base = scripted_provider.root if kind == "ollama" else scripted_provider.base_url
    extra = {"top_p": 0.9, "options": {"seed": 7}, "metadata": {"team": "a"}}
    connection = Connection(kind, base, wire=wire, extra_body=extra)
    scripted_provider.script("Hello.")
    assert (await ask(connect(connection, http), request(temperature=0.5))).text == "Hello."
    sent = scripted_provider.requests[-1].json
    assert (sent["top_p"], sent["metadata"]) == (0.9, {"team": "a"})
    assert sent["options"]["seed"] == 7
    if kind == "ollama":
        assert sent["options"]["temperature"] == 0.5
