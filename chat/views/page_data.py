"""Rows and values → the plain values that pages are drawn from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, groupby
from math import ceil
from typing import Any
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from chat import services
from chat.formats.search_filters import Filters
from chat.models import Conversation
from chat.protocol.effort import AUTO, STEPS, in_order
from chat.protocol.transcript import Chosen, Transcript
from chat.rendering.efforts import effort_text
from chat.rendering.page import times
from chat.rendering.page.dom import message_id
from chat.rendering.page.introduction import Example, Introduction
from chat.rendering.page.models import ModelEntry, ModelGroup
from chat.rendering.page.pages import (
    Choice,
    ConversationPage,
    ToolChoice,
    Uploads,
)
from chat.rendering.page.search import FoundEntry, FoundPage
from chat.rendering.reader import Names, Reader
from chat.services import Caller, Catalog, Found, KnownAgent, KnownModel, spoken
from chat.tools import registry

# By language: the names in the catalog with this stamp. Not the catalog itself, which holds keys.
_named: dict[str, tuple[str, Names]] = {}


def names_in(catalog: Catalog, language: str) -> Names:
    """What everything is called in a language."""
    stamp, names = _named.get(language, ("", Names()))
    if not stamp or stamp != catalog.stamp:
        with translation.override(language):
            names = _names(catalog)
        _named[language] = catalog.stamp, names
    return names


def _names(catalog: Catalog) -> Names:
    models = catalog.models.values()
    return Names(
        tools={tool: spoken(names) or tool for tool, names in catalog.tool_names.items()},
        icons={tool.name: tool.icon for tool in registry},
        agents={agent.key: spoken(agent.names) for agent in catalog.agents.values()},
        models={
            f"{model.choice.ref.provider_id}/{model.choice.ref.model_id}": model.name
            for model in models
        },
        providers={model.choice.ref.provider_id: spoken(model.provider_names) for model in models},
        demo_providers=frozenset(model.choice.ref.provider_id for model in models if model.demo),
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody searches for, and which page of it."""

    words: str = ""
    filters: Filters = field(default_factory=Filters)
    page: int = 1


def found_page(caller: Caller, asked: Asked, reader: Reader, current: str = "") -> FoundPage:
    """What is found, with the way to more of it."""
    now = times.local(reader.now)
    results = services.search(caller, asked.words, asked.page, asked.filters, now)
    values = {"q": asked.words, **asked.filters.values()}
    more = f"{urlencode(values)}&page={results.next_page}" if results.next_page else ""
    return FoundPage(
        count=results.count,
        filtered=bool(asked.filters.values()),
        entries=tuple(
            FoundEntry(
                url=_found_url(found),
                title=found.title,
                snippet=found.snippet,
                when=times.moment(services.ms(found.when), reader.now),
                current=found.id == current,
            )
            for found in results.found
        ),
        more=f"{reverse('chat:search')}?{more}" if more else "",
        more_page=f"{reverse('chat:home')}?{more}" if more else "",
    )


def _found_url(found: Found) -> str:
    """The message that was found; one that is far up among those around it."""
    url = reverse("chat:conversation", args=[found.id])
    if found.position is None:
        return url
    if found.last_position - found.position >= services.PAGE:
        url += f"?at={found.position}"
    return f"{url}#{message_id(found.position)}"


def conversation_page(
    conversation: Conversation, transcript: Transcript, catalog: Catalog, **extra: Any
) -> ConversationPage:
    """A conversation's page; `extra` is a draft, or toasts to show."""
    agent = catalog.agent(conversation.agent_id) or catalog.agent(None)
    model_id = conversation.model_id or (agent.model_id if agent else None)
    shown = [message.info.position for message in transcript.messages]
    return ConversationPage(
        id=str(conversation.pk),
        title=transcript.title,
        rev=transcript.rev,
        messages=transcript.messages,
        running=transcript.running,
        retry=transcript.retry,
        archived=conversation.archived_at is not None,
        agents=agent_choices(catalog, agent),
        models=model_choices(catalog, model_id),
        efforts=effort_choices(catalog, agent, model_id, transcript.chosen.effort),
        tools=tool_choices(catalog, agent, transcript.chosen.tools_off),
        chosen=transcript.chosen,
        queue=transcript.queue,
        held=transcript.held,
        older_before=shown[0] if shown and transcript.older else None,
        newer_after=shown[-1] if shown and transcript.newer else None,
        uploads=_uploads(),
        limited=bool(catalog.budgets),
        temporary=transcript.temporary,
        minutes=ceil(settings.PARLEY_LIMITS["lost_seconds"] / 60),
        **extra,
    )


def empty_page(
    reader: Reader, catalog: Catalog, tools_off: Iterable[str] = (), **extra: Any
) -> ConversationPage:
    """A new chat: a greeting, and what it could be about."""
    agent = catalog.agent(catalog.picked_agent(reader.agent))
    model = catalog.picked_model(reader.model) or (agent.model_id if agent else None)
    connect = reader.is_staff and catalog.only_demo
    return ConversationPage(
        introduction=introduction(catalog, agent) if agent else Introduction(),
        agents=agent_choices(catalog, agent),
        models=model_choices(catalog, model),
        efforts=effort_choices(catalog, agent, model, reader.effort),
        chosen=Chosen(effort=reader.effort),
        tools=tool_choices(catalog, agent, tools_off),
        connect_url=reverse("admin:connect") if connect else "",
        uploads=_uploads(),
        limited=bool(catalog.budgets),
        **extra,
    )


