"""Providers: their rows and keys, and their lists of models saved as rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Final
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.db import transaction

from chat.models import LanguageModel, ModelAdjustment, Provider
from chat.providers.http import Http, HttpSettings
from chat.providers.model_list import ModelFacts, read_models
from chat.providers.registry import Connection, connect_over_http
from chat.providers.retry import RetryPolicy
from chat.services.catalog.new_chats import only_demo, use_provider

# Somebody waits in front of a page or a terminal.
LISTING = HttpSettings(connect=5, first_byte=10, idle=10)
ONCE = RetryPolicy(attempts=1)

# A list of hundreds (OpenRouter) is for choosing from, not for the menu of models.
MENU: Final = 50
_DATED = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@dataclass(frozen=True, slots=True)
class Listed:
    """The result of listing: model ids in the provider's order, and how many are new."""

    models: tuple[str, ...]
    added: int
    # So many that the new ones were added switched off.
    too_many: bool = False


def connection_of(provider: Provider) -> Connection:
    return Connection(
        kind=provider.kind,
        wire=provider.wire,
        base_url=provider.base_url,
        api_key=provider.api_key,
        extra_headers=dict(provider.extra_headers),
    )


@transaction.atomic
def save_provider(provider: Provider, *, new_key: str = "", forget_key: bool = False) -> bool:
    """Write a provider; whether its key was forgotten because its address has changed.

    Without a new key the column of the key is left alone: a key that cannot be opened at the
    moment reads as empty, and must not be written back.
    """
    before = Provider.objects.filter(pk=provider.pk).values_list("base_url", flat=True).first()
    # What its server has refused may be right now, or where it is now.
    ModelAdjustment.objects.filter(model__provider=provider.pk).delete()
    # Sent to another server, a key would come out again.
    moved = before is not None and _server(before) != _server(provider.base_url)
    if before is None or new_key or forget_key or moved:
        provider.api_key = new_key
        provider.save()
        return moved and not new_key and not forget_key
    columns = (field.name for field in provider._meta.concrete_fields if not field.primary_key)
    provider.save(update_fields=[name for name in columns if name != "api_key"])
    return False


def _server(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc


def list_models(provider: Provider) -> Listed:
    """Ask a provider for its models and keep them; a fault raises `ProviderError`."""
    if provider.kind == Provider.Kind.DEMO:
        return Listed(tuple(provider.models.values_list("model_id", flat=True)), added=0)
    facts = _without_dated(async_to_sync(_read)(connection_of(provider)))
    first = only_demo()
    listed = _keep(provider, facts)
    if first:
        use_provider(provider)
    return listed


async def _read(connection: Connection) -> list[ModelFacts]:
    http = Http(LISTING)
    try:
        return await read_models(connect_over_http(connection, http, ONCE))
    finally:
        await http.aclose()


def _without_dated(facts: Sequence[ModelFacts]) -> list[ModelFacts]:
    """Without `gpt-x-2026-01-31` where there is `gpt-x`: the menu would be full of them."""
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
        LanguageModel(provider=provider, enabled=not too_many, **_reported(fact)) for fact in new
    )
    for fact in facts:
        if fact.model_id in known:
            _fill(known[fact.model_id], fact)
    return Listed(tuple(fact.model_id for fact in facts), added=len(new), too_many=too_many)


def _reported(fact: ModelFacts) -> dict[str, str | int | bool | Decimal]:
    values = {field.name: getattr(fact, field.name) for field in fields(fact)}
    return {name: value for name, value in values.items() if value is not None}


def _fill(model: LanguageModel, fact: ModelFacts) -> None:
    # Switches and prices are left alone: whether somebody has set them cannot be seen.
    empty = [name for name in ("label", "context_window", "max_output") if not getattr(model, name)]
    new = {name: value for name, value in _reported(fact).items() if name in empty and value}
    for name, value in new.items():
        setattr(model, name, value)
    if new:
        model.save(update_fields=list(new))
