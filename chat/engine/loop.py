"""ReAct: ask the model, run the tools it calls, ask again, until it answers."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace

from chat.engine.assembly import Assembly
from chat.engine.changes import Change
from chat.engine.limits import Limits
from chat.engine.repetition import repeated_call
from chat.protocol.interfaces import (
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    ReasoningDelta,
    Retrying,
    TextDelta,
    Toolbox,
    ToolCall,
    ToolCallDelta,
    ToolContext,
    ToolResult,
)
from chat.protocol.parts import Part, TextPart, ToolPart
from chat.protocol.tool_state import ABORTED, ToolRunning

log = logging.getLogger(__name__)

TOO_MANY = "Not run: more than {limit} tool calls in one step."
REPEATED = "Not run: the same call was made three times in a row."
CRASHED = "The tool failed unexpectedly: {error}"

BuildRequest = Callable[[tuple[Part, ...]], ModelRequest]
ContextFor = Callable[[ToolPart], ToolContext]


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """Why the run is over; `error_key` says what to tell the person if it is not an answer."""

    finish: str
    error_key: str = ""
    error_data: Mapping[str, str | int | float] = field(default_factory=dict)


class _OverLimit(Exception):
    def __init__(self, end: LoopEnd) -> None:
        super().__init__(end.finish)
        self.end = end


@dataclass(slots=True)
class _Allowance:
    """What a run may still use."""

    limits: Limits
    deadline: float
    spoken: int = 0
    heard: set[str] = field(default_factory=set)

    def cut(self, event: ProviderEvent) -> ProviderEvent:
        """One event can be longer than all that is left: nobody is to read the rest of it."""
        left = self.limits.max_output - self.spoken
        if isinstance(event, TextDelta | ReasoningDelta) and len(event.text) > left + 1:
            return replace(event, text=event.text[: left + 1])
        return event

    def spend(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta() | ReasoningDelta():
                self.spoken += len(event.text)
            case ToolCallDelta():
                self.heard.add(event.call_id)
                self.spoken += len(event.arguments)
            case ToolCall() if event.call_id not in self.heard:
                self.spoken += len(event.raw)
            case _:
                return
        if self.spoken > self.limits.max_output:
            limit = self.limits.max_output
            raise _OverLimit(LoopEnd("output-limit", "error.chat_output_limit", {"limit": limit}))

    def out_of_time(self) -> _OverLimit:
        limit = self.limits.max_seconds
        return _OverLimit(LoopEnd("time-limit", "error.chat_time_limit", {"seconds": limit}))


async def run(
    provider: ModelProvider,
    toolbox: Toolbox,
    assembly: Assembly,
    build_request: BuildRequest,
    context_for: ContextFor,
    limits: Limits | None = None,
) -> AsyncGenerator[Change | Retrying | LoopEnd, None]:
    """Yield every change as it happens; the last thing is why it ended.

    A `ProviderError` or a cancellation comes through at once, with nothing left running;
    the caller then closes the message with `assembly.abort()`.
    """
    limits = limits or Limits()
    allowance = _Allowance(limits, asyncio.get_running_loop().time() + limits.max_seconds)
    try:
        for _ in range(limits.max_steps):
            async with aclosing(_ask(provider, assembly, build_request, allowance)) as said:
                async for change in said:
                    yield change
            calls = assembly.step_calls()
            if not calls:
                if assembly.finish_reason == "pause":
                    continue
                yield _answered(assembly)
                return
            if circle := repeated_call(assembly.parts()):
                for change in _refuse(assembly, calls, REPEATED):
                    yield change
                yield LoopEnd("repeated-calls", "error.chat_repeated_calls", {"tool": circle.tool})
                return
            for change in _refuse(
                assembly, calls[limits.max_calls :], TOO_MANY.format(limit=limits.max_calls)
            ):
                yield change
            calls = calls[: limits.max_calls]
            async with aclosing(_act(toolbox, assembly, calls, context_for, allowance)) as done:
                async for change in done:
                    yield change
        yield LoopEnd("max-steps", "error.chat_max_steps", {"steps": limits.max_steps})
    except _OverLimit as over:
        for change in assembly.abort():
            yield change
        yield over.end


async def _ask(
    provider: ModelProvider,
    assembly: Assembly,
    build_request: BuildRequest,
    allowance: _Allowance,
) -> AsyncGenerator[Change | Retrying, None]:
    """One model call: its words become changes as they come."""
    request = build_request(assembly.parts())
    for change in assembly.open_step():
        yield change
    async with _closed_after(provider.stream(request)) as stream:
        while (event := await _next(stream, allowance)) is not None:
            event = allowance.cut(event)
            for change in assembly.apply(event):
                yield change
            if isinstance(event, Retrying):
                yield event
            allowance.spend(event)
    for change in assembly.close_step():
        yield change


async def _next(
    stream: AsyncIterator[ProviderEvent], allowance: _Allowance
) -> ProviderEvent | None:
    timer = asyncio.timeout_at(allowance.deadline)
    try:
        async with timer:
            return await anext(stream, None)
    except TimeoutError:
        if timer.expired():
            raise allowance.out_of_time() from None
        raise


@asynccontextmanager
async def _closed_after(
    stream: AsyncIterator[ProviderEvent],
) -> AsyncIterator[AsyncIterator[ProviderEvent]]:
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()


async def _act(
    toolbox: Toolbox,
    assembly: Assembly,
    calls: Sequence[ToolPart],
    context_for: ContextFor,
    allowance: _Allowance,
) -> AsyncGenerator[Change, None]:
    """Run the calls side by side; each result is told as it lands, and touches no other."""
    tasks = {
        asyncio.create_task(_run_tool(toolbox, call, context_for(call))): call
        for call in calls
        if isinstance(call.state, ToolRunning)
    }
    waiting = set(tasks)
    try:
        while waiting:
            left = allowance.deadline - asyncio.get_running_loop().time()
            done, waiting = await asyncio.wait(
                waiting, timeout=max(left, 0), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                raise allowance.out_of_time()
            for task in (task for task in tasks if task in done):
                result = _result(task)
                for change in assembly.finish_tool(tasks[task].call_id, result):
                    yield change
    finally:
        await _cancel(waiting, allowance.limits.tool_grace)


async def _run_tool(toolbox: Toolbox, call: ToolPart, context: ToolContext) -> ToolResult:
    try:
        return await toolbox.run(call.tool, call.state.input, context)
    except Exception as error:  # one broken tool must not end the turn
        log.exception("tool %s broke", call.tool)
        return ToolResult(CRASHED.format(error=error), is_error=True)


def _result(task: "asyncio.Task[ToolResult]") -> ToolResult:
    return ToolResult(ABORTED, is_error=True) if task.cancelled() else task.result()


async def _cancel(tasks: "set[asyncio.Task[ToolResult]]", grace: float) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        _, stuck = await asyncio.wait(tasks, timeout=grace)
        if stuck:
            log.error("%d tools go on although they were cancelled", len(stuck))


def _refuse(assembly: Assembly, calls: Sequence[ToolPart], reason: str) -> list[Change]:
    open_calls = [call for call in calls if isinstance(call.state, ToolRunning)]
    return [change for call in open_calls for change in assembly.fail_tool(call.call_id, reason)]


def _answered(assembly: Assembly) -> LoopEnd:
    finish = assembly.finish_reason
    if finish == "content-filter":
        return LoopEnd(finish, "error.chat_content_filter")
    if not any(isinstance(part, TextPart | ToolPart) for part in assembly.parts()):
        return LoopEnd(finish, "error.chat_empty_answer")
    return LoopEnd(finish)
