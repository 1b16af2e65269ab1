"""Leave: a process that goes down lets another go on with its answers.

The run is closed at its last whole step, all of it is told and written, and its row belongs to
nobody. `turns/take_up.py` is the other half.
"""

import asyncio
import contextlib
import logging
from uuid import UUID

from django.db import transaction

from chat.protocol.parts import Part, ToolPart
from chat.protocol.server_tools import LOOKING
from chat.protocol.tool_state import ToolRunning
from chat.services import statements
from chat.services.broadcast import tell_processes
from chat.services.notes import RunLeft
from chat.services.pool import in_writer
from chat.services.runs.flush import flusher
from chat.services.runs.rows import Placed, write_parts
from chat.services.runs.run import Run, release
from chat.services.runs.spec import RunSpec
from chat.tools.registry import registry

log = logging.getLogger(__name__)


async def leave_run(run: Run) -> bool:
    """Leave a run to others, shielded; whether that was possible."""
    if run.stopped or run.lost or not can_go_on(run.spec, _begun(run)):
        return False
    run.ending = True
    leaving = asyncio.ensure_future(_leave(run))
    while not leaving.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(leaving)
    left = leaving.result()
    run.ending = left
    return left


def can_go_on(spec: RunSpec, running: list[ToolPart]) -> bool:
    """Whether somebody else can go on with an answer in which these calls are under way: not where
    one may have had an effect, and not where its program runs on this machine."""
    return not spec.model.runs_here and not any(map(has_effects, running))


def has_effects(call: ToolPart) -> bool:
    """Whether a call may have changed something; one in which a provider looks something up has
    not."""
    is_lookup = call.tool not in registry and call.tool in LOOKING
    return not is_lookup and registry.has_effects(call.tool)


def running_calls(parts: tuple[Part, ...]) -> list[ToolPart]:
    calls = (part for part in parts if isinstance(part, ToolPart))
    return [call for call in calls if isinstance(call.state, ToolRunning)]


def _begun(run: Run) -> list[ToolPart]:
    """The calls that were begun and have not ended. Those of a reply that is still being written
    have not begun, unless the provider runs them."""
    if run.is_free:
        return run.assembly.runs_foreign_calls
    return running_calls(run.assembly.parts())


async def _leave(run: Run) -> bool:
    for change in run.assembly.pause():
        run.note(change)
    run.flush_now()
    async with flusher.writing:
        placed = run.take_dirty()
        try:
            left = await in_writer(_write, run.attempt, run.seq, placed)
        except Exception:  # then it is settled, or found when the lease has run out
            log.exception("a run could not be left to another process")
            left = False
        if not left:
            run.put_back(placed)
            return False
        release(run)
    await run.drained()
    await tell_processes(RunLeft(run.conversation_id, run.request_id, run.successor))
    return True


@transaction.atomic
def _write(run: tuple[str, int], seq: int, placed: list[Placed]) -> bool:
    request_id, attempt = run
    if not statements.leave_run(UUID(request_id), attempt, seq):
        return False
    write_parts(placed)
    return True
