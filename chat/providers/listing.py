"""What a provider says about its models: their names, and as much more as it tells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from chat.protocol.text import clean_text
from chat.providers.faults import failure
from chat.providers.wire_provider import WireProvider

# Lists also name what cannot hold a conversation.
_NO_CHAT: Final = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-e|moderation|transcribe|realtime|-audio|gpt-image|chatgpt-image"
    r"|imagen|\bsora\b|\bveo\b|rerank|babbage|davinci|-instruct-\d{4}|\bocr\b|guard|computer-use"
)
_MOST_TOKENS: Final = 1_000_000_000
_ID_LENGTH: Final = 200
_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """One model; what its server does not say is None."""

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
    found = await provider.get(provider.models_path)
    rows = found.get("data") or found.get("models") if isinstance(found, dict) else found
    # An Ollama without models says null.
    if rows is None and isinstance(found, dict) and {"data", "models"} & set(found):
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
    told = "capabilities" in row or "supported_parameters" in row
    return ModelFacts(
        model_id=id_ if len(id_) <= _ID_LENGTH and row.get("lifecycle") != "retired" else "",
        label=label[:_NAME_LENGTH] if label not in (id_, f"models/{id_}") else "",
        context_window=_context(row),
        max_output=_number(row, "max_completion_tokens", "max_tokens")
        or _number(row.get("top_provider"), "max_completion_tokens"),
        native_tools=("tools" in can) if told and can & {"tools", "no tools"} else None,
        reasoning=True if "reasoning" in can else None,
        vision=True if "vision" in can else None,
        input_price=_price(row, "prompt"),
        output_price=_price(row, "completion"),
    )


def _context(row: dict[str, Any]) -> int | None:
    """Everybody's own word for it (Anthropic, Groq, OpenRouter, vLLM, Mistral, llama.cpp)."""
    said = _number(
        row,
        "context_window",
        "context_length",
        "max_context_length",
        "max_model_len",
        "max_input_tokens",
    )
    # What it runs with, not what it was trained with.
    return said or _number(row.get("meta"), "n_ctx")


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
    if isinstance(capabilities, dict):  # Mistral says true or false, Anthropic in objects
        if "function_calling" in capabilities:
            yield "tools" if _true(capabilities["function_calling"]) else "no tools"
        if _true(capabilities.get("vision")) or _true(capabilities.get("image_input")):
            yield "vision"
        if _true(capabilities.get("thinking")) or _true(capabilities.get("reasoning")):
            yield "reasoning"


def _true(said: object) -> bool:
    return said is True or (isinstance(said, dict) and said.get("supported") is True)


def _text(row: dict[str, Any], key: str) -> str:
    said = row.get(key)
    return clean_text(said).strip() if isinstance(said, str) else ""


def _number(row: object, *keys: str) -> int | None:
    for key in keys if isinstance(row, dict) else ():
        said = row.get(key)  # type: ignore[attr-defined]
        if isinstance(said, int) and not isinstance(said, bool) and 0 < said < _MOST_TOKENS:
            return said
    return None


def _price(row: dict[str, Any], key: str) -> Decimal | None:
    """OpenRouter says dollars per token, as text."""
    pricing = row.get("pricing")
    said = pricing.get(key) if isinstance(pricing, dict) else None
    try:
        price = Decimal(said) * 1_000_000 if isinstance(said, str) else None
    except InvalidOperation:
        return None
    # Decimal knows NaN and infinity too.
    sound = price is not None and price.is_finite() and 0 <= price < 100_000
    return round(price, 6) if sound and price is not None else None
