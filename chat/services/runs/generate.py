"""Generate: an answer is written in the background, told as it grows, and settled once."""

import asyncio
import contextlib
import logging

from django.conf import settings

from chat.engine import loop as engine
from chat.engine.limits import Limits
from chat.protocol.errors import ChatError, ProviderError
from chat.protocol.events import Edited, Retry, UserMessage
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import Adjusted, Retrying
from chat.protocol.stopped import StoppedBy
from chat.services.background import Background
from chat.services.catalog.adjustments import remember_adjustment
from chat.services.pool import in_writer
from chat.services.runs.flush import flusher
from chat.services.runs.request import RequestBuilder
from chat.services.runs.run import RUNS, Run, hold
from chat.services.runs.settle import Outcome, end_run, failed, finished, stopped
from chat.services.runs.spec import RunSpec

log = logging.getLogger(__name__)

TOO_LONG = "error.chat_provider_context_too_long"


# Runs belong to the process: no socket, request or tab owns them.
_runs = Background()


def start_run(spec: RunSpec, asked: UserMessage | Edited) -> Run:
    """Begin to write an answer, as a task of the process: first the model is asked, then pages
    are told what was asked and that the answer begins."""
    run = Run(spec)
    hold(run)
    flusher.ensure_running()
    run.task = _runs.spawn(_write_and_settle(run), f"run {run.request_id}")
    run.begin(asked)
    return run


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
    run.begun = True
    try:
        outcome = stopped(run) if run.stopped or run.lost else await _write_in_time(run)
    except asyncio.CancelledError:
        outcome = stopped(run)
    except ProviderError as error:
        outcome = failed(error.key, error.message, error.data)
    except ChatError as error:
        outcome = failed(error.key, data=error.data)
    except Exception as error:  # the person must see an ended answer, whatever broke
        log.exception("a run broke")
        outcome = failed("error.chat_generation_failed", type(error).__name__)
    finally:
        await end_run(run, outcome)


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
        if error.adjustment is not None:
            await _remember(run, Adjusted(error.adjustment, error.message))
        return await _answer(run, requests)


def _told_window(error: ProviderError) -> int | None:
    """How many tokens fit, where the refusal says it."""
    told = error.adjustment
    return told.value if told and told.kind == "window" and isinstance(told.value, int) else None


async def _remember(run: Run, adjusted: Adjusted) -> None:
    await in_writer(remember_adjustment, run.spec.model.ref, adjusted)


async def _answer(run: Run, requests: RequestBuilder) -> Outcome:
    """Let the engine write, and note every change."""
    limits = Limits(
        max_steps=run.spec.max_steps,
        max_output=settings.PARLEY_LIMITS["output_chars"],
        max_calls=settings.PARLEY_LIMITS["calls_per_step"],
    )
    changes = engine.run(
        requests.provider,
        requests.toolbox,
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
            elif run.note(change):
                flusher.soon()
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
