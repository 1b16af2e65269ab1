"""The names that tools of MCP servers go by: `mcp__<server>__<tool>`."""

from typing import NamedTuple

_PREFIX = "mcp__"


class McpName(NamedTuple):
    server: str
    tool: str


def read_mcp_name(name: str) -> McpName | None:
    """Whose tool it is, and what it is called there; None where a name is of another form."""
    if not name.startswith(_PREFIX):
        return None
    server, _, tool = name.removeprefix(_PREFIX).partition("__")
    return McpName(server, tool) if server and tool else None


def plain_name(name: str) -> str:
    """A tool's name for people: `github · create_issue`; any other name is as it is."""
    found = read_mcp_name(name)
    return f"{found.server} · {found.tool}" if found else name
