"""Providers: their rows and keys, and their lists of models saved as rows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from chat.models import LanguageModel, ModelAdjustment, Provider
from chat.models.secrets import is_sealed
from chat.protocol.errors import ProviderError
from chat.providers.adjusting import with_extra
from chat.providers.claude_code import CLAUDE_CODE_MODELS, CommandLine, read_version
from chat.providers.http import Http, HttpSettings
from chat.providers.known_models import checked_on, known_facts
from chat.providers.model_facts import ModelFacts
from chat.providers.model_list import read_models
from chat.providers.registry import Connection, connect_over_http
from chat.providers.retry import RetryPolicy
from chat.services.caller import Caller
from chat.services.catalog.new_chats import only_demo, slug_of, use_provider
from chat.services.upkeep.audit import Verb, audit

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
        extra_headers={
            name: text for name, text in provider.extra_headers.items() if not is_sealed(text)
        },
        extra_body=with_extra(provider.extra_body, model.extra_body if model else {}),
        command=_command_of(provider) if provider.kind == Provider.Kind.CLAUDE_CODE else None,
    )


def _command_of(provider: Provider) -> CommandLine:
    return CommandLine(
        path=provider.program,
        folders=settings.PARLEY_CLAUDE_CODE,
        arguments=tuple(map(str, provider.program_arguments or ())),
        permission_mode=provider.permission_mode,
        allowed_tools=tuple(map(str, provider.allowed_tools or ())),
    )


def program_version(provider: Provider) -> str:
    """What the program of a provider says of its version; a fault raises `ProviderError`."""
    return async_to_sync(read_version)(_command_of(provider))


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
    moved = before is not None and is_another_server(before, provider.base_url)
    if before is None or new_key or forget_key or moved:
        provider.api_key = new_key
        provider.save()
        return moved and not new_key and not forget_key
    columns = (field.name for field in provider._meta.concrete_fields if not field.primary_key)
    provider.save(update_fields=[name for name in columns if name != "api_key"])
    return False


def is_another_server(before: str, after: str) -> bool:
    """Whether what is secret of one address must not be sent to the other, which may be none."""
    try:
        one, other = urlsplit(before), urlsplit(after)
    except ValueError:
        return True
    return (one.scheme, one.netloc) != (other.scheme, other.netloc)


def list_models(provider: Provider, caller: Caller | None = None) -> Listed:
    """Ask a provider for its models and keep them; a fault raises `ProviderError`. Where only the
    demo was there before, agents answer with one of them."""
    if provider.kind == Provider.Kind.DEMO:
        return Listed(tuple(provider.models.values_list("model_id", flat=True)), added=0)
    if provider.kind == Provider.Kind.CLAUDE_CODE:
        # It has no list; these names always stand for its latest models.
        return _keep(provider, CLAUDE_CODE_MODELS)
    facts = _ask(provider)
    first = only_demo()
    kept = _keep(provider, facts)
    if first:
        use_provider(provider, caller)
    return kept


def count_models(provider: Provider) -> int:
    """How many models a provider tells of now; nothing is kept. A fault raises `ProviderError`."""
    return len(_ask(provider))


def connect_provider(caller: Caller, provider: Provider, *, new_key: str = "") -> Listed:
    """Keep a provider once it has told its models. A fault raises `ProviderError`, and nothing
    is written: what does not work is corrected where it is entered."""
    if new_key:
        provider.api_key = new_key
    facts = _ask(provider)
    if not facts:
        raise ProviderError("error.chat_provider_no_models")
    with transaction.atomic():
        is_new = provider._state.adding
        save_provider(provider, new_key=new_key)
        audit(caller, Verb.ADD if is_new else Verb.KEY if new_key else Verb.CHANGE, provider)
        return _keep(provider, facts)


def _ask(provider: Provider) -> list[ModelFacts]:
    """Which models a provider has for chats, with all that is known of them."""
    listed = _without_dated(async_to_sync(_read)(connection_of(provider)))
    slug = slug_of(provider)
    facts = (fact.or_else(known_facts(fact.model_id, slug)) for fact in listed)
    return [fact for fact in facts if fact.chats is not False]


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
    "cache_write_price", "free",
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


def models_checked_on() -> date:
    """Of which day what is known of models is, where their provider says nothing of them."""
    return checked_on()


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
