"""The catalog in memory: the agents, models and tools there are, as values.

A turn would read five tables for it, and they hardly ever change. The database itself gives the
catalog another stamp with every change of theirs, whoever makes it and in whatever way (the
triggers of `migrations/0003_catalog_stamp.py`); who uses the catalog reads the stamp first.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import get_args
from uuid import UUID

from django.conf import settings
from django.utils import translation
from modeltranslation.utils import get_language

from chat.engine.files import AcceptedFiles, accepted_after
from chat.engine.tool_style import Setting
from chat.engine.usage import Prices, Rates
from chat.models import Agent, Example, LanguageModel, Provider, ToolSetting
from chat.protocol.adjustments import Adjustments, has
from chat.protocol.effort import Effort, Thinking, ThinkingForm, in_order
from chat.protocol.errors import ChatError
from chat.protocol.files import IMAGES
from chat.protocol.ids import is_uuid
from chat.protocol.interfaces import SearchEngine
from chat.protocol.messages import ModelRef
from chat.protocol.server_tools import ServerTool, known_server_tools
from chat.providers.known_models import known_facts
from chat.providers.presets import IMAGES_OF, carries_pdf, takes_pdf
from chat.providers.registry import Connection
from chat.services import statements
from chat.services.catalog.adjustments import adjustments_of, window_of
from chat.services.catalog.providers import connection_of
from chat.services.catalog.search_engines import engine_in_use
from chat.services.catalog.tools import own_settings
from chat.services.usage.budgets import KnownBudget, read_budgets
from chat.tools.registry import ToolLimits

# A text in every language we speak.
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model, and the way to the place that serves it."""

    ref: ModelRef
    connection: Connection
    prices: Prices
    # The limit of answers that somebody has set, and the longest that it can write.
    output_limit: int | None = None
    longest_output: int | None = None
    context_window: int | None = None
    accepted_files: AcceptedFiles = field(default_factory=AcceptedFiles)
    # Nothing where that is not known.
    thinks: bool | None = None
    # How it is asked otherwise since its server has refused something.
    adjustments: Adjustments = ()
    # What can be chosen of its thinking.
    thinking: Thinking = field(default_factory=Thinking)
    # What its provider may run itself.
    server_tools: tuple[ServerTool, ...] = ()

    @property
    def runs_here(self) -> bool:
        """Whether it is a program of this machine, which no other can go on with."""
        return self.connection.kind == Provider.Kind.CLAUDE_CODE


@dataclass(frozen=True, slots=True)
class KnownModel:
    id: UUID
    name: str
    enabled: bool
    provider_names: Texts
    provider_enabled: bool
    # How tools are offered: whether it takes them natively, and what is set for its provider.
    native_tools: bool
    tool_style: Setting
    choice: ModelChoice
    reasoning: bool = False
    vision: bool = False
    # The day from which its provider no longer serves it.
    retires_on: date | None = None
    # Whether its price of 0 is its price.
    free: bool = False
    # Whether whoever looks may use it: see `permissions.py`.
    permitted: bool = True

    @property
    def kind(self) -> str:
        return self.choice.connection.kind

    def effort_for(self, wanted: Effort) -> Effort:
        """How hard this model thinks when so much is wanted of it; empty leaves it to the model."""
        return self.choice.thinking.nearest(wanted)

    @property
    def usable(self) -> bool:
        return self.enabled and self.provider_enabled and self.permitted

    @property
    def restricted(self) -> bool:
        """Whether only those may use it to whom an administrator has given the permission."""
        return self.kind == Provider.Kind.CLAUDE_CODE

    @property
    def runs_its_tools(self) -> bool:
        """Whether it has tools of its own, and takes none of ours."""
        return self.kind == Provider.Kind.CLAUDE_CODE

    @property
    def demo(self) -> bool:
        return self.kind == Provider.Kind.DEMO


@dataclass(frozen=True, slots=True)
class KnownExample:
    """Something to ask an agent first."""

    icon: str
    titles: Texts
    texts: Texts


