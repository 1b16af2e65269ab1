"""The models that a provider lists: their names, and as much more as it reports."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from chat.protocol.text import clean_text
from chat.providers.faults import failure
from chat.providers.wire_provider import WireProvider

# Lists also name models that cannot hold a conversation.
_NO_CHAT: Final = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcribe|realtime|-audio|gpt-image"
    r"|chatgpt-image|imagen|\bsora\b|\bveo\b|rerank|babbage|davinci|-instruct-\d{4}|\bocr\b|guard"
    r"|computer-use"
)
_MOST_TOKENS: Final = 1_000_000_000
_ID_LENGTH: Final = 200
_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model; what its server does not report is None."""

    model_id: str
    label: str = ""
    context_window: int | None = None
    max_output: int | None = None
    native_tools: bool | None = None
    reasoning: bool | None = None
    vision: bool | None = None
    # Per million tokens.
    input_price: Decimal | None = None
    output_price: Decimal | None = None


async def read_models(provider: WireProvider) -> list[ModelFacts]:
    """The models that can hold a conversation, in the order of the server."""
    listed = await provider.get(provider.models_path)
    rows = listed.get("data") or listed.get("models") if isinstance(listed, dict) else listed
    # An Ollama without models answers null.
    if rows is None and isinstance(listed, dict) and {"data", "models"} & set(listed):
        rows = []
    if not isinstance(rows, list):
        raise failure("bad_response", "the list of models is not a list")
    facts = (_facts(row) for row in rows if isinstance(row, dict))
    named = {fact.model_id: fact for fact in facts if fact.model_id}
    return [fact for fact in named.values() if not _NO_CHAT.search(fact.model_id.lower())]


def _facts(row: dict[str, Any]) -> ModelFacts:
    id_ = _text(row, "id") or _text(row, "name")
    # Gemini lists "models/…" but wants to be asked without it.
    id_ = id_.removeprefix("models/")
    label = _text(row, "display_name") or _text(row, "name")
    can = set(_features(row))
    reports = "capabilities" in row or "supported_parameters" in row
    return ModelFacts(
        model_id=id_ if len(id_) <= _ID_LENGTH and row.get("lifecycle") != "retired" else "",
        label=label[:_NAME_LENGTH] if label not in (id_, f"models/{id_}") else "",
        context_window=_context(row),
        max_output=_number(row, "max_completion_tokens", "max_tokens")
        or _number(row.get("top_provider"), "max_completion_tokens"),
        native_tools=("tools" in can) if reports and can & {"tools", "no tools"} else None,
        reasoning=True if "reasoning" in can else None,
        vision=True if "vision" in can else None,
        input_price=_price(row, "prompt"),
        output_price=_price(row, "completion"),
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


def _features(row: dict[str, Any]) -> Iterator[str]:
    parameters = row.get("supported_parameters")  # OpenRouter
    if isinstance(parameters, list):
        yield "tools" if "tools" in parameters else "no tools"
        if "reasoning" in parameters:
            yield "reasoning"
    architecture = row.get("architecture")
    modalities = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    if isinstance(modalities, list) and "image" in modalities:
        yield "vision"
    capabilities = row.get("capabilities")
    if isinstance(capabilities, dict):  # true or false at Mistral, objects at Anthropic
        if "function_calling" in capabilities:
            yield "tools" if _true(capabilities["function_calling"]) else "no tools"
        if _true(capabilities.get("vision")) or _true(capabilities.get("image_input")):
            yield "vision"
        if _true(capabilities.get("thinking")) or _true(capabilities.get("reasoning")):
            yield "reasoning"


def _true(value: object) -> bool:
    return value is True or (isinstance(value, dict) and value.get("supported") is True)


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return clean_text(value).strip() if isinstance(value, str) else ""


def _number(row: object, *keys: str) -> int | None:
    for key in keys if isinstance(row, dict) else ():
        value = row.get(key)  # type: ignore[attr-defined]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST_TOKENS:
            return value
    return None


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
