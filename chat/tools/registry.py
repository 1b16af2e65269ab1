"""The tools there are: one decorated function each.

@tool(icon="globe", timeout=10)
async def weather(city: Annotated[str, "Name of the city"]) -> str:
    \"\"\"The weather in a city right now.\"\"\"
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar, overload

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolContext, ToolSpec
from chat.protocol.text import clean_text
from chat.tools.own_settings import OwnSetting, settings_of
from chat.tools.pool import POOL, ThreadPool
from chat.tools.schema import Signature, signature
from chat.tools.toolbox import Toolbox

Gist = Callable[[JsonObject], str]
Function = TypeVar("Function", bound=Callable[..., Any])

TIMEOUT = 20.0
OUTPUT_LIMIT = 16_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GIST_LENGTH = 120


@dataclass(frozen=True, slots=True)
class Tool:
    """A function, what a model reads of it, and what a page shows of its calls."""

    spec: ToolSpec
    function: Callable[..., Any]
    takes: Signature
    timeout: float = TIMEOUT
    output_limit: int = OUTPUT_LIMIT
    # One of `templates/chat/icons.html`; what is not there is drawn as this one.
    icon: str = "nut"
    gist: Gist | None = None
    # Whether a call changes anything outside: then it is never made a second time by itself.
    effects: bool = True
    # Whether what it returns was found elsewhere, and repeats nothing of the call: a page whose
    # address is in it counts as named by others than the model.
    from_outside: bool = False
    # What an administrator has entered for its own settings.
    own: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def settings(self) -> tuple[OwnSetting, ...]:
        """The settings that it has besides those of every tool."""
        return settings_of(self.takes.settings[1]) if self.takes.settings else ()

    @property
    def name(self) -> str:
        return self.spec.name

    def summary(self, arguments: JsonObject) -> str:
        """A call in one line; arguments still unchecked may be anything, so it never raises."""
        try:
            text = (self.gist or _first_text)(arguments)
        except (LookupError, TypeError, ValueError, AttributeError):
            return ""
        line = " ".join(clean_text(str(text)).split())
        return line if len(line) <= _GIST_LENGTH else line[: _GIST_LENGTH - 1] + "…"

    def within(self, limits: "ToolLimits | None") -> "Tool":
        """The same with these limits, as far as they say something."""
        if limits is None:
            return self
        return replace(
            self,
            timeout=limits.timeout or self.timeout,
            output_limit=limits.output or self.output_limit,
            own=limits.own or self.own,
        )

    async def call(self, arguments: JsonObject, context: ToolContext, pool: ThreadPool) -> Any:
        values = self.takes.bind(arguments, context, self.own)
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**values)
        return await pool.run(lambda: self.function(**values))


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """What an administrator allows a tool – seconds, and characters that the model reads – and has
    entered for its own settings."""

    timeout: int | None = None
    output: int | None = None
    own: Mapping[str, Any] = field(default_factory=dict, repr=False)


NO_LIMITS: Final[Mapping[str, ToolLimits]] = MappingProxyType({})


class Registry:
    """Tools by name. The process has one; a test may make its own."""

    def __init__(self, pool: ThreadPool = POOL) -> None:
        self._tools: dict[str, Tool] = {}
        self._pool = pool

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        """In the order of names: a request's list of tools must not depend on import order."""
        return iter(sorted(self._tools.values(), key=lambda tool: tool.name))

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @overload
    def tool(self, function: Function, /) -> Function: ...

    @overload
    def tool(
        self,
        /,
        *,
        name: str = ...,
        description: str = ...,
        timeout: float = ...,
        output_limit: int = ...,
        icon: str = ...,
        gist: Gist | None = ...,
        effects: bool = ...,
        from_outside: bool = ...,
    ) -> Callable[[Function], Function]: ...

    def tool(self, function: Function | None = None, /, **options: Any) -> Any:
        """Register a function as a tool; the function itself stays as it is."""

        def register(function: Function) -> Function:
            self._add(_tool(function, **options))
            return function

        return register if function is None else register(function)

    def has_effects(self, name: str) -> bool:
        """Whether a call may have changed something; of a tool that is gone nothing is known."""
        tool = self._tools.get(name)
        return tool is None or tool.effects

    def is_from_outside(self, name: str) -> bool:
        """Whether what it returns was found elsewhere."""
        tool = self._tools.get(name)
        return tool is not None and tool.from_outside

    def toolbox(
        self,
        allowed: Iterable[str],
        disabled: Iterable[str] = (),
        limits: Mapping[str, ToolLimits] = NO_LIMITS,
    ) -> Toolbox:
        """What one agent may use: its own list without what is switched off for all, each within
        the limits that somebody has set for it."""
        names = set(allowed) - set(disabled)
        tools = (tool for tool in self if tool.name in names)
        return Toolbox([tool.within(limits.get(tool.name)) for tool in tools], self._pool)

    def _add(self, tool: Tool) -> None:
        if tool.name in self._tools:
            raise ValueError(f"two tools are called {tool.name}")
        self._tools[tool.name] = tool


def _tool(
    function: Callable[..., Any], *, name: str = "", description: str = "", **options: Any
) -> Tool:
    name = name or function.__name__
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a tool name: letters, digits, _ and -, at most 64")
    description = description or inspect.getdoc(function) or ""
    if not description:
        raise ValueError(f"tool {name} needs a docstring: it is what the model reads of it")
    takes = signature(function)
    return Tool(ToolSpec(name, description, takes.parameters), function, takes, **options)


def _first_text(arguments: JsonObject) -> str:
    return next((value for value in arguments.values() if isinstance(value, str)), "")


registry = Registry()
tool = registry.tool
