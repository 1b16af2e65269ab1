"""How one person wants it, and which tools this installation lets its agents use."""

from collections.abc import Collection, Mapping
from typing import Any

from django.db import transaction

from chat.models import Agent, Profile, ToolSetting


def prefer(user_id: int, **wishes: Any) -> None:
    """Keep some of a person's wishes; the others stay."""
    Profile.objects.update_or_create(user_id=user_id, defaults=wishes)


@transaction.atomic
def switch_tools(tools: Collection[str], on: Collection[str]) -> None:
    """Of these tools, switch the ones named on and the others off, for everybody."""
    known = {row.tool: row for row in ToolSetting.objects.filter(tool__in=tools)}
    for tool in tools:
        row = known.get(tool) or ToolSetting(tool=tool)
        if row._state.adding or row.enabled != (tool in on):
            row.enabled = tool in on
            row.save()


@transaction.atomic
def allow_tools(tools: Collection[str], allowed: Mapping[str, Collection[str]]) -> None:
    """Which of these tools each agent may use; what else an agent is allowed stays."""
    for agent in Agent.objects.filter(pk__in=allowed).select_for_update():
        others = [tool for tool in agent.tools if tool not in tools]
        wanted = [tool for tool in tools if tool in allowed[str(agent.pk)]] + others
        if set(wanted) != set(agent.tools):
            agent.tools = wanted
            agent.save(update_fields=["tools"])
