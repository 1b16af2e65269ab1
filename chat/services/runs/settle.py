"""The end of a run: one write that exactly one writer wins, and then it is told."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from chat.engine.loop import LoopEnd
from chat.engine.usage import last_tokens, total_cost
from chat.models import Message
from chat.protocol.events import ending_of
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.parts import Tokens
from chat.protocol.queue import is_held_after
from chat.protocol.stopped import StoppedBy
from chat.services import sql, statements
from chat.services.broadcast import tell_sidebar
from chat.services.conversations.history import answer_info, read_messages
from chat.services.conversations.search_index import index_text, searched
from chat.services.pool import in_pool, in_transaction
from chat.services.runs.flush import flusher
from chat.services.runs.rows import Placed, write_parts
from chat.services.runs.run import Run, release
from chat.services.runs.titles import improve_title
from chat.services.telemetry.metrics import count_end
from chat.services.usage.count import count_answer

log = logging.getLogger(__name__)

SHUTDOWN = "error.chat_shutdown"

# What sends the next queued message of a conversation. `turns/queue.py` puts itself here: it begins
# runs, and this module ends them.
go_on: list[Callable[[str], None]] = []

_GENERATION = {"success": "done", "cancelled": "stopped", "error": "failed"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, in the words of its message."""

    status: str
    finish_reason: str = ""
    error_key: str = ""
    error_data: JsonObject = field(default_factory=dict)
    tokens: Tokens = field(default_factory=Tokens)
    cost: Decimal = Decimal(0)

    def with_usage(self, tokens: Tokens, cost: Decimal) -> "Outcome":
        return replace(self, tokens=tokens, cost=cost)


def finished(end: LoopEnd) -> Outcome:
    """The engine came to an end by itself."""
    if end.error_key:
        return failed(end.error_key, data=end.error_data)
    return Outcome(status="success", finish_reason=end.finish)


def stopped(run: Run) -> Outcome:
    """Stopped by a person, or because the process is going down."""
    stop = run.stopped or StoppedBy(reason="shutdown")
    if stop.reason == "shutdown":
        return failed(SHUTDOWN)
    return cancelled(stop)


def cancelled(stop: StoppedBy) -> Outcome:
    return Outcome(status="cancelled", finish_reason="cancelled", error_data=stop.to_json())


def failed(
    key: str, message: str = "", data: Mapping[str, str | int | float] | None = None
) -> Outcome:
    details = {**(data or {}), **({"error": message} if message else {})}
    return Outcome(status="error", finish_reason="error", error_key=key, error_data=details)


# --- the rows ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settled:
    """The conversation's new revision, and the answer as it is now kept."""

    rev: int
    info: AnswerInfo
    # Whether a queued message may be sent now.
    goes_on: bool = False
    # The conversation's title, unless somebody gave it by hand.
    made_title: str = ""


def settle(
    request_id: str,
    owner_id: int,
    answer: WithParts,
    outcome: Outcome,
    placed: Sequence[Placed] = (),
    attempt: int = 0,
) -> Settled | None:
    """End a run if it has not ended yet; nothing when somebody was first, or another process goes
    on with it. `placed` are the parts of the answer that its rows are behind with."""
    message_id, conversation_id = UUID(answer.info.id), UUID(answer.info.session_id)
    now = timezone.now()
    with transaction.atomic():
        if not statements.end_run(UUID(request_id), _GENERATION[outcome.status], now, attempt):
            return None
        write_parts(placed)
        _close_message(message_id, outcome, now)
        hold = is_held_after(outcome.status, outcome.error_key)
        after = statements.raise_rev_after(message_id, conversation_id, now, hold=hold)
        if not after.temporary:
            index_text(owner_id, conversation_id, message_id, searched(answer.parts))
        info = answer_info(after.answer)
        # Last: other answers of the same person are counted in the same row.
        count_answer(request_id, owner_id, info, answer.parts, outcome.status)
        return Settled(after.rev, info, after.goes_on, after.made_title)


def _close_message(message_id: UUID, outcome: Outcome, now: datetime) -> None:
    tokens = outcome.tokens
    closed: dict[str, Any] = {
        "status": outcome.status,
        "finish_reason": outcome.finish_reason[:50],
        "error_key": outcome.error_key,
        "error_data": outcome.error_data,
        "input_tokens": tokens.input,
        "output_tokens": tokens.output,
        "reasoning_tokens": tokens.reasoning,
        "cache_read_tokens": tokens.cache.read,
        "cache_write_tokens": tokens.cache.write,
        "cost": round(outcome.cost, 8),
        "updated": now,
        "completed_at": now,
    }
    sql.write(Message, message_id, closed)


# --- a run of this process --------------------------------------------------------


async def end_run(run: Run, outcome: Outcome) -> None:
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
        # The last words are drawn while the rows are written. Where all are drawn already, the
        # end of the text is told with that of the answer.
        if run.frames.size:
            run.flush_now()
        if not run.lost:
            settled = await _settle(run, outcome)
        if settled is not None:
            run.rev = settled.rev
            count_end(run.request_id, settled.info, run.assembly.parts())
            run.tell(ending_of(WithParts(info=settled.info, parts=run.assembly.parts())))
    finally:
        # Whatever went wrong, what is not settled here is then settled by the sweep.
        release(run)
    await run.drained()
    if settled is not None and settled.goes_on:
        for send_next in go_on:
            send_next(run.conversation_id)
    await tell_sidebar(run.spec.user_id, run.conversation_id)
    if settled is not None and settled.info.status == "success":
        improve_title(run, settled.made_title)


async def _settle(run: Run, outcome: Outcome) -> Settled | None:
    """The last write, tried until the database takes it."""
    parts = run.assembly.parts()
    outcome = outcome.with_usage(last_tokens(parts), total_cost(parts))
    running = (run.request_id, run.spec.user_id)
    wait = 0.1
    while True:
        # What a flush has under way of this run is stored before, or put back.
        async with flusher.writing:
            placed = run.take_dirty()
        try:
            return await in_transaction(
                settle, *running, run.so_far(), outcome, placed, run.spec.attempt
            )
        except (OperationalError, InterfaceError):
            log.exception("a run could not be settled yet")
            run.put_back(placed)
        except Exception:  # an answer that cannot be kept must not be for ever unfinished
            log.exception("a run could not be kept")
            failure = failed("error.chat_generation_failed")
            [stored] = await in_pool(read_messages, [UUID(run.info.id)])
            return await in_transaction(settle, *running, stored, failure, (), run.spec.attempt)
        await asyncio.sleep(wait)
        wait = min(wait * 2, 5.0)
