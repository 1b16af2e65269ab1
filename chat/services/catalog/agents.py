"""Agents: a copy to change, and putting one away without losing its conversations."""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction

from chat.models import Agent
from chat.services.caller import Caller
from chat.services.upkeep.audit import Verb, audit

# What a copy has of its own.
_OWN = ("id", "is_default", "enabled")
_LONGEST_NAME = 100


@transaction.atomic
def duplicate_agent(caller: Caller, agent: Agent, mark: str) -> Agent:
    """A copy with its examples, switched off until somebody has changed it. `mark` tells its
    name from that of the first, such as "copy"."""
    columns = (field.attname for field in agent._meta.concrete_fields)
    values = {name: getattr(agent, name) for name in columns if name not in _OWN}
    for name in [name for name in values if name.startswith("name_")]:
        # A language without a name keeps none: then the other is shown.
        values[name] = _copied_name(values[name], mark) if values[name] else values[name]
    values.pop("name", None)
    copy = Agent.objects.create(**values, enabled=False)
    copy.groups.set(agent.groups.all())
    for example in agent.examples.all():
        example.pk = None
        example._state.adding = True
        example.agent = copy
        example.id = example._meta.pk.get_default()
        example.save(force_insert=True)
    audit(caller, Verb.ADD, copy)
    return copy


def _copied_name(name: str, mark: str) -> str:
    end = f" ({mark})"
    return f"{name[: _LONGEST_NAME - len(end)]}{end}"


@transaction.atomic
def archive_agents(caller: Caller, agents: Iterable[UUID], *, archived: bool) -> int:
    """Switch these agents off, or on again; how many were. The default one stays: new chats
    would have nobody."""
    rows = Agent.objects.filter(pk__in=list(agents), enabled=archived)
    changed = list(rows.exclude(is_default=True) if archived else rows)
    for agent in changed:
        agent.enabled = not archived
        agent.save(update_fields=["enabled"])
        audit(caller, Verb.CHANGE, agent, details={"fields": ["enabled"]})
    return len(changed)
