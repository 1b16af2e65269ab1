"""What a model can do is known: from its server, else by its name."""

import json
from datetime import date
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest

from chat.protocol.effort import is_effort
from chat.providers.anthropic import AnthropicMessages
from chat.providers.http import Http
from chat.providers.known_models import (
    ends_soon,
    favourite_of,
    guess_of,
    known_facts,
)
from chat.providers.model_facts import ModelFacts
from chat.providers.model_list import is_for_chat, read_models
from chat.providers.ollama import Ollama
from chat.providers.openai import OpenAIChat
from tests.support.model_server import Received, ScriptedProvider

DATA = json.loads(files("chat.providers").joinpath("known_models.json").read_text("utf-8"))
TODAY = date(2026, 11, 18)

# What a key of OpenAI lists, as of late 2026.
LISTED = """
gpt-6-astra gpt-6-sol gpt-6-luna gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.5 gpt-5.5-pro
gpt-5.4 gpt-5.4-pro gpt-5.4-mini gpt-5.3-codex gpt-5.2 gpt-5.2-pro gpt-5.1 gpt-5 gpt-5-mini
gpt-5-nano gpt-5-pro gpt-4.1 gpt-4.1-mini gpt-4o gpt-4o-mini o3 o3-pro o4-mini
gpt-4o-audio-preview gpt-4o-realtime-preview gpt-realtime gpt-realtime-mini gpt-audio gpt-live
gpt-4o-transcribe gpt-4o-mini-transcribe gpt-4o-mini-tts tts-1 tts-1-hd whisper-1 dall-e-3
gpt-image-1 gpt-image-1.5 chatgpt-image-latest sora-2 sora-2-pro text-embedding-3-small
text-embedding-3-large text-embedding-ada-002 omni-moderation-latest babbage-002 davinci-002
gpt-3.5-turbo-instruct computer-use-preview
"""
OPENAI = LISTED.split()


def test_the_data_is_sound() -> None:
    assert date.fromisoformat(DATA["checked"]) <= TODAY
    for entry in DATA["models"]:
        assert all(map(is_effort, entry.get("efforts", ()))), entry
        assert len(entry.get("prices", [0] * 4)) == 4, entry
        assert entry.get("thinking", "") in ("", "adaptive", "budget", "toolless"), entry
        date.fromisoformat(entry.get("retires", "2026-01-01"))
        assert not (entry.get("current") and "retires" in entry), entry


@pytest.mark.parametrize("slug", DATA["guesses"])
def test_what_is_guessed_or_proposed_does_not_end_soon(slug: str) -> None:
    assert not ends_soon(guess_of(slug), slug, TODAY)
    for pattern in DATA["defaults"].get(slug, ()):
        assert not ends_soon(pattern.removesuffix("*"), slug, TODAY), pattern


@pytest.mark.parametrize("model_id", [each for each in OPENAI if is_for_chat(each)])
def test_models_of_openai_have_a_window_a_price_and_eyes(model_id: str) -> None:
    facts = known_facts(model_id, "openai")
    assert facts.context_window, model_id
    assert facts.max_output, model_id
    assert facts.input_price, model_id
    assert facts.vision or model_id.startswith("gpt-3.5"), model_id
    assert facts.efforts is not None, model_id


def test_models_that_cannot_chat_are_told_from_those_that_can() -> None:
    chatting = [each for each in OPENAI if is_for_chat(each)]
    assert chatting == OPENAI[: OPENAI.index("gpt-4o-audio-preview")]
    others = ["llama-3.3-70b-instruct", "smollm2-135m-instruct", "qwen3:8b", "mistral-large-latest"]
    assert all(map(is_for_chat, others))


