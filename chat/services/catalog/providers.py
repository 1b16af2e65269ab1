"""Providers: their rows and keys, and their lists of models saved as rows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from chat.models import LanguageModel, ModelAdjustment, Provider
from chat.providers.adjusting import with_extra
from chat.providers.http import Http, HttpSettings
from chat.providers.known_models import known_facts
from chat.providers.model_facts import ModelFacts
from chat.providers.model_list import read_models
from chat.providers.registry import Connection, connect_over_http
from chat.providers.retry import RetryPolicy
from chat.services.catalog.new_chats import only_demo, slug_of, use_provider

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


def connection_of(provider: Provider, model: LanguageModel | None = None) -> Connection:
    """The way to a provider; the wire and the parameters of a model come before its own."""
    wire = model.wire if model and model.wire != Provider.Wire.AUTO else provider.wire
    return Connection(
        kind=provider.kind,
        wire=wire,
        base_url=provider.base_url,
        api_key=provider.api_key,
        extra_headers=dict(provider.extra_headers),
        extra_body=with_extra(provider.extra_body, model.extra_body if model else {}),
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
    listed = _without_dated(async_to_sync(_read)(connection_of(provider)))
    slug = slug_of(provider)
    facts = [fact.or_else(known_facts(fact.model_id, slug)) for fact in listed]
    first = only_demo()
    kept = _keep(provider, [fact for fact in facts if fact.chats is not False])
    if first:
        use_provider(provider)
    return kept


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


# What facts are about, in the columns of a model.
_COLUMNS: Final = (
    "label", "context_window", "max_output", "native_tools", "reasoning", "vision", "documents",
    "efforts", "thinking", "wire", "retires_on", "input_price", "output_price", "cache_read_price",
    "cache_write_price",
)  # fmt: skip


@transaction.atomic
def _keep(provider: Provider, facts: Sequence[ModelFacts]) -> Listed:
    """New models become rows; of known ones everything is kept up to date that nobody has filled
    in by hand."""
    known = {model.model_id: model for model in provider.models.all()}
    new = [fact for fact in facts if fact.model_id not in known]
    too_many = len(new) > MENU
    LanguageModel.objects.bulk_create(
        LanguageModel(
            provider=provider,
            model_id=fact.model_id,
            enabled=_is_offered(fact, too_many=too_many),
            **_columns(fact),
        )
        for fact in new
    )
    for fact in facts:
        if fact.model_id in known:
            _update(known[fact.model_id], fact)
    return Listed(tuple(fact.model_id for fact in facts), added=len(new), too_many=too_many)


def _is_offered(fact: ModelFacts, *, too_many: bool) -> bool:
    """Whether a new model is in the menu: of makers that are known, the best of today."""
    if fact.retires_on is not None and fact.retires_on <= timezone.localdate():
        return False
    return fact.current if fact.current is not None else not too_many


def _columns(fact: ModelFacts) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in _COLUMNS}
    efforts = values["efforts"]
    values["efforts"] = list(efforts) if efforts is not None else None
    return {name: value for name, value in values.items() if value not in (None, "")}


def _update(model: LanguageModel, fact: ModelFacts) -> None:
    told = _columns(fact)
    changed = {
        name: value
        for name, value in told.items()
        if name not in model.set_by_hand and getattr(model, name) != value
    }
    if changed:
        LanguageModel.objects.filter(pk=model.pk).update(**changed)


def fill_in_known() -> int:
    """Give the models there are what has become known of them since they were listed; how many
    were changed. What their servers say themselves is kept up to date by listing them."""
    changed = 0
    for model in LanguageModel.objects.select_related("provider"):
        fact = known_facts(model.model_id, slug_of(model.provider))
        missing = {
            name: value
            for name, value in _columns(fact).items()
            if name not in model.set_by_hand
            and _is_empty(model, name)
            and value != getattr(model, name)
        }
        if missing:
            LanguageModel.objects.filter(pk=model.pk).update(**missing)
            changed += 1
    return changed


def _is_empty(model: LanguageModel, name: str) -> bool:
    """Whether a column has what it begins with, so that nobody can have meant it."""
    empty: bool = getattr(model, name) == getattr(LanguageModel(), name)
    return empty


@transaction.atomic
def note_set_by_hand(model: LanguageModel, names: Iterable[str]) -> None:
    """An administrator has filled these fields in: they stay, and the model is asked anew."""
    hand = {*model.set_by_hand, *(name for name in names if name in _COLUMNS)}
    model.set_by_hand = sorted(hand)
    LanguageModel.objects.filter(pk=model.pk).update(set_by_hand=model.set_by_hand)
    ModelAdjustment.objects.filter(model=model).delete()
