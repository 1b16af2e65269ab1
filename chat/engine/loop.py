"""ReAct: ask the model, run the tools it calls, ask again, until it calls none."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from chat.engine.assembly import ESTIMATED, Assembly
from chat.engine.changes import Change
from chat.engine.limits import Limits
from chat.engine.repetition import repeated_call
from chat.protocol.errors import ChatError, ProviderError
from chat.protocol.interfaces import (
    Adjusted,
    CaughtUp,
    Finish,
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
from chat.protocol.reasons import Reason, reason
from chat.protocol.text import clean_text
from chat.protocol.tool_state import ABORTED, ToolRunning

log = logging.getLogger(__name__)

TOO_MANY = "Not run: more than {limit} tool calls in one step. Any further ones were dropped."
REPEATED = "Not run: the same call was made three times in a row."
CRASHED = "The tool failed unexpectedly: {error}"

# What models say they refuse, as far as there is a sentence for it.
REFUSED = frozenset({"cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"})
MOST_EXPLAINED = 500

# After a step that ended so the model is asked again; an answer without any end is not whole.
GOES_ON = frozenset({"", "tool-calls", "pause", "cancelled", ESTIMATED, "unknown"})

BuildRequest = Callable[[tuple[Part, ...]], ModelRequest]
ContextFor = Callable[[ToolPart], ToolContext]


@dataclass(frozen=True, slots=True)
class LoopEnd:
    """Why the run is over; `error_key` names the message for the person if it failed."""

    finish: str
    error_key: str = ""
    error_data: Mapping[str, str | int | float] = field(default_factory=dict)


class _OverLimit(Exception):
    def __init__(self, end: LoopEnd) -> None:
        super().__init__(end.finish)
        self.end = end


@dataclass(slots=True)
class _Allowance:
    """How many characters a run may still write."""

    limits: Limits
    characters: int = 0
    # Calls whose arguments were counted as they streamed, and not again when complete.
    streamed_calls: set[str] = field(default_factory=set)

    def cut(self, event: ProviderEvent) -> ProviderEvent:
        """One event can be longer than all that is left: the rest of it is dropped."""
        left = self.limits.max_characters - self.characters
        if isinstance(event, TextDelta | ReasoningDelta) and len(event.text) > left + 1:
            return replace(event, text=event.text[: left + 1])
        return event

    def spend(self, event: ProviderEvent) -> None:
        match event:
            case TextDelta() | ReasoningDelta():
                self.characters += len(event.text)
            case ToolCallDelta():
                self.streamed_calls.add(event.call_id)
                self.characters += len(event.arguments)
            case ToolCall() if event.call_id not in self.streamed_calls:
                self.characters += len(event.raw)
            case _:
                return
        if self.characters > self.limits.max_characters:
            limit = self.limits.max_characters
            raise _OverLimit(LoopEnd("output-limit", "error.chat_output_limit", {"limit": limit}))


async def run(
    provider: ModelProvider,
    toolbox: Toolbox,
    assembly: Assembly,
    build_request: BuildRequest,
    context_for: ContextFor,
    limits: Limits | None = None,
) -> AsyncGenerator[Change | Retrying | Adjusted | CaughtUp | LoopEnd, None]:
    """Yield every change as it happens; the last thing is why it ended.

    A `ProviderError` or a cancellation comes through at once, with nothing left running;
    the caller then closes the message with `assembly.abort()`.
    """
    limits = limits or Limits()
    assembly.max_calls = limits.max_calls
    allowance = _Allowance(limits)
    try:
        for _ in range(limits.max_steps):
            async with aclosing(_ask(provider, assembly, build_request, allowance)) as asking:
                async for change in asking:
                    yield change
            end = _end_after_answer(assembly)
            if end is not None:
                why = reason("repeated_call")
                for change in _refuse(assembly, assembly.step_calls(), REPEATED, why):
                    yield change
                yield end
                return
            async with aclosing(_run_calls(toolbox, assembly, context_for, allowance)) as running:
                async for change in running:
                    yield change
        yield LoopEnd("max-steps", "error.chat_max_steps", {"steps": limits.max_steps})
    except _OverLimit as over:
        for change in assembly.abort():
            yield change
        yield over.end


async def go_on(
    provider: ModelProvider,
    toolbox: Toolbox,
    assembly: Assembly,
    build_request: BuildRequest,
    context_for: ContextFor,
    limits: Limits | None = None,
) -> AsyncGenerator[Change | Retrying | Adjusted | CaughtUp | LoopEnd, None]:
    """The same for what another process left after its last whole step: its calls are run, and an
    answer that was whole ends."""
    limits = limits or Limits()
    if assembly.step_calls():
        allowance = _Allowance(limits)
        async with aclosing(_run_calls(toolbox, assembly, context_for, allowance)) as running:
            async for change in running:
                yield change
    elif assembly.finish_reason not in GOES_ON:
        yield _answered(assembly)
        return
    going_on = run(provider, toolbox, assembly, build_request, context_for, limits)
    async with aclosing(going_on) as changes:
        async for each in changes:
            yield each


async def _ask(
    provider: ModelProvider,
    assembly: Assembly,
    build_request: BuildRequest,
    allowance: _Allowance,
) -> AsyncGenerator[Change | Retrying | Adjusted | CaughtUp, None]:
    """One model call: what it answers becomes changes as it comes."""
    request = build_request(assembly.parts())
    for change in assembly.open_step(request):
        yield change
    try:
        async with aclosing(provider.stream(request)) as stream:
            async for received in stream:
                event = allowance.cut(received)
                for change in assembly.apply(event):
                    yield change
                if isinstance(event, Retrying | Adjusted | CaughtUp):
                    yield event
                allowance.spend(event)
    except (ProviderError, ChatError):
        assembly.refuse_step()
        raise
    for change in assembly.close_step():
        yield change


def _end_after_answer(assembly: Assembly) -> LoopEnd | None:
    """Why no further step follows; None when the model paused, or called tools to be run."""
    if not assembly.step_calls():
        return None if assembly.finish_reason == "pause" else _answered(assembly)
    repeated = repeated_call(assembly.parts())
    if repeated is None:
        return None
    return LoopEnd("repeated-calls", "error.chat_repeated_calls", {"tool": repeated.tool})


async def _run_calls(
    toolbox: Toolbox, assembly: Assembly, context_for: ContextFor, allowance: _Allowance
) -> AsyncGenerator[Change, None]:
    """Run the calls of this step side by side; each result is a change as soon as it is there."""
    calls, limit = assembly.step_calls(), allowance.limits.max_calls
    why = reason("too_many_calls", limit=limit)
    for change in _refuse(assembly, calls[limit:], TOO_MANY.format(limit=limit), why):
        yield change
    tasks = {
        asyncio.create_task(_run_tool(toolbox, call, context_for(call))): call
        for call in calls[:limit]
        if isinstance(call.state, ToolRunning)
    }
    waiting = set(tasks)
    try:
        while waiting:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in (task for task in tasks if task in done):
                for change in assembly.finish_tool(tasks[task].call_id, _result(task)):
                    yield change
    finally:
        await _cancel(waiting, allowance.limits.tool_grace)


async def _run_tool(toolbox: Toolbox, call: ToolPart, context: ToolContext) -> ToolResult:
    try:
        return await toolbox.run(call.tool, call.state.input, context)
    except Exception as error:  # one broken tool must not end the turn
        log.exception("tool %s broke", call.tool)
        why = reason("broke", error=type(error).__name__)
        return ToolResult.failed(CRASHED.format(error=error), why)


def _result(task: "asyncio.Task[ToolResult]") -> ToolResult:
    if task.cancelled():
        return ToolResult.failed(ABORTED, reason("aborted"))
    return task.result()


async def _cancel(tasks: "set[asyncio.Task[ToolResult]]", grace: float) -> None:
    for task in tasks:
        task.cancel()
    if tasks:
        _, stuck = await asyncio.wait(tasks, timeout=grace)
        if stuck:
            log.error("%d tools go on although they were cancelled", len(stuck))


def _refuse(assembly: Assembly, calls: Sequence[ToolPart], error: str, why: Reason) -> list[Change]:
    open_calls = [call for call in calls if isinstance(call.state, ToolRunning)]
    return [
        change for call in open_calls for change in assembly.fail_tool(call.call_id, error, why)
    ]


def _refused(finish: Finish) -> LoopEnd:
    """The model will not answer this; its own words for why come first."""
    if finish.explanation:
        reason = {"reason": clean_text(finish.explanation)[:MOST_EXPLAINED]}
        return LoopEnd(finish.reason, "error.chat_model_refused_because", reason)
    if finish.category in REFUSED:
        return LoopEnd(finish.reason, f"error.chat_model_refused_{finish.category}")
    return LoopEnd(finish.reason, "error.chat_model_refused")


def _answered(assembly: Assembly) -> LoopEnd:
    finish = assembly.finish_reason
    if finish == "content-filter":
        return LoopEnd(finish, "error.chat_content_filter")
    if finish == "refusal":
        return _refused(assembly.finish or Finish(finish))
    if not any(isinstance(part, TextPart | ToolPart) for part in assembly.parts()):
        return LoopEnd(finish, "error.chat_empty_answer")
    return LoopEnd(finish)
