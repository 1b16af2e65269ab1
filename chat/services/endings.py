"""How a run ends: settled once in the database, then told."""

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from typing import Any

from django.db import InterfaceError, OperationalError

from chat.engine.loop import LoopEnd
from chat.engine.usage import last_tokens, total_cost
from chat.protocol.messages import AnswerInfo, info_to_json
from chat.services import titles
from chat.services.broadcast import tell_user
from chat.services.flush import flusher
from chat.services.pool import in_pool
from chat.services.runs import Run, Stop, release
from chat.services.settle import Outcome, Settled, settle

log = logging.getLogger(__name__)

SHUTDOWN = "error.chat_shutdown"


def finished(end: LoopEnd) -> Outcome:
    if end.error_key:
        return failed(end.error_key, data=end.error_data)
    return Outcome(status="success", finish_reason=end.finish)


def stopped(run: Run) -> Outcome:
    """Stopped by a person, or because the process is going down."""
    stop = run.stopped or Stop(reason="shutdown")
    if stop.reason == "shutdown":
        return failed(SHUTDOWN)
    return Outcome(status="cancelled", finish_reason="cancelled", error_data=stop.as_json())


def failed(
    key: str, message: str = "", data: Mapping[str, str | int | float] | None = None
) -> Outcome:
    details = {**(data or {}), **({"error": message} if message else {})}
    return Outcome(status="error", finish_reason="error", error_key=key, error_data=details)


async def end(run: Run, outcome: Outcome) -> None:
    """Settle and tell, shielded: a second stop must not take the last write with it."""
    run.ending = True
    ending = asyncio.ensure_future(_end(run, outcome))
    while not ending.done():
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(ending)
    ending.result()


async def _end(run: Run, outcome: Outcome) -> None:
    settled = None
    try:
        for change in run.assembly.abort():
            run.note(change)
        # The last words are drawn while the rows are written.
        run.hurry()
        if not run.lost:
            outcome, settled = await _settle(run, outcome)
        if settled is not None:
            run.rev = settled.rev
            tell(run, outcome, settled.info)
    finally:
        # Whatever went wrong, what is not settled here is then settled by the sweep.
        release(run)
    await run.drained()
    await tell_user(run.assignment.user_id, "column", conversation_id=run.conversation_id)
    if settled is not None and outcome.status == "success":
        titles.consider(run)


async def _settle(run: Run, outcome: Outcome) -> tuple[Outcome, Settled | None]:
    """The last write, tried until the database takes it; and the outcome it has in the end."""
    parts = run.assembly.parts()
    outcome = outcome.with_usage(last_tokens(parts), total_cost(parts))
    wait = 0.1
    while True:
        async with flusher.writing:
            placed = run.take_dirty()
            try:
                return outcome, await in_pool(settle, run.request_id, outcome, placed)
            except (OperationalError, InterfaceError):
                log.exception("a run could not be settled yet")
                run.put_back(placed)
            except Exception:  # an answer that cannot be kept must not be for ever unfinished
                log.exception("a run could not be kept")
                outcome = failed("error.chat_generation_failed")
                return outcome, await in_pool(settle, run.request_id, outcome, [])
        await asyncio.sleep(wait)
        wait = min(wait * 2, 5.0)


def tell(run: Run, outcome: Outcome, info: AnswerInfo) -> None:
    """The last event of a run."""
    body: dict[str, Any] = {
        "status": outcome.status,
        "finish_reason": outcome.finish_reason,
        "info": info_to_json(info),
    }
    match outcome.status:
        case "success":
            usage = {**info.tokens.model_dump(), "cost": info.cost}
            run.tell("chat:complete", **body, usage=usage)
        case "cancelled":
            run.tell("chat:stopped", **body, **outcome.error_data, lengths=_lengths(run))
        case _:
            key, data = outcome.error_key, outcome.error_data
            run.tell("chat:error", **body, error_key=key, error_data=data)


def _lengths(run: Run) -> dict[str, int]:
    """How much of each text was kept."""
    return {part.id: len(part.text) for part in run.assembly.parts() if hasattr(part, "text")}
