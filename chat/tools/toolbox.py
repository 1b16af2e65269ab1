"""The tools of one agent: permission, time, size and faults of every call."""

import asyncio
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_core import to_jsonable_python

from chat.protocol.displays import JsonDisplay, display_to_json, read_display
from chat.protocol.errors import ToolFailure
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import ToolContext, ToolResult, ToolSpec
from chat.protocol.reasons import reason
from chat.protocol.text import clean_json, clean_text
from chat.tools.pool import ThreadPool

if TYPE_CHECKING:
    from chat.tools.registry import Tool

logger = logging.getLogger(__name__)

FAILED = "Tool failed"
# A card may hold more than the model reads, but not without end.
_DISPLAY_FACTOR = 4


class Toolbox:
    """Implements the engine's `Toolbox`: whatever a tool does, `run` gives a result."""

    def __init__(self, tools: "Iterable[Tool]", pool: ThreadPool) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._pool = pool
        # The loop itself holds tasks weakly: a call that ignores its end is held here.
        self._left_behind: set[asyncio.Task[ToolResult]] = set()

    def specs(self) -> Sequence[ToolSpec]:
        return tuple(tool.spec for tool in self._tools.values())

    def summary(self, name: str, arguments: JsonObject) -> str:
        """One line about a call, for its card."""
        tool = self._tools.get(name)
        return tool.summary(arguments) if tool else ""

    async def run(self, name: str, arguments: JsonObject, context: ToolContext) -> ToolResult:
        tool = self._tools.get(name)
        if tool is None:
            name = clean_text(name)[:64]
            why = reason("not_available", tool=name)
            return ToolResult.failed(f"Tool {name} is not available", why)
        call = asyncio.create_task(self._outcome(tool, clean_json(arguments), context))
        try:
            done, _ = await asyncio.wait({call}, timeout=tool.timeout)
        except asyncio.CancelledError:
            self._leave(call)
            raise
        if done:
            return call.result()
        self._leave(call)
        why = reason("timed_out", seconds=tool.timeout)
        return ToolResult.failed(f"Timed out after {tool.timeout:g} s", why)

    def _leave(self, call: asyncio.Task[ToolResult]) -> None:
        """Cancel without waiting: a tool that ignores it must not hold up the turn."""
        self._left_behind.add(call)
        call.add_done_callback(self._left_behind.discard)
        call.cancel()

    async def _outcome(
        self, tool: "Tool", arguments: JsonObject, context: ToolContext
    ) -> ToolResult:
        try:
            result = _result(await tool.call(arguments, context, self._pool), arguments)
            return _bounded(result, tool.output_limit, tool.summary(arguments))
        except ToolFailure as failure:
            text = _cut(clean_text(str(failure)), tool.output_limit).strip()
            return ToolResult.failed(text, *failure.reasons) if text else _silent()
        # A tool is other people's code: whatever it raises, the turn goes on.
        except (Exception, SystemExit) as error:
            logger.exception("Tool %s failed", tool.name)
            kind = type(error).__name__
            return ToolResult.failed(f"{FAILED}: {kind}", reason("broke", error=kind))


def _result(value: Any, arguments: JsonObject) -> ToolResult:
    match value:
        case ToolResult():
            # A tool may write its display as plain JSON: this is where it becomes a typed one.
            return replace(value, display=read_display(clean_json(value.display), arguments))
        case str():
            return ToolResult(value)
        case None:
            return ToolResult("")
        case _:
            plain = clean_json(to_jsonable_python(value))
            text = json.dumps(plain, ensure_ascii=False, indent=1)
            return ToolResult(text, display=JsonDisplay(value=plain))


def _bounded(result: ToolResult, limit: int, title: str) -> ToolResult:
    text = _cut(clean_text(result.text), limit)
    if result.is_error and not text.strip():
        return _silent()
    display = result.display
    if display and len(json.dumps(display_to_json(display))) > limit * _DISPLAY_FACTOR:
        display = None
    return replace(result, text=text, display=display, title=clean_text(result.title) or title)


def _silent() -> ToolResult:
    return ToolResult.failed(FAILED, reason("silent"))


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n… [output cut: {len(text) - limit} characters]"