def _uploads() -> Uploads:
    limits = settings.PARLEY_LIMITS
    return Uploads(
        limits["uploads_per_message"], limits["upload_bytes"], limits["upload_text_bytes"]
    )


def introduction(catalog: Catalog, agent: KnownAgent) -> Introduction:
    """What an agent can do, in the words it was given or else by its tools, and its examples."""
    abilities = spoken(agent.descriptions) or _tools_text(catalog, agent)
    return Introduction(str(agent.id), abilities, _examples(agent))


def _tools_text(catalog: Catalog, agent: KnownAgent) -> str:
    tools = [tool.label for tool in tool_choices(catalog, agent) if tool.allowed]
    if not tools:
        return _("%(agent)s answers without tools.") % {"agent": spoken(agent.names)}
    # Translators: what stands between the names of tools.
    names = _(", ").join(tools)
    return _("%(agent)s can use: %(tools)s.") % {"agent": spoken(agent.names), "tools": names}


def _examples(agent: KnownAgent) -> tuple[Example, ...]:
    """What this agent can be asked first; what has no words in any language is left out."""
    all_ = (Example(each.icon, spoken(each.titles), spoken(each.texts)) for each in agent.examples)
    return tuple(each for each in all_ if each.text)


def agent_choices(catalog: Catalog, selected: KnownAgent | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            str(agent.id),
            spoken(agent.names),
            selected=agent == selected,
            model=str(agent.model_id or ""),
            effort=agent.effort,
        )
        for agent in sorted(catalog.agents.values(), key=lambda agent: spoken(agent.names))
        if agent.usable
    )


def model_choices(catalog: Catalog, chosen: UUID | None) -> tuple[Choice, ...]:
    return tuple(
        Choice(
            str(model.id),
            model.name,
            selected=model.id == chosen,
            demo=model.demo,
            takes=model.choice.accepted_files.mimes,
            most_bytes=model.choice.accepted_files.max_file,
            efforts=model.choice.thinking.efforts,
        )
        for model in sorted(catalog.models.values(), key=_place)
        if model.usable
    )


def effort_choices(
    catalog: Catalog, agent: KnownAgent | None, model_id: UUID | None, wanted: str
) -> tuple[Choice, ...]:
    """Every step that some model has, and all that are known: the distance between two counts.
    Selected is the one of this model that is nearest to what is wanted."""
    has = [model.choice.thinking.efforts for model in catalog.models.values() if model.usable]
    if not any(has):
        return ()
    model = catalog.model(model_id)
    own = model.choice.thinking.efforts if model and model.usable else ()
    selected = ""
    if own and model:
        selected = model.effort_for(wanted or (agent.effort if agent else "")) or AUTO
    return tuple(
        Choice(step, effort_text(step), selected=step == selected, offered=step in (AUTO, *own))
        for step in (AUTO, *in_order((*STEPS, *chain(*has))))
    )


def _place(model: KnownModel) -> tuple[bool, str, str]:
    """By provider, the demo last."""
    return model.demo, spoken(model.provider_names), model.choice.ref.model_id


def tool_choices(
    catalog: Catalog, agent: KnownAgent | None, off: Iterable[str] = ()
) -> tuple[ToolChoice, ...]:
    """The tools that some agent may use; those of this one can be switched."""
    names = catalog.tool_names
    used = {each.id: catalog.allowed_tools(each) for each in catalog.agents.values()}
    return tuple(
        ToolChoice(
            value=tool.name,
            label=spoken(names[tool.name]) if tool.name in names else tool.name,
            icon=tool.icon,
            agents=" ".join(str(key) for key, tools in used.items() if tool.name in tools),
            allowed=agent is not None and tool.name in used[agent.id],
            on=tool.name not in off,
        )
        for tool in registry
        if tool.name in catalog.offered_tools
    )


def model_groups(catalog: Catalog, favourites: Sequence[str]) -> list[ModelGroup]:
    """One's favourites, then all others by provider."""
    entries = {
        str(model.id): _model_entry(model, str(model.id) in favourites)
        for model in sorted(catalog.models.values(), key=_place)
        if model.usable
    }
    first = tuple(entries[key] for key in favourites if key in entries)
    rest = (entry for entry in entries.values() if not entry.favourite)
    by_provider = groupby(rest, lambda entry: entry.provider)
    return [
        ModelGroup(_("Favourites"), first, favourites=True),
        *(ModelGroup(provider, tuple(models)) for provider, models in by_provider),
    ]


def _model_entry(model: KnownModel, favourite: bool) -> ModelEntry:
    rates = model.choice.prices.rates
    return ModelEntry(
        value=str(model.id),
        name=model.name,
        model_id=model.choice.ref.model_id,
        provider=spoken(model.provider_names),
        tools=model.native_tools,
        thinks=model.reasoning,
        sees=model.vision,
        window=model.choice.context_window,
        input_price=rates.input,
        output_price=rates.output,
        demo=model.demo,
        favourite=favourite,
        retires_on=model.retires_on,
        free=model.free,
    )
