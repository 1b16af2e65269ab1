"""The models that a provider lists: their names, and as much more as it reports."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from chat.protocol.effort import NONE, ON, ThinkingForm, in_order, is_effort
from chat.protocol.errors import ProviderError
from chat.protocol.text import clean_text
from chat.providers.faults import failure
from chat.providers.model_facts import ModelFacts
from chat.providers.wire_provider import WireProvider

# Lists also name models that cannot hold a conversation.
_NO_CHAT: Final = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcri(be|ption)|realtime|-audio|\baudio-"
    r"|gpt-image|chatgpt-image|imagen|\bsora\b|\bveo\b|rerank|babbage|davinci|turbo-instruct"
    r"|\bocr\b|guard|computer-use|gpt-live|-translate|\blyria\b|\bnano-banana|native-audio|-live-"
    r"|grok-.*(imagine|image|video)|text-to-|speech|voxtral|\baqa\b"
)
# What a gateway takes for every model that thinks.
_USUAL: Final = ("low", "medium", "high")
_MOST_TOKENS: Final = 1_000_000_000
_ID_LENGTH: Final = 200
_NAME_LENGTH: Final = 100
# How many models are asked about at once, where each has to be.
_AT_ONCE: Final = 4


async def read_models(provider: WireProvider) -> list[ModelFacts]:
    """The models that can hold a conversation, in the order of the server."""
    listed = await provider.get(provider.models_path)
    rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    # An Ollama without models answers null.
    if rows is None and isinstance(listed, dict) and {"data", "models"} & set(listed):
        rows = []
    if not isinstance(rows, list):
        raise failure("bad_response", "the list of models is not a list")
    rows = [row for row in rows if isinstance(row, dict)]
    facts = [_facts(row) for row in rows]
    named = {fact.model_id: fact for fact in facts if fact.model_id}
    chatting = [fact for fact in named.values() if is_for_chat(fact.model_id)]
    return [
        fact for fact in await _with_details(provider, rows, chatting) if fact.chats is not False
    ]


def is_for_chat(model_id: str) -> bool:
    """Whether a model of this name can hold a conversation, as far as names tell."""
    return not _NO_CHAT.search(model_id.lower())


# --- what some servers say of each model alone -----------------------------------------


async def _with_details(
    provider: WireProvider, rows: list[dict[str, Any]], facts: list[ModelFacts]
) -> list[ModelFacts]:
    if provider.details_path:
        turns = asyncio.Semaphore(_AT_ONCE)
        return list(await asyncio.gather(*(_shown(provider, fact, turns) for fact in facts)))
    if any(row.get("owned_by") == "llamacpp" for row in rows):
        with suppress(ProviderError):
            props = await provider.get_at_root("/props")
            if isinstance(props, dict):
                return [replace(fact, **_of_props(props)) for fact in facts]
    return facts


async def _shown(provider: WireProvider, fact: ModelFacts, turns: asyncio.Semaphore) -> ModelFacts:
    """Ollama tells of a model when it is asked for this one."""
    async with turns:
        with suppress(ProviderError):
            shown = await provider.post(provider.details_path, {"model": fact.model_id})
            if isinstance(shown, dict):
                return replace(fact, **_of_show(shown))
    return fact


def _of_show(shown: dict[str, Any]) -> dict[str, Any]:
    can = shown.get("capabilities")
    info = shown.get("model_info")
    sizes = [
        value
        for name, value in (info.items() if isinstance(info, dict) else ())
        if name.endswith(".context_length") and isinstance(value, int)
    ]
    told: dict[str, Any] = {"context_window": sizes[0] if sizes else None}
    if isinstance(can, list):
        thinks = "thinking" in can
        told |= {
            "chats": "completion" in can,
            "native_tools": "tools" in can,
            "vision": "vision" in can,
            "documents": False,
            "reasoning": thinks,
            "efforts": ((NONE, ON) if thinks else ()),
        }
        family = shown.get("details")
        name = str(family.get("family", "")) if isinstance(family, dict) else ""
        if thinks and name.startswith("gptoss"):
            # It cannot be kept from thinking.
            told["efforts"] = ("low", "medium", "high")
    return told


def _of_props(props: dict[str, Any]) -> dict[str, Any]:
    """What llama.cpp runs with."""
    settings = props.get("default_generation_settings")
    modalities = props.get("modalities")
    told: dict[str, Any] = {}
    if size := _number(settings, "n_ctx"):
        told["context_window"] = size
    if isinstance(modalities, dict):
        told["vision"] = modalities.get("vision") is True
    template = props.get("chat_template")
    if isinstance(template, str) and template:
        told["native_tools"] = "tools" in template or "tool_call" in template
    return told


# --- what a list says --------------------------------------------------------------------


def _facts(row: dict[str, Any]) -> ModelFacts:
    id_ = _text(row, "id") or _text(row, "name")
    # Gemini lists "models/…" but wants to be asked without it.
    id_ = id_.removeprefix("models/")
    label = _text(row, "display_name") or _text(row, "name")
    can = set(_features(row))
    return ModelFacts(
        model_id=id_ if len(id_) <= _ID_LENGTH and row.get("lifecycle") != "retired" else "",
        label=label[:_NAME_LENGTH] if label not in (id_, f"models/{id_}") else "",
        context_window=_context(row),
        max_output=_number(row, "max_completion_tokens", "max_tokens")
        or _number(row.get("top_provider"), "max_completion_tokens"),
        native_tools=_told(can, "tools"),
        reasoning=_told(can, "reasoning"),
        vision=_told(can, "vision"),
        documents=_told(can, "documents"),
        efforts=_efforts(row),
        thinking=_form(row),
        retires_on=_retirement(row),
        input_price=_price(row, "prompt"),
        output_price=_price(row, "completion"),
        cache_read_price=_price(row, "input_cache_read"),
        cache_write_price=_price(row, "input_cache_write"),
        free=_free(row),
    )


def _context(row: dict[str, Any]) -> int | None:
    """Every server has its own name for it: Anthropic, Groq, OpenRouter, vLLM, llama.cpp …"""
    size = _number(
        row,
        "context_window",
        "context_length",
        "max_context_length",
        "max_model_len",
        "max_input_tokens",
    )
    # What it runs with, not what it was trained with.
    return size or _number(row.get("meta"), "n_ctx")


def _retirement(row: dict[str, Any]) -> date | None:
    """Anthropic, OpenAI, Mistral and OpenRouter say it, each in its own words."""
    names = ("retires_at", "shutdown_date", "deprecation", "expiration_date")
    return next((day for name in names if (day := _day(row, name))), None)


def _told(can: set[str], what: str) -> bool | None:
    """Whether a server says that a model can do something, or that it cannot."""
    return True if what in can else False if f"no {what}" in can else None


def _features(row: dict[str, Any]) -> Iterator[str]:
    parameters = row.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list):
        yield "tools" if "tools" in parameters else "no tools"
        yield "reasoning" if "reasoning" in parameters else "no reasoning"
    architecture = row.get("architecture")
    modalities = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    if isinstance(modalities, list):
        yield "vision" if "image" in modalities else "no vision"
        yield "documents" if "file" in modalities else "no documents"
    capabilities = row.get("capabilities")
    if isinstance(capabilities, dict):
        for name, what in _CAPABILITIES.items():
            if name in capabilities:
                yield what if _true(capabilities[name]) else f"no {what}"


# True or false at Mistral, objects at Anthropic.
_CAPABILITIES: Final = {
    "function_calling": "tools",
    "vision": "vision",
    "image_input": "vision",
    "pdf_input": "documents",
    "thinking": "reasoning",
    "reasoning": "reasoning",
}


def _efforts(row: dict[str, Any]) -> tuple[str, ...] | None:
    """The steps of thinking that a model has, and "none" where it can be switched off."""
    reasoning = row.get("reasoning")
    return _offered(reasoning) if isinstance(reasoning, dict) else _anthropics_efforts(row)


def _offered(reasoning: dict[str, Any]) -> tuple[str, ...]:
    """OpenRouter's: without a list it takes every step and finds the nearest one itself."""
    listed = reasoning.get("supported_efforts")
    named = [step for step in listed if is_effort(step)] if isinstance(listed, list) else _USUAL
    can_be_off = reasoning.get("mandatory") is False
    steps = [step for step in named if step != NONE]
    if can_be_off:
        steps.append(NONE)
    # Where nothing but on and off is offered there are no steps.
    return in_order([*steps, ON] if can_be_off and steps == [NONE] else steps)


