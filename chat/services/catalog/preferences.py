"""What people set for themselves, and which tools this installation lets its agents use."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from chat.models import Agent, Conversation, Profile, ToolSetting
from chat.protocol.effort import AUTO, Effort
from chat.services.caller import Caller
from chat.services.catalog.known import Catalog
from chat.services.catalog.permissions import catalog_for
from chat.services.upkeep.audit import Verb, audit


def save_preferences(caller: Caller, **changes: Any) -> None:
    """Change some of a person's preferences; the others stay."""
    Profile.objects.update_or_create(user_id=caller.user_id, defaults=changes)


def remember_choice(caller: Caller, catalog: Catalog, conversation: Conversation) -> None:
    """Keep for new chats who was chosen to answer, and how hard it shall think. What anybody would
    get is not kept: whoever never chose otherwise gets what the administrators choose next."""
    agent = catalog.agent(conversation.agent_id)
    if agent is None:
        return
    model_id, effort = conversation.model_id, conversation.effort
    last: dict[str, UUID | str | None] = {
        "agent_id": None if agent.is_default else agent.id,
        "model_id": None if model_id == agent.model_id else model_id,
    }
    if effort:
        last["effort"] = "" if effort == (agent.effort or AUTO) else effort
    known = Profile.objects.filter(user_id=caller.user_id).update(**last)
    if not known and any(last.values()):
        save_preferences(caller, **last)


def last_effort(caller: Caller) -> Effort:
    """How hard the model of a new chat shall think: as this person chose last."""
    kept = Profile.objects.filter(user_id=caller.user_id).values_list("effort", flat=True)
    return kept.first() or ""


def favourite_models(caller: Caller) -> list[str]:
    """The models that a person wants to see first, by id, in the order they were added."""
    kept = Profile.objects.filter(user_id=caller.user_id).values_list("favourites", flat=True)
    return list(kept.first() or [])


@transaction.atomic
def set_favourite(caller: Caller, model_id: str, is_favourite: bool) -> None:
    """List a model first, or no longer. What cannot be used is not added, and what is no longer
    there is left out."""
    profile, _ = Profile.objects.select_for_update().get_or_create(user_id=caller.user_id)
    catalog = catalog_for(caller)
    wanted = [key for key in profile.favourites or [] if key != model_id]
    wanted += [model_id] if is_favourite else []
    profile.favourites = [key for key in wanted if catalog.picked_model(key)] or None
    profile.save(update_fields=["favourites"])


@transaction.atomic
def switch_tools(caller: Caller, tools: Collection[str], on: Collection[str]) -> None:
    """Of these tools, switch the ones named on and the others off, for everybody."""
    known = {row.tool: row for row in ToolSetting.objects.filter(tool__in=tools)}
    for tool in tools:
        row = known.get(tool) or ToolSetting(tool=tool)
        changed = row.enabled != (tool in on)
        if row._state.adding or changed:
            row.enabled = tool in on
            row.save()
        if changed:
            audit(caller, Verb.CHANGE, row, details={"fields": ["enabled"]})


@transaction.atomic
def allow_tools(
    caller: Caller, tools: Collection[str], allowed: Mapping[str, Collection[str]]
) -> None:
    """Which of these tools each agent may use; what else an agent is allowed stays."""
    for agent in Agent.objects.filter(pk__in=allowed).select_for_update():
        others = [tool for tool in agent.tools if tool not in tools]
        wanted = [tool for tool in tools if tool in allowed[str(agent.pk)]] + others
        if set(wanted) != set(agent.tools):
            agent.tools = wanted
            agent.save(update_fields=["tools"])
            audit(caller, Verb.CHANGE, agent, details={"fields": ["tools"]})
