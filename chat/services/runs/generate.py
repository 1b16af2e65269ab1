"""Generate: an answer is written in the background, told as it grows, and settled once."""

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Sequence

from django.conf import settings

from chat.engine import loop as engine
from chat.engine.limits import Limits
from chat.protocol.errors import ChatError, ProviderError
from chat.protocol.events import Edited, Retry, UserMessage
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import Adjusted, CaughtUp, Retrying
from chat.protocol.stopped import StoppedBy
from chat.protocol.trail import follow_run
from chat.services.background import Background
from chat.services.catalog.adjustments import remember_adjustment
from chat.services.pool import in_writer
from chat.services.runs.flush import flusher
from chat.services.runs.leave import leave_run
from chat.services.runs.request import RequestBuilder
from chat.services.runs.request_log import keep_requests
from chat.services.runs.run import RUNS, Run, hold
from chat.services.runs.settle import Outcome, end_run, failed, finished, stopped
from chat.services.runs.spec import RunSpec
from chat.services.telemetry.metrics import SENDS
from chat.services.telemetry.spans import begin_spans

log = logging.getLogger(__name__)

TOO_LONG = "error.chat_provider_context_too_long"


# When a process goes down: how long tools may take to their end, and rows to be written.
TOOLS_MAY_TAKE = 5.0
LEAVING_MAY_TAKE = 5.0


# What the trace of a run says that goes on in another process.
LEFT = Outcome(status="left")


class Leaving(Exception):
    """The last tool of a step has ended in a process that goes down."""


# Runs belong to the process: no socket, request or tab owns them.
_runs = Background()


def start_run(spec: RunSpec, asked: UserMessage | Edited) -> Run:
    """Begin to write an answer, as a task of the process: first the model is asked, then pages
    are told what was asked and that the answer begins."""
    run = Run(spec)
    hold(run)
    flusher.ensure_running()
    SENDS.add()
    run.task = _runs.spawn(_write_and_settle(run), f"run {run.request_id}")
    run.begin(asked)
    return run


def take_up_run(spec: RunSpec) -> Run:
    """Go on with an answer that another process began; its pages know that it is being written."""
    run = Run(spec)
    hold(run)
    flusher.ensure_running()
    run.task = _runs.spawn(_write_and_settle(run), f"run {run.request_id}")
    return run


async def leave_all_runs(successors: Sequence[str] = ()) -> None:
    """Leave the runs of this process to others, in turn: each at its last whole step, tools
    included. Where all of them tried for all, most would try in vain."""
    runs = list(RUNS.values())
    for run, successor in zip(runs, itertools.cycle(successors or [""]), strict=False):
        run.leave(successor)
    tasks = [run.task for run in runs if run.task is not None]
    if tasks:
        _, waiting = await asyncio.wait(tasks, timeout=TOOLS_MAY_TAKE)
        for run in runs:
            if run.task in waiting:
                run.leave_now()
        if waiting:
            await asyncio.wait(waiting, timeout=LEAVING_MAY_TAKE)


async def stop_all_runs() -> bool:
    """Settle every run of this process, before it goes down; whether there was any."""
    runs = list(RUNS.values())
    for run in runs:
        run.stop(StoppedBy(reason="shutdown"))
    tasks = [run.task for run in runs if run.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=15)
    return bool(runs)


async def _write_and_settle(run: Run) -> None:
    """Write the answer and settle it, whatever happens on the way."""
    outcome = failed("error.chat_generation_failed")
    run.begun, cut = True, False
    follow_run(run.request_id, run.conversation_id)
    run.spans = begin_spans(run.spec)
    try:
        outcome = stopped(run) if run.stopped or run.lost else await _write_in_time(run)
    except (asyncio.CancelledError, Leaving):
        outcome, cut = stopped(run), run.leaving
    except ProviderError as error:
        outcome = failed(error.key, error.message, error.data)
    except ChatError as error:
        outcome = failed(error.key, data=error.data)
    except Exception as error:  # the person must see an ended answer, whatever broke
        log.exception("a run broke")
        outcome = failed("error.chat_generation_failed", type(error).__name__)
    finally:
        if cut and await leave_run(run):
            outcome = LEFT
        else:
            await end_run(run, stopped(run) if cut else outcome)
        if run.spans:
            run.spans.end(outcome.status, outcome.error_key)


async def _write_in_time(run: Run) -> Outcome:
    """Write the answer; its model, its tools and all waiting together have so many seconds."""
    limit = settings.PARLEY_LIMITS["run_seconds"]
    timer = asyncio.timeout(limit)
    try:
        async with timer:
            return await _write(run)
    except TimeoutError:
        if not timer.expired():
            raise
        return failed("error.chat_time_limit", data={"seconds": limit})


async def _write(run: Run) -> Outcome:
    """Ask for the answer; a conversation that proves too long is shortened and asked again."""
    keep_requests(run.spec)
    if run.spec.taken_up:
        for change in run.assembly.take_over():
            run.note(change)
        run.flush_now()
    requests = RequestBuilder(run)
    await requests.open_files()
    await requests.fit()
    try:
        return await _answer(run, requests)
    except ProviderError as error:
        if error.key != TOO_LONG or run.has_written():
            raise
        if not await requests.fit_after_refusal(_told_window(error)):
            raise
        for change in run.assembly.abort():
            run.note(change)
        told = Adjusted(error.adjustment, error.message) if error.adjustment else None
        return await _answer(run, requests, told)


def _told_window(error: ProviderError) -> int | None:
    """How many tokens fit, where the refusal says it."""
    told = error.adjustment
    return told.value if told and told.kind == "window" and isinstance(told.value, int) else None


async def _remember(run: Run, adjusted: Adjusted) -> None:
    await in_writer(remember_adjustment, run.spec.model.ref, adjusted)


async def _answer(run: Run, requests: RequestBuilder, told: Adjusted | None = None) -> Outcome:
    """Let the engine write, and note every change. What a refusal has `told` is remembered once an
    answer has begun: only then it was of use."""
    limits = Limits(
        max_steps=run.spec.max_steps,
        max_characters=settings.PARLEY_LIMITS["output_chars"],
        max_calls=settings.PARLEY_LIMITS["calls_per_step"],
    )
    write = engine.go_on if run.spec.taken_up else engine.run
    changes = write(
        requests.provider,
        requests.running_toolbox(),
        run.assembly,
        requests.request,
        requests.context_for,
        limits,
    )
    async with contextlib.aclosing(changes):
        async for change in changes:
            if isinstance(change, engine.LoopEnd):
                return finished(change)
            if isinstance(change, Retrying):
                run.tell(_retry(run, change))
            elif isinstance(change, Adjusted):
                await _remember(run, change)
            elif isinstance(change, CaughtUp):
                await run.rest()
            elif run.note(change):
                flusher.soon()
            if told is not None and run.has_written():
                await _remember(run, told)
                told = None
            if run.leaving and run.is_free:
                raise Leaving
    return failed("error.chat_provider_cut_off")


def _retry(run: Run, notice: Retrying) -> Retry:
    return Retry(
        conversation_id=run.conversation_id,
        error_key=notice.key,
        attempt=notice.attempt,
        attempts=notice.attempts,
        wait=notice.wait,
        until=now_ms() + round(notice.wait * 1000),
    )