def _anthropics_efforts(row: dict[str, Any]) -> tuple[str, ...] | None:
    capabilities = row.get("capabilities")
    effort = capabilities.get("effort") if isinstance(capabilities, dict) else None
    if not isinstance(capabilities, dict) or not isinstance(effort, dict):
        return None
    steps = [name for name, value in effort.items() if name != "supported" and _true(value)]
    types = _thinking_types(capabilities)
    if not steps and (_true(types.get("enabled")) or _true(types.get("adaptive"))):
        steps = [ON]
    if steps and (_true(types.get("disabled")) or _true(types.get("between_tools"))):
        steps.append(NONE)
    return in_order(steps)


def _form(row: dict[str, Any]) -> ThinkingForm | None:
    capabilities = row.get("capabilities")
    types = _thinking_types(capabilities) if isinstance(capabilities, dict) else {}
    if _true(types.get("adaptive")):
        only_between = _true(types.get("between_tools")) and not _true(types.get("disabled"))
        return "between" if only_between else "adaptive"
    return "budget" if _true(types.get("enabled")) else None


def _thinking_types(capabilities: dict[str, Any]) -> dict[str, Any]:
    thinking = capabilities.get("thinking")
    types = thinking.get("types") if isinstance(thinking, dict) else None
    return types if isinstance(types, dict) else {}


def _true(value: object) -> bool:
    return value is True or (isinstance(value, dict) and value.get("supported") is True)


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return clean_text(value).strip() if isinstance(value, str) else ""


def _day(row: dict[str, Any], key: str) -> date | None:
    try:
        return datetime.fromisoformat(_text(row, key)).date()
    except ValueError:
        return None


def _number(row: object, *keys: str) -> int | None:
    for key in keys if isinstance(row, dict) else ():
        value = row.get(key)  # type: ignore[attr-defined]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS:
            return value
    return None


def _free(row: dict[str, Any]) -> bool | None:
    """Whether a list says that a model costs nothing; nothing where it says no price."""
    prices = [_price(row, key) for key in ("prompt", "completion")]
    return None if None in prices else not any(prices)


def _price(row: dict[str, Any], key: str) -> Decimal | None:
    """OpenRouter gives dollars per token, as text."""
    pricing = row.get("pricing")
    value = pricing.get(key) if isinstance(pricing, dict) else None
    try:
        price = Decimal(value) * 1_000_000 if isinstance(value, str) else None
    except InvalidOperation:
        return None
    # Decimal knows NaN and infinity too.
    sound = price is not None and price.is_finite() and 0 <= price < 100_000
    return round(price, 6) if sound and price is not None else None