SAME = [
    ("claude-opus-4-8", "anthropic/claude-opus-4.8"),
    ("claude-haiku-4-5", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
    ("claude-haiku-4-5", "claude-haiku-4-5@20251001"),
    ("gpt-5", "gpt-5-2025-08-07"),
    ("gpt-5.6-luna", "openai/gpt-5.6-luna"),
]


@pytest.mark.parametrize(("name", "other"), SAME)
def test_a_model_is_known_by_all_its_names(name: str, other: str) -> None:
    assert known_facts(name).context_window == known_facts(other).context_window is not None
    assert known_facts(name).efforts == known_facts(other).efforts


def test_prices_are_those_of_the_maker() -> None:
    assert known_facts("gpt-6-sol", "openai").input_price == Decimal(2)
    assert known_facts("gpt-6-sol", "custom").input_price is None
    # Everybody may serve open weights, with any window.
    assert known_facts("deepseek-v4-flash", "vllm").context_window is None


def test_a_model_to_begin_with() -> None:
    assert favourite_of("openai", OPENAI, TODAY) == "gpt-6-sol"
    assert favourite_of("openai", ["gpt-5", "gpt-5.4"], TODAY) == "gpt-5.4"
    assert favourite_of("openai", ["gpt-5"], TODAY) == ""
    gateway = ["meta/llama-5", "anthropic/claude-opus-5.5", "openai/gpt-6-sol"]
    assert favourite_of("custom", gateway, TODAY) == "openai/gpt-6-sol"
    assert favourite_of("custom", ["mine"], TODAY) == ""
    assert favourite_of("anthropic", ["claude-opus-4-1", "claude-sonnet-4-6"], TODAY) == (
        "claude-sonnet-4-6"
    )


def test_what_a_server_says_comes_first() -> None:
    told = ModelFacts("gpt-5.6-luna", context_window=272_000, vision=False)
    facts = told.or_else(known_facts("gpt-5.6-luna", "openai"))
    assert (facts.context_window, facts.vision, facts.native_tools) == (272_000, False, True)


def supported(**what: Any) -> dict[str, Any]:
    return {
        name: value if isinstance(value, dict) else {"supported": value}
        for name, value in what.items()
    }


OPUS = {
    "id": "claude-opus-9",
    "display_name": "Claude Opus 9",
    "max_input_tokens": 1_000_000,
    "max_tokens": 128_000,
    "lifecycle": "deprecated",
    "retires_at": "2027-03-01T00:00:00Z",
    "capabilities": supported(
        image_input=True,
        pdf_input=True,
        effort={"supported": True, **supported(low=True, high=True, max=False)},
        thinking={
            "supported": True,
            "types": supported(adaptive=True, enabled=False, disabled=True, between_tools=False),
        },
    ),
}


async def test_anthropic_lists_what_its_models_can_do(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.documents["/v1/models"] = {"data": [OPUS]}
    [facts] = await read_models(AnthropicMessages(scripted_provider.base_url, http=http))
    assert facts == ModelFacts(
        "claude-opus-9",
        label="Claude Opus 9",
        context_window=1_000_000,
        max_output=128_000,
        reasoning=True,
        vision=True,
        documents=True,
        efforts=("none", "low", "high"),
        thinking="adaptive",
        retires_on=date(2027, 3, 1),
    )


async def test_ollama_is_asked_about_each_of_its_models(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """`/api/show`: one that only makes vectors is not offered, and one that breaks is."""
    shown = {
        "qwen3:8b": {
            "capabilities": ["completion", "tools", "thinking"],
            "model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40_960},
        },
        "minilm": {"capabilities": ["embedding"]},
    }

    def show(request: Received) -> object:
        return shown.get(request.json["model"], "odd")

    scripted_provider.models = ("qwen3:8b", "minilm", "broken")
    scripted_provider.documents["/api/show"] = show
    qwen, broken = await read_models(Ollama(scripted_provider.root, http=http))
    assert (qwen.context_window, qwen.native_tools, qwen.vision) == (40_960, True, False)
    assert (qwen.reasoning, qwen.efforts) == (True, ("none", "on"))
    assert broken == ModelFacts("broken")


async def test_llama_cpp_says_what_it_runs_with(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    row = {"id": "gemma.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}
    scripted_provider.documents["/v1/models"] = {"data": [row]}
    scripted_provider.documents["/props"] = {
        "default_generation_settings": {"n_ctx": 8192},
        "modalities": {"vision": True, "audio": False},
        "chat_template": "{% if tools %}…{% endif %}",
    }
    [facts] = await read_models(OpenAIChat(scripted_provider.base_url, http=http))
    assert (facts.context_window, facts.vision, facts.native_tools) == (8192, True, True)
    assert [each.path for each in scripted_provider.requests] == ["/v1/models", "/props"]
