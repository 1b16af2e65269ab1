"""What a model can do is known: from its server, else by its name."""

import json
import re
from datetime import date
from decimal import Decimal
from importlib.resources import files
from typing import Any

import pytest

from chat.protocol.effort import is_effort
from chat.providers.anthropic import AnthropicMessages
from chat.providers.http import Http
from chat.providers.known_models import (
    _entry,
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
TODAY = date(2026, 11, 19)

# What a key of OpenAI lists, as of late 2026.
LISTED = """
gpt-6.2-astra gpt-6.2-sol gpt-6.1-sol gpt-6.1-terra gpt-6-astra gpt-6-sol gpt-6-luna gpt-5.6
gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna gpt-5.5 gpt-5.5-pro gpt-5.4 gpt-5.4-pro gpt-5.4-mini
gpt-5.4-nano gpt-5.3-codex gpt-5.2 gpt-5.2-pro gpt-5.1 gpt-5 gpt-5-mini gpt-5-nano gpt-5-pro
gpt-4.1 gpt-4.1-mini gpt-4o gpt-4o-mini o3 o3-pro o4-mini gpt-4o-audio-preview
gpt-4o-realtime-preview gpt-realtime gpt-realtime-mini gpt-audio gpt-live gpt-4o-transcribe
gpt-4o-mini-transcribe gpt-4o-mini-tts tts-1 tts-1-hd whisper-1 dall-e-3 gpt-image-1 gpt-image-1.5
chatgpt-image-latest sora-2 sora-2-pro text-embedding-3-small text-embedding-3-large
text-embedding-ada-002 omni-moderation-latest babbage-002 davinci-002 gpt-3.5-turbo-instruct
computer-use-preview
"""
OPENAI = LISTED.split()


def test_the_data_is_sound() -> None:
    assert date.fromisoformat(DATA["checked"]) <= TODAY
    for entry in DATA["models"]:
        assert all(map(is_effort, entry.get("efforts", ()))), entry
        assert len(entry.get("prices", [0] * 4)) == 4, entry
        assert entry.get("thinking", "") in (*("", "adaptive", "between", "budget", "toolless"),), (
            entry
        )
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


@pytest.mark.parametrize(
    ("name", "slug", "window", "price"),
    [
        # A small sister is not its big one.
        ("gpt-5.4", "openai", 1_050_000, "2.5"),
        ("gpt-5.4-mini", "openai", 400_000, "0.75"),
        ("gpt-5.4-nano-2026-03-17", "openai", 400_000, "0.2"),
        ("gpt-5.3-chat-latest", "openai", 128_000, "1.75"),
        ("gpt-6.2-sol", "openai", 1_050_000, "2"),
        ("gpt-6-sol", "openai", 1_050_000, "2"),
        # GPT-4 of November 2023, not GPT-4.1.
        ("gpt-4-1106-preview", "openai", 128_000, "10"),
        ("gpt-4.1-2025-04-14", "openai", 1_047_576, "2"),
        ("gpt-4-0613", "openai", 8192, "30"),
        ("o3-mini", "openai", 200_000, "1.1"),
        ("claude-opus-5-5", "anthropic", 1_000_000, "4"),
        ("claude-opus-5", "anthropic", 1_000_000, "5"),
        ("claude-opus-4-5-20251101", "anthropic", 200_000, "5"),
        ("claude-fable-5", "anthropic", 1_000_000, "10"),
        ("claude-fable-5-2", "anthropic", 1_000_000, "8"),
        ("claude-3-haiku-20240307", "anthropic", 200_000, "0.25"),
        ("claude-3-5-sonnet-20241022", "anthropic", 200_000, "3"),
        ("gemini-2.5-flash-lite", "gemini", 1_048_576, None),
        ("deepseek-v4-pro", "deepseek", 1_000_000, "0.66"),
        # A generation that is not known yet is no other one.
        ("gpt-7", "openai", None, None),
        ("claude-opus-6", "anthropic", None, None),
    ],
)
def test_no_model_is_taken_for_another(
    name: str, slug: str, window: int | None, price: str | None
) -> None:
    facts = known_facts(name, slug)
    assert facts.context_window == window
    assert facts.input_price == (Decimal(price) if price else None)


def test_every_pattern_can_be_reached() -> None:
    """One that stands behind a wider one would never count."""
    for entry in DATA["models"]:
        name = re.sub(r"\[(.)[^]]*\]", r"\1", entry["match"]).replace("*", "")
        assert _entry(name) == entry, entry["match"]


def test_it_is_known_when_models_end() -> None:
    ends = {
        "claude-sonnet-4-5-20250929": ("anthropic", date(2026, 11, 30)),
        "gpt-5": ("openai", date(2026, 12, 11)),
        "gpt-4o": ("openai", date(2027, 1, 14)),
        "gpt-5.1": ("openai", date(2027, 4, 1)),
        "gemini-2.5-pro": ("gemini", date(2026, 12, 1)),
        "gemini-2.5-flash-lite": ("gemini", None),
        "deepseek-chat": ("deepseek", date(2026, 7, 24)),
    }
    assert {
        name: (slug, known_facts(name, slug).retires_on) for name, (slug, _) in ends.items()
    } == ends
    # Who serves open weights decides for how long.
    assert known_facts("deepseek-chat", "vllm").retires_on is None


def test_prices_are_those_of_the_maker() -> None:
    assert known_facts("gpt-6-sol", "openai").input_price == Decimal(2)
    assert known_facts("gpt-6-sol", "custom").input_price is None
    # Everybody may serve open weights, with any window.
    assert known_facts("deepseek-v4-flash", "vllm").context_window is None


@pytest.mark.parametrize(
    ("name", "slug", "efforts", "thinks"),
    [
        ("qwen3.8-max", "qwen", ("none", "low", "medium", "xhigh"), True),
        ("qwen3.7-plus-2026-05-26", "qwen", ("none", "on"), True),
        ("Qwen/Qwen3-8B", "vllm", ("none", "on"), True),
        ("Qwen3-8B-Q4_K_M.gguf", "llamacpp", ("none", "on"), True),
        ("qwen3-235b-a22b-thinking-2507", "qwen", (), True),
        ("qwen3-30b-a3b-instruct-2507", "vllm", (), False),
        ("qwen3-coder-plus", "qwen", (), False),
        ("qwen-plus-latest", "qwen", ("none", "on"), True),
        ("qwen2.5:7b", "custom", (), False),
        ("qwq-plus", "qwen", (), True),
        ("openai/gpt-oss-120b", "groq", ("low", "medium", "high"), True),
        ("mistral-medium-latest", "mistral", ("none", "high"), True),
        ("mistral-small-2603", "mistral", ("none", "high"), True),
        ("mistral-large-latest", "mistral", None, True),
        ("magistral-medium-latest", "mistral", (), True),
        ("llama-3.3-70b", "groq", None, None),
    ],
)
def test_what_can_be_chosen_of_models_that_anybody_may_serve(
    name: str, slug: str, efforts: object, thinks: object
) -> None:
    facts = known_facts(name, slug)
    assert (facts.efforts, facts.reasoning) == (efforts, thinks)


@pytest.mark.parametrize("slug", DATA["defaults"])
def test_what_is_proposed_can_be_found_in_a_list(slug: str) -> None:
    """A pattern that no name of a model fits would propose whatever is listed first."""
    for pattern in DATA["defaults"][slug]:
        listed = ["aaa", pattern.removesuffix("*"), f"{pattern.removesuffix('*')}-latest"]
        assert favourite_of(slug, listed, TODAY) in listed[1:], pattern


def test_a_model_to_begin_with() -> None:
    mistral = ["codestral-latest", "mistral-large-latest", "mistral-medium-latest"]
    assert favourite_of("mistral", mistral, TODAY) == "mistral-large-latest"
    assert favourite_of("openai", OPENAI, TODAY) == "gpt-6.2-sol"
    assert favourite_of("openai", ["gpt-5", "gpt-5.4"], TODAY) == "gpt-5.4"
    assert favourite_of("openai", ["gpt-5"], TODAY) == ""
    gateway = ["meta/llama-5", "anthropic/claude-opus-5.5", "openai/gpt-6-sol"]
    assert favourite_of("custom", gateway, TODAY) == "openai/gpt-6-sol"
    assert favourite_of("custom", ["mine"], TODAY) == ""
    assert favourite_of("anthropic", ["claude-opus-4-1", "claude-sonnet-4-6"], TODAY) == (
        "claude-sonnet-4-6"
    )


def test_a_key_with_older_models_begins_with_the_best_of_them() -> None:
    listed = ["claude-haiku-4-5", "claude-opus-4-7", "claude-opus-4-8", "claude-opus-4-1"]
    assert favourite_of("anthropic", listed, TODAY) == "claude-opus-4-8"
    assert favourite_of("anthropic", listed[:2], TODAY) == "claude-opus-4-7"
    assert favourite_of("anthropic", listed[:1], TODAY) == "claude-haiku-4-5"


def test_a_model_that_does_not_end_has_a_name_to_show() -> None:
    """Of makers whose lists have none."""
    for model_id in ("claude-opus-4-8", "claude-opus-4-7-20260301", "claude-sonnet-4-6"):
        facts = known_facts(model_id, "anthropic")
        assert facts.label.startswith("Claude ")


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


@pytest.mark.parametrize(
    ("disabled", "between", "expected"),
    [
        (True, False, (("none", "low", "high"), "adaptive")),
        (True, True, (("none", "low", "high"), "adaptive")),
        (False, True, (("none", "low", "high"), "between")),
        (False, False, (("low", "high"), "adaptive")),
    ],
)
async def test_how_thinking_is_switched_off_is_read_from_the_list(
    disabled: bool,
    between: bool,
    expected: tuple[object, object],
    scripted_provider: ScriptedProvider,
    http: Http,
) -> None:
    types = supported(adaptive=True, enabled=False, disabled=disabled, between_tools=between)
    can = {**OPUS["capabilities"], "thinking": {"supported": True, "types": types}}
    scripted_provider.documents["/v1/models"] = {"data": [{**OPUS, "capabilities": can}]}
    [facts] = await read_models(AnthropicMessages(scripted_provider.base_url, http=http))
    assert (facts.efforts, facts.thinking) == expected


@pytest.mark.parametrize(
    ("reasoning", "expected"),
    [
        ({"mandatory": True, "supported_efforts": ["high", "low"]}, ("low", "high")),
        ({"mandatory": False, "supported_efforts": ["xhigh", "high"]}, ("none", "high", "xhigh")),
        ({"mandatory": False, "supported_efforts": ["high", "none"]}, ("none", "high")),
        ({"mandatory": True, "supported_efforts": ["none", "high"]}, ("high",)),
        # Every step is taken.
        ({"mandatory": False, "supported_efforts": None}, ("none", "low", "medium", "high")),
        ({"mandatory": True}, ("low", "medium", "high")),
        # There are no steps: it is only switched.
        ({"mandatory": False, "supported_efforts": []}, ("none", "on")),
        ({"mandatory": True, "supported_efforts": []}, ()),
        ({"mandatory": False, "supported_efforts": [7, "", "x y"]}, ("none", "on")),
        ("often", None),
        (None, None),
    ],
)
async def test_openrouter_lists_the_steps_of_its_models(
    reasoning: object, expected: object, scripted_provider: ScriptedProvider, http: Http
) -> None:
    row = {"id": "maker/thinker", "supported_parameters": ["reasoning"], "reasoning": reasoning}
    scripted_provider.documents["/v1/models"] = {"data": [row]}
    [facts] = await read_models(OpenAIChat(scripted_provider.base_url, http=http))
    assert (facts.efforts, facts.reasoning) == (expected, True)


def test_the_claude_to_begin_with_can_be_told_not_to_think_first() -> None:
    facts = known_facts("claude-sonnet-5-5", "anthropic")
    assert (facts.efforts and facts.efforts[0], facts.thinking) == ("none", "between")
    assert known_facts("claude-opus-5-5").efforts == ("low", "medium", "high", "xhigh", "max")


@pytest.mark.parametrize("field", ["retires_at", "shutdown_date", "deprecation", "expiration_date"])
async def test_a_list_says_when_a_model_ends(
    field: str, scripted_provider: ScriptedProvider, http: Http
) -> None:
    rows = [{"id": "ending", field: "2027-01-14"}, {"id": "staying", field: None}]
    scripted_provider.documents["/v1/models"] = {"data": rows}
    ending, staying = await read_models(OpenAIChat(scripted_provider.base_url, http=http))
    assert (ending.retires_on, staying.retires_on) == (date(2027, 1, 14), None)


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
