"""Tools that models may call. Importing this registers the ones that ship."""

from chat.tools import calculator, todo, web_search
from chat.tools.registry import Registry, Tool, registry, tool

__all__ = ["Registry", "Tool", "calculator", "registry", "todo", "tool", "web_search"]
