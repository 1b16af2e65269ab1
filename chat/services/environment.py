"""Providers that the environment names: made at the first start, left alone ever after."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.contrib.admin.models import DELETION, LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Q

from chat.models import Agent, LanguageModel, Provider
from chat.models.catalog import validate_base_url
from chat.protocol.errors import ProviderError
from chat.providers.presets import PRESETS, preset_at
from chat.services.providers import Listed, list_models

# Rows made here are known again by their id, whatever an administrator makes of them.
_IDS: Final = UUID("6f1d0f58-6a0c-5d0c-9a55-0d3f5e7a1c11")
_AT: Final = {preset.slug: preset.base_url for preset in PRESETS}

# Which model a new installation begins with: the first of these that the provider has.
_FAVOURITES: Final[dict[str, tuple[str, ...]]] = {
    "openai": (r"^gpt-5(\.\d+)?-mini$", r"^gpt-[\d.]+-mini$", r"^gpt-\d"),
    "anthropic": (r"sonnet",),
}
# When it cannot be asked.
_GUESSES: Final = {"openai": "gpt-5-mini", "anthropic": "claude-sonnet-4-5", "ollama": "llama3.2"}


@dataclass(frozen=True, slots=True)
class Named:
    """A provider as the environment describes it."""

    variable: str
    kind: str
    base_url: str
    api_key: str = field(default="", repr=False)

    @property
    def id(self) -> UUID:
        return uuid5(_IDS, self.variable.partition("_")[0])

    @property
    def name(self) -> str:
        return preset_at(self.base_url).name or urlsplit(self.base_url).netloc

    @property
    def slug(self) -> str:
        return "ollama" if self.kind == "ollama" else preset_at(self.base_url).slug


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a provider of the environment; `error` is why it could not be asked."""

    named: Named
    models: int = 0
    chosen: str = ""
    error: ProviderError | None = None
    # It is there already, with another address or key than the environment says.
    differs: bool = False
    # The address is none.
    invalid: bool = False


def connect_environment(environment: Mapping[str, str]) -> Iterator[Report]:
    """Make the providers that are named and not there yet; report what there is to tell."""
    wanted = environment.get("PARLEY_MODEL", "").strip()
    for named in providers_named(environment):
        report = _connect(named, wanted)
        if report is not None:
            yield report


def providers_named(environment: Mapping[str, str]) -> Iterator[Named]:
    def value(name: str) -> str:
        return environment.get(name, "").strip()

    if value("OPENAI_API_KEY") or value("OPENAI_BASE_URL"):
        address = value("OPENAI_BASE_URL") or _AT["openai"]
        variable = "OPENAI_API_KEY" if value("OPENAI_API_KEY") else "OPENAI_BASE_URL"
        yield Named(variable, "openai", address.rstrip("/"), value("OPENAI_API_KEY"))
    if value("ANTHROPIC_API_KEY"):
        # Anthropic's own programs say it without the version.
        address = value("ANTHROPIC_BASE_URL").rstrip("/").removesuffix("/v1")
        address = f"{address}/v1" if address else _AT["anthropic"]
        yield Named("ANTHROPIC_API_KEY", "anthropic", address, value("ANTHROPIC_API_KEY"))
    if value("OLLAMA_HOST"):
        yield Named("OLLAMA_HOST", "ollama", ollama_address(value("OLLAMA_HOST")))


def ollama_address(host: str) -> str:
    """Where Ollama is, from what it reads itself: a host, a port, or a whole address."""
    scheme, found, rest = host.rpartition("://")
    name, _, port = (rest if found else host).rstrip("/").rpartition(":")
    if not port.isdigit():
        name, port = (rest if found else host).rstrip("/"), ""
    # It listens everywhere; it is asked on this machine.
    name = "127.0.0.1" if name in ("", "0.0.0.0", "[::]") else name
    standard = {"http": "80", "https": "443"}.get(scheme, "11434")
    return f"{scheme or 'http'}://{name}:{port or standard}"


def _connect(named: Named, wanted: str) -> Report | None:
    try:
        validate_base_url(named.base_url)
    except ValidationError:
        return Report(named, invalid=True)
    there = Provider.objects.filter(
        Q(pk=named.id) | Q(kind=named.kind, base_url=named.base_url)
    ).first()
    if there is not None:
        same = (there.base_url, there.api_key) == (named.base_url, named.api_key)
        return None if same or there.pk != named.id else Report(named, differs=True)
    if LogEntry.objects.filter(object_id=str(named.id), action_flag=DELETION).exists():
        return None
    return _make(named, wanted)


def _make(named: Named, wanted: str) -> Report:
    provider = Provider.objects.create(
        pk=named.id,
        name_en=named.name,
        kind=named.kind,
        base_url=named.base_url,
        api_key=named.api_key,
    )
    error: ProviderError | None = None
    try:
        listed = list_models(provider)
    except ProviderError as fault:
        error, listed = fault, Listed((), added=0)
    chosen = _choose(named, listed.models, wanted, guess=error is not None)
    if chosen:
        model, _ = LanguageModel.objects.get_or_create(provider=provider, model_id=chosen)
        LanguageModel.objects.filter(pk=model.pk).update(enabled=True)
        use_instead_of_demo(model)
    return Report(named, models=len(listed.models), chosen=chosen, error=error)


def _choose(named: Named, models: tuple[str, ...], wanted: str, *, guess: bool) -> str:
    if wanted in models:
        return wanted
    for pattern in _FAVOURITES.get(named.slug, ()):
        for model in models:
            if re.search(pattern, model):
                return model
    if models or not guess:
        return models[0] if models else ""
    return wanted or _GUESSES.get(named.slug, "default")


def use_instead_of_demo(model: LanguageModel) -> None:
    """The default agent takes this model, unless somebody has given it another already."""
    Agent.objects.filter(is_default=True, model__provider__kind=Provider.Kind.DEMO).update(
        model=model
    )
