"""Known providers, and what they say they have."""

import pytest

from chat.protocol.errors import ProviderError
from chat.providers.http import Http
from chat.providers.presets import PRESETS, Wire, list_models, open_provider, preset_at
from tests.provider import ScriptedProvider, refuse
from tests.providers.asking import ask, request

WIRES: list[Wire] = ["openai", "anthropic", "ollama"]


def address(server: ScriptedProvider, wire: Wire) -> str:
    return server.root if wire == "ollama" else server.base_url


@pytest.mark.parametrize("wire", WIRES)
async def test_every_wire_lists_its_models(
    wire: Wire, scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.models = ("b", "models/a")
    provider = open_provider(wire, address(scripted_provider, wire), "sk-secret-1", http=http)
    assert await list_models(provider) == ["a", "b"]
    assert "sk-secret-1" in str(scripted_provider.requests[0].headers)


async def test_a_refused_list_says_why(scripted_provider: ScriptedProvider, http: Http) -> None:
    scripted_provider.script(refuse(401, {"error": {"message": "no"}}))
    with pytest.raises(ProviderError) as caught:
        await list_models(open_provider("openai", scripted_provider.base_url, http=http))
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


async def test_openai_is_asked_in_its_own_words(http: Http) -> None:
    provider = open_provider("openai", "https://api.openai.com/v1", http=http)
    body = provider._body(request(max_output=9))
    assert body["max_completion_tokens"] == 9