@dataclass(frozen=True, slots=True)
class KnownAgent:
    id: UUID
    # The name that is saved with messages, in no reader's language.
    key: str
    names: Texts
    descriptions: Texts
    prompts: Texts
    model_id: UUID | None
    tools: tuple[str, ...]
    temperature: float | None
    effort: Effort
    max_steps: int
    tool_style: Setting
    unwatched: str
    enabled: bool
    is_default: bool
    examples: tuple[KnownExample, ...] = ()
    # Who may use it: everybody, or the members of these groups.
    for_everybody: bool = True
    groups: frozenset[int] = frozenset()
    # Whether the person for whom the catalog is may use it.
    permitted: bool = True

    @property
    def usable(self) -> bool:
        return self.enabled and self.permitted

    def is_for(self, groups: Collection[int]) -> bool:
        """Whether members of these groups may use it."""
        return self.for_everybody or not self.groups.isdisjoint(groups)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All there is to choose from, at one moment."""

    stamp: str
    agents: Mapping[UUID, KnownAgent]
    models: Mapping[UUID, KnownModel]
    # What tools are called, where somebody has named them, and those that nobody may use.
    tool_names: Mapping[str, Texts]
    switched_off: frozenset[str]
    search_engine: SearchEngine = field(default_factory=SearchEngine)
    # What people may use; nobody is limited where there are none.
    budgets: tuple[KnownBudget, ...] = ()
    # Whether there are models that not everybody may use.
    has_restricted: bool = False
    # What somebody has set for tools instead of their own limits.
    tool_limits: Mapping[str, ToolLimits] = field(default_factory=dict)

    @property
    def has_groups(self) -> bool:
        """Whether there are agents that not everybody may use."""
        return not all(agent.for_everybody for agent in self.agents.values())

    def for_groups(self, groups: Collection[int]) -> "Catalog":
        """The same for somebody in these groups."""
        agents = {
            key: replace(agent, permitted=agent.is_for(groups))
            for key, agent in self.agents.items()
        }
        return replace(self, agents=agents)

    def without_restricted(self) -> "Catalog":
        """The same for somebody who may not use what is restricted."""
        models = {
            key: replace(model, permitted=False) if model.restricted else model
            for key, model in self.models.items()
        }
        return replace(self, models=models)

    def agent(self, agent_id: UUID | None) -> KnownAgent | None:
        """This one; the default where none is named."""
        if agent_id is not None:
            return self.agents.get(agent_id)
        return next((agent for agent in self.agents.values() if agent.is_default), None)

    def model(self, model_id: UUID | None) -> KnownModel | None:
        return self.models.get(model_id) if model_id else None

    def picked_agent(self, agent_id: str) -> UUID | None:
        """What somebody has picked by its id, if it can be used."""
        agent = self.agents.get(UUID(agent_id)) if is_uuid(agent_id) else None
        return agent.id if agent and agent.usable else None

    def picked_model(self, model_id: str) -> UUID | None:
        model = self.models.get(UUID(model_id)) if is_uuid(model_id) else None
        return model.id if model and model.usable else None

    def asked_model(self, model_id: str) -> UUID | None:
        """The same, but one that is there and not permitted is refused."""
        model = self.models.get(UUID(model_id)) if is_uuid(model_id) else None
        if model and not model.permitted:
            raise ChatError("error.chat_model_not_permitted")
        return self.picked_model(model_id)

    def allowed_tools(self, agent: KnownAgent) -> tuple[str, ...]:
        return tuple(tool for tool in agent.tools if tool not in self.switched_off)

    @property
    def offered_tools(self) -> frozenset[str]:
        """What some agent may use."""
        return frozenset(
            tool
            for agent in self.agents.values()
            if agent.enabled
            for tool in self.allowed_tools(agent)
        )

    def switched(self, off: Iterable[str], tools: Mapping[str, bool]) -> list[str] | None:
        """What is off in a conversation once these tools are switched on or off there; a tool
        that no agent may use cannot be switched."""
        known = self.offered_tools
        changed = {tool: on for tool, on in tools.items() if tool in known}
        kept = {tool for tool in off if tool not in changed}
        return sorted(kept | {tool for tool, on in changed.items() if not on}) or None

    def answers(self, agent: KnownAgent) -> bool:
        """Whether it has a model that is switched on. One without any answers with what people
        choose; the default has to have one."""
        if agent.model_id is None:
            return not agent.is_default
        model = self.model(agent.model_id)
        return model is not None and model.usable

    @property
    def only_demo(self) -> bool:
        """Whether nothing but the demo model can answer everybody."""
        usable = (model for model in self.models.values() if model.usable)
        return all(model.demo or model.restricted for model in usable)


def spoken(texts: Texts, language: str = "") -> str:
    """A text in a language, or in the one that is spoken now."""
    return texts.get(language or get_language(), texts[settings.MODELTRANSLATION_DEFAULT_LANGUAGE])


_catalog: Catalog | None = None


def current_catalog(stamp: str | None = None) -> Catalog:
    """The catalog as it is now; whoever has read its stamp already says so."""
    global _catalog
    if stamp is None:
        stamp = statements.catalog_stamp()
    known = _catalog
    if known is None or not stamp or known.stamp != stamp:
        known = _catalog = _read()
    return known


def _read() -> Catalog:
    # The stamp first: what changes while the rows are read changes it once more.
    stamp = statements.catalog_stamp()
    tools = list(ToolSetting.objects.all())
    rows = LanguageModel.objects.select_related("provider").prefetch_related("adjustments")
    models = {row.pk: _model(row) for row in rows}
    agents = Agent.objects.prefetch_related("examples", "groups")
    return Catalog(
        stamp=stamp,
        agents={row.pk: _agent(row) for row in agents},
        models=models,
        tool_names={row.tool: _texts(row, "name") for row in tools},
        switched_off=frozenset(row.tool for row in tools if not row.enabled),
        search_engine=engine_in_use(),
        has_restricted=any(model.restricted for model in models.values()),
        budgets=read_budgets(),
        tool_limits={
            row.tool: ToolLimits(row.timeout, row.output_limit, own_settings(row))
            for row in tools
            if row.timeout or row.output_limit or row.own
        },
    )


def _texts(row: Agent | Example | Provider | ToolSetting, column: str) -> Texts:
    texts = {}
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            texts[language] = getattr(row, column) or ""
    return texts


def _agent(row: Agent) -> KnownAgent:
    return KnownAgent(
        id=row.pk,
        key=row.key,
        names=_texts(row, "name"),
        descriptions=_texts(row, "description"),
        prompts=_texts(row, "system_prompt"),
        model_id=row.model_id,
        tools=tuple(row.tools),
        temperature=row.temperature,
        effort=row.effort,
        max_steps=row.max_steps,
        tool_style=_setting(row.tool_style),
        unwatched=row.unwatched,
        enabled=row.enabled,
        is_default=row.is_default,
        examples=tuple(
            KnownExample(each.icon, _texts(each, "title"), _texts(each, "text"))
            for each in row.examples.all()
        ),
        for_everybody=row.for_everybody,
        groups=frozenset(group.pk for group in row.groups.all()),
    )


def _model(row: LanguageModel) -> KnownModel:
    adjustments = adjustments_of(row)
    return KnownModel(
        id=row.pk,
        name=row.label or row.model_id,
        enabled=row.enabled,
        provider_names=_texts(row.provider, "name"),
        provider_enabled=row.provider.enabled,
        native_tools=row.native_tools and not has(adjustments, "tools"),
        tool_style=_setting(row.provider.tool_style),
        choice=_choice(row, adjustments),
        reasoning=row.reasoning,
        vision=row.vision and not has(adjustments, "images"),
        retires_on=row.retires_on,
        free=row.free,
    )


def choice_of(row: LanguageModel) -> ModelChoice:
    """How one model is asked, read from its rows."""
    return _choice(row, adjustments_of(row))


def _choice(row: LanguageModel, adjustments: Adjustments) -> ModelChoice:
    rates = Rates(
        input=row.input_price,
        output=row.output_price,
        cache_read=row.cache_read_price,
        cache_write=row.cache_write_price,
    )
    return ModelChoice(
        ref=ModelRef(provider_id=str(row.provider_id), model_id=row.model_id),
        connection=connection_of(row.provider, row),
        # What a run of Claude Code costs it says itself, for all its steps together.
        prices=Prices() if row.provider.kind == Provider.Kind.CLAUDE_CODE else Prices(rates),
        output_limit=row.output_limit,
        longest_output=row.max_output,
        context_window=window_of(row.context_window, adjustments),
        accepted_files=accepted_after(_accepted_files(row), adjustments),
        adjustments=adjustments,
        thinks=_thinks(row),
        thinking=Thinking(in_order(row.efforts or ()), _form(row.thinking)),
        server_tools=known_server_tools(row.server_tools),
    )


def _accepted_files(row: LanguageModel) -> AcceptedFiles:
    """Which files go to a model: those that it takes, as far as its wire carries them."""
    wire = row.provider.kind
    images = IMAGES_OF.get(wire, IMAGES) if row.vision else ()
    usual = row.vision and takes_pdf(wire, row.provider.base_url)
    pdf = carries_pdf(wire) and (usual if row.documents is None else row.documents)
    return AcceptedFiles(images=images, pdf=pdf)


def _thinks(row: LanguageModel) -> bool | None:
    if row.reasoning or "reasoning" in row.set_by_hand:
        return row.reasoning
    # A list may say nothing of it: then the row says no as well.
    return False if known_facts(row.model_id).reasoning is False else None


def _form(value: str) -> ThinkingForm:
    forms: tuple[ThinkingForm, ...] = get_args(ThinkingForm)
    return forms[forms.index(value)] if value in forms else ""


def _setting(value: str) -> Setting:
    return "json" if value == "json" else "xml" if value == "xml" else "auto"
