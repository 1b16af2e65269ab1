"""Tools that models may call. Importing this registers the ones that ship."""

from chat.tools import calculator, read_page, todo, web_search
from chat.tools.own_settings import OwnSettings
from chat.tools.registry import Registry, Tool, registry, tool

__all__ = [
    "OwnSettings",
    "Registry",
    "Tool",
    "calculator",
    "read_page",
    "registry",
    "todo",
    "tool",
    "web_search",
]
