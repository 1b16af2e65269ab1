"""What somebody picks for a conversation: who answers, how hard it thinks, with which tools."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from chat.models import Conversation
from chat.protocol.effort import AUTO, STEPS, Effort
from chat.services.catalog.known import Catalog

_NO_TOOLS: Final[Mapping[str, bool]] = MappingProxyType({})


class Picks(NamedTuple):
    """What is picked; what is empty, or not named, stays as it is."""

    agent_id: str = ""
    model_id: str = ""
    effort: Effort = ""
    # Of each tool that is named whether it is on.
    tools: Mapping[str, bool] = _NO_TOOLS


def apply_picks(conversation: Conversation, catalog: Catalog, picks: Picks) -> None:
    """Set what was picked in a conversation, whose row is not saved here. What cannot be used
    stays as it is, and what this person may not use is refused."""
    conversation.agent_id = catalog.picked_agent(picks.agent_id) or conversation.agent_id
    conversation.model_id = catalog.asked_model(picks.model_id) or conversation.model_id
    conversation.effort = _picked_effort(conversation, catalog, picks.effort)
    conversation.tools_off = catalog.switched(conversation.tools_off or (), picks.tools)


def _picked_effort(conversation: Conversation, catalog: Catalog, picked: Effort) -> Effort:
    """A page shows the nearest step that its model has, and a form sends what is shown: whoever
    sends just that back has not picked it, and what they want is kept for a model that has it."""
    agent = catalog.agent(conversation.agent_id)
    model = catalog.model(conversation.model_id or (agent.model_id if agent else None))
    if agent is None or model is None:
        return conversation.effort
    shown = model.effort_for(conversation.effort or agent.effort) or AUTO
    exists = picked in (AUTO, *STEPS, *model.choice.thinking.efforts)
    return picked if exists and picked != shown else conversation.effort
