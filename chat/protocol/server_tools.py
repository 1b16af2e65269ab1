"""Tools that a provider runs itself, inside its answer, where an administrator allows them."""

from typing import Final, Literal, get_args

ServerTool = Literal["web_search", "web_fetch", "code_execution"]

# Those that look something up: a call changes nothing, and what it returns was found elsewhere.
LOOKING: Final[frozenset[str]] = frozenset({"web_search", "web_fetch"})
SERVER_TOOLS: Final[tuple[ServerTool, ...]] = get_args(ServerTool)


def known_server_tools(names: object) -> tuple[ServerTool, ...]:
    """Those of these names that there are, in their order."""
    given = names if isinstance(names, list | tuple) else ()
    return tuple(tool for tool in SERVER_TOOLS if tool in given)
