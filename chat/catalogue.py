"""The tools, agents and models there are, read once for a page in three queries."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from chat.models import Agent, LanguageModel, Provider, ToolSetting
from chat.rendering.reader import Names


class KnownModel(NamedTuple):
    """Plain columns: a provider may list hundreds of models."""

    id: UUID
    provider_id: UUID
    model_id: str
    label: str
    usable: bool
    demo: bool

    @property
    def name(self) -> str:
        return self.label or self.model_id


@dataclass(frozen=True, slots=True)
class Catalogue:
    tools: tuple[ToolSetting, ...] = ()
    agents: tuple[Agent, ...] = ()
    models: tuple[KnownModel, ...] = ()

    def agent(self, agent_id: UUID | None) -> Agent | None:
        """This one, or the default."""
        own = (agent for agent in self.agents if agent.pk == agent_id)
        default = (agent for agent in self.agents if agent.is_default)
        return next(own, None) or next(default, None)

    def names(self) -> Names:
        """What everything is called in the language now spoken."""
        return Names(
            tools={row.tool: row.name or row.tool for row in self.tools},
            agents={row.key: row.name for row in self.agents},
            models={f"{row.provider_id}/{row.model_id}": row.name for row in self.models},
            demo_providers=frozenset(str(row.provider_id) for row in self.models if row.demo),
        )


def read_catalogue() -> Catalogue:
    columns = ("pk", "provider_id", "model_id", "label", "enabled")
    models = LanguageModel.objects.values_list(*columns, "provider__enabled", "provider__kind")
    return Catalogue(
        tools=tuple(ToolSetting.objects.all()),
        agents=tuple(Agent.objects.all()),
        models=tuple(_known(*row) for row in models),
    )


def _known(
    pk: UUID,
    provider_id: UUID,
    model_id: str,
    label: str,
    enabled: bool,
    provider_enabled: bool,
    kind: str,
) -> KnownModel:
    usable = enabled and provider_enabled
    return KnownModel(pk, provider_id, model_id, label, usable, kind == Provider.Kind.DEMO)
