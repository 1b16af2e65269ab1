"""Providers that environment variables name: made at the first start, not changed later."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from django.contrib.admin.models import DELETION, LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Q

from chat.models import LanguageModel, Provider
from chat.models.catalog import validate_base_url
from chat.protocol.errors import ProviderError
from chat.providers.known_models import guess_of
from chat.providers.presets import PRESETS, preset_at
from chat.services.catalog.new_chats import favourite, only_demo, use_instead_of_demo
from chat.services.catalog.providers import Listed, list_models

# Rows made here are recognised by their id, also when an administrator has changed them.
_IDS: Final = UUID("6f1d0f58-6a0c-5d0c-9a55-0d3f5e7a1c11")
_AT: Final = {preset.slug: preset.base_url for preset in PRESETS}


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
    """What was done for a named provider; `error` is why its models could not be listed."""

    named: Named
    models: int = 0
    chosen: str = ""
    error: ProviderError | None = None
    # It exists already, with another address or key than in the environment.
    differs: bool = False
    # The address is not a URL.
    invalid: bool = False


def connect_environment(environment: Mapping[str, str]) -> Iterator[Report]:
    """Make the named providers that do not exist yet; a report for each that needs one."""
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
        # Anthropic's own programs expect it without the version.
        address = value("ANTHROPIC_BASE_URL").rstrip("/").removesuffix("/v1")
        address = f"{address}/v1" if address else _AT["anthropic"]
        yield Named("ANTHROPIC_API_KEY", "anthropic", address, value("ANTHROPIC_API_KEY"))
    if value("OLLAMA_HOST"):
        yield Named("OLLAMA_HOST", "ollama", ollama_address(value("OLLAMA_HOST")))


def ollama_address(host: str) -> str:
    """The address of Ollama from its own variable, which is a host, a port, or an address."""
    scheme, has_scheme, rest = host.rpartition("://")
    name, _, port = (rest if has_scheme else host).rstrip("/").rpartition(":")
    if not port.isdigit():
        name, port = (rest if has_scheme else host).rstrip("/"), ""
    # Its server listens on all interfaces; we ask it on this machine.
    name = "127.0.0.1" if name in ("", "0.0.0.0", "[::]") else name
    standard = {"http": "80", "https": "443"}.get(scheme, "11434")
    return f"{scheme or 'http'}://{name}:{port or standard}"


def _connect(named: Named, wanted: str) -> Report | None:
    try:
        validate_base_url(named.base_url)
    except ValidationError:
        return Report(named, invalid=True)
    existing = Provider.objects.filter(
        Q(pk=named.id) | Q(kind=named.kind, base_url=named.base_url)
    ).first()
    if existing is not None:
        same = (existing.base_url, existing.api_key) == (named.base_url, named.api_key)
        return None if same or existing.pk != named.id else Report(named, differs=True)
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
    first = only_demo()
    error: ProviderError | None = None
    try:
        listed = list_models(provider)
    except ProviderError as fault:
        error, listed = fault, Listed((), added=0)
    chosen = _choose(named, listed.models, wanted, guess=error is not None)
    if chosen:
        model, _ = LanguageModel.objects.get_or_create(provider=provider, model_id=chosen)
        LanguageModel.objects.filter(pk=model.pk).update(enabled=True)
        if first:
            use_instead_of_demo(model)
    return Report(named, models=len(listed.models), chosen=chosen, error=error)


def _choose(named: Named, models: tuple[str, ...], wanted: str, *, guess: bool) -> str:
    if wanted in models:
        return wanted
    if models or not guess:
        return favourite(named.slug, models)
    return wanted or guess_of(named.slug) or "default"
