"""Written first: a tool that may change something begins when its call is in the rows.

A process that dies just after it has begun would else leave rows that say nothing of it, and
whoever goes on with the run would make the call again; and one that has slept for longer than its
lease, and whose run belongs to another by now, would make it a second time. A call that the
database does not take, on a full disk say, fails instead.
"""

import asyncio
from collections.abc import Sequence

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import Toolbox, ToolContext, ToolResult, ToolSpec
from chat.protocol.reasons import reason
from chat.services.runs.flush import EVERY, flusher
from chat.services.runs.run import Run
from chat.tools.registry import registry

# For how many seconds a call that could not be written is tried again: a database that is
# restarted is back by then.
MAY_TAKE = 10.0
NOT_STORED = "Not run: the call could not be stored first. Nothing was changed."


class WritingToolbox:
    """The toolbox of a run."""

    def __init__(self, toolbox: Toolbox, run: Run) -> None:
        self._toolbox = toolbox
        self._run = run

    def specs(self) -> Sequence[ToolSpec]:
        return self._toolbox.specs()

    async def run(self, name: str, arguments: JsonObject, context: ToolContext) -> ToolResult:
        if registry.has_effects(name) and not await self._is_written():
            return ToolResult.failed(NOT_STORED, reason("not_stored"))
        return await self._toolbox.run(name, arguments, context)

    async def _is_written(self) -> bool:
        loop = asyncio.get_running_loop()
        until = loop.time() + MAY_TAKE
        while True:
            written = await flusher.keep(self._run)
            if self._run.lost or self._run.stopped:
                raise asyncio.CancelledError
            if written or loop.time() >= until:
                return written
            await asyncio.sleep(EVERY)
