"""Known providers, and what they say they have."""

import pytest

from chat.protocol.errors import ProviderError
from chat.providers.http import Http
from chat.providers.model_list import read_models
from chat.providers.presets import PRESETS, Wire, open_provider, preset_at
from tests.providers.asking import ask
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
    assert preset_at("https://llm.example.org/v1").slug == "custom"
    assert preset_at("").slug == "custom"
    assert preset_at("http://[").slug == "custom"


def test_presets_are_told_apart() -> None:
    assert len({preset.slug for preset in PRESETS}) == len(PRESETS)
    addresses = [preset.base_url for preset in PRESETS]
    assert len(set(addresses)) == len(addresses)
