"""The settings page: which tools there are, and who may use them."""

from dataclasses import dataclass
from typing import Any

from chat.rendering.page.dom import IDS
from chat.rendering.reader import Reader


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool as this installation has it, in the reader's language."""

    tool: str
    name: str
    description: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class AgentColumn:
    id: str
    name: str
    tools: frozenset[str]


@dataclass(frozen=True, slots=True)
class Cell:
    """Whether one agent may use one tool."""

    agent: AgentColumn
    ticked: bool


def settings_context(
    reader: Reader,
    *,
    tools: tuple[ToolRow, ...],
    agents: tuple[AgentColumn, ...],
    may_switch: bool,
    saved: bool,
) -> dict[str, Any]:
    """All that `chat/settings.html` needs besides the form."""
    rows = [(tool, [Cell(agent, tool.tool in agent.tools) for agent in agents]) for tool in tools]
    return {
        "reader": reader,
        "ids": IDS,
        "tools": rows,
        "agents": agents,
        "may_switch": may_switch,
        "saved": saved,
    }
