"""Providers: what they say about themselves, read into rows, and a word from their models."""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Final

from asgiref.sync import async_to_sync
from django.db import transaction

from chat.models import LanguageModel, Provider
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import ModelMessage, ModelRequest, TextBlock, TextDelta
from chat.providers.http import Http, HttpSettings
from chat.providers.listing import ModelFacts, read_models
from chat.providers.registry import Connection, connect, connect_over_http
from chat.providers.retry import RetryPolicy

# Somebody waits in front of a page or a terminal.
LISTING = HttpSettings(connect=5, first_byte=10, idle=10)
TRYING = HttpSettings(connect=5, first_byte=60, idle=30)
ONCE = RetryPolicy(attempts=1)

QUESTION = "Answer with one word: hello"
LONGEST_WORD: Final = 200
# A list of hundreds (OpenRouter) is for choosing from, not for the menu of models.
MENU: Final = 50
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@dataclass(frozen=True, slots=True)
class Listed:
    """What a listing came to: model ids in the provider's order, and how many are new."""

    models: tuple[str, ...]
    added: int
    # So many that the new ones were added switched off.
    too_many: bool = False


def connection_of(provider: Provider) -> Connection:
    return Connection(
        kind=provider.kind,
        base_url=provider.base_url,
        api_key=provider.api_key,
        extra_headers=dict(provider.extra_headers),
    )


def list_models(provider: Provider) -> Listed:
    """Ask a provider for its models and keep them; a fault raises `ProviderError`."""
    if provider.kind == Provider.Kind.DEMO:
        return Listed(tuple(provider.models.values_list("model_id", flat=True)), added=0)
    facts = _without_dated(async_to_sync(_read)(connection_of(provider)))
    return _keep(provider, facts)


def try_model(model: LanguageModel) -> str:
    """Ask a model for one word and return what it says; a fault raises `ProviderError`."""
    return async_to_sync(_ask)(connection_of(model.provider), model.model_id)


async def _read(connection: Connection) -> list[ModelFacts]:
    http = Http(LISTING)
    try:
        return await read_models(connect_over_http(connection, http, ONCE))
    finally:
        await http.aclose()


async def _ask(connection: Connection, model_id: str) -> str:
    request = ModelRequest(model=model_id, messages=(ModelMessage("user", (TextBlock(QUESTION),)),))
    http = Http(TRYING)
    said = ""
    try:
        provider = connect(connection, http, ONCE)
        async with aclosing(provider.stream(request)) as events:  # type: ignore[type-var]
            async for event in events:
                said += event.text if isinstance(event, TextDelta) else ""
                if len(said) > LONGEST_WORD:
                    break
    finally:
        await http.aclose()
    if not said.strip():
        raise ProviderError("error.chat_empty_answer")
    return said.strip()[:LONGEST_WORD]


def _without_dated(facts: Sequence[ModelFacts]) -> list[ModelFacts]:
    """`gpt-x-2026-01-31` is in the way where `gpt-x` is there."""
    ids = {fact.model_id for fact in facts}
    return [
        fact
        for fact in facts
        if not _DATED.search(fact.model_id) or _DATED.sub("", fact.model_id) not in ids
    ]


@transaction.atomic
def _keep(provider: Provider, facts: Sequence[ModelFacts]) -> Listed:
    """New models become rows; of known ones only what nobody has filled in is filled in."""
    known = {model.model_id: model for model in provider.models.all()}
    new = [fact for fact in facts if fact.model_id not in known]
    too_many = len(new) > MENU
    LanguageModel.objects.bulk_create(
        LanguageModel(provider=provider, enabled=not too_many, **_told(fact)) for fact in new
    )
    for fact in facts:
        if fact.model_id in known:
            _fill(known[fact.model_id], fact)
    return Listed(tuple(fact.model_id for fact in facts), added=len(new), too_many=too_many)


def _told(fact: ModelFacts) -> dict[str, str | int | bool | Decimal]:
    values = {field.name: getattr(fact, field.name) for field in fields(fact)}
    return {name: value for name, value in values.items() if value is not None}


def _fill(model: LanguageModel, fact: ModelFacts) -> None:
    # A switch or a price that somebody has set looks like one that nobody has touched.
    empty = [name for name in ("label", "context_window", "max_output") if not getattr(model, name)]
    told = {name: value for name, value in _told(fact).items() if name in empty and value}
    for name, value in told.items():
        setattr(model, name, value)
    if told:
        model.save(update_fields=list(told))
