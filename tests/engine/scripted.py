"""A provider and a toolbox that follow a script: real streams and tasks, no network."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from chat.engine.assembly import Assembly
from chat.engine.changes import Change
from chat.engine.limits import Limits
from chat.engine.loop import LoopEnd, run
from chat.protocol.ids import new_id
from chat.protocol.interfaces import (
    Finish,
    ModelRequest,
    ProviderEvent,
    Retrying,
    TextDelta,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
)
from chat.protocol.parts import Part, ToolPart

Step = list[ProviderEvent | BaseException | asyncio.Event]
Tool = Callable[[dict[str, Any]], Awaitable[ToolResult]]


def call(call_id: str, name: str = "echo", **arguments: Any) -> ToolCall:
    return ToolCall(call_id, name, arguments)


def says(text: str) -> Step:
    return [TextDelta(text), Finish("stop")]


class Script:
    """Answers each request with the next step; the last step is repeated."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []
        self.open = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        self.requests.append(request)
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        self.open += 1
        try:
            for item in step:
                await asyncio.sleep(0)
                if isinstance(item, BaseException):
                    raise item
                if isinstance(item, asyncio.Event):
                    await item.wait()
                else:
                    yield item
        finally:
            self.open -= 1


async def echo(arguments: dict[str, Any]) -> ToolResult:
    await asyncio.sleep(0)
    return ToolResult(str(arguments.get("say", "")))


class Tools:
    def __init__(self, **tools: Tool) -> None:
        self.tools: dict[str, Tool] = {"echo": echo, **tools}
        self.ran: list[ToolContext] = []

    def specs(self) -> list[ToolSpec]:
        return [ToolSpec(name, "", {"type": "object"}) for name in self.tools]

    async def run(self, name: str, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        self.ran.append(context)
        return await self.tools[name](arguments)


class Run:
    """One run of the loop, and what came of it."""

    def __init__(
        self, provider: Script, tools: Tools | None = None, limits: Limits | None = None
    ) -> None:
        self.provider = provider
        self.tools = tools or Tools()
        self.assembly = Assembly(new_id(), new_id())
        self.changes: list[Change] = []
        self.retries: list[Retrying] = []
        self.end: LoopEnd | None = None
        self.asked: list[tuple[Part, ...]] = []
        self.stream = run(
            provider, self.tools, self.assembly, self.build, self.context, limits or Limits()
        )

    def build(self, parts: tuple[Part, ...]) -> ModelRequest:
        self.asked.append(parts)
        return ModelRequest("m", ())

    def context(self, part: ToolPart) -> ToolContext:
        return ToolContext(self.assembly.session_id, self.assembly.message_id, part.call_id)

    async def to_end(self) -> "Run":
        async for item in self.stream:
            assert self.end is None, "nothing comes after the end"
            if isinstance(item, LoopEnd):
                self.end = item
            elif isinstance(item, Retrying):
                self.retries.append(item)
            else:
                self.changes.append(item)
        return self

    def types(self) -> list[str]:
        return [part.type for part in self.assembly.parts()]

    def states(self) -> dict[str, Any]:
        parts = self.assembly.parts()
        return {part.call_id: part.state for part in parts if isinstance(part, ToolPart)}
