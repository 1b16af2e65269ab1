"""Generation: an answer is written in the background, told as it grows, and settled once."""

import asyncio
import contextlib
import contextvars
import logging

from django.conf import settings

from chat.engine import loop as engine
from chat.engine.limits import Limits
from chat.protocol.errors import ChatError, ProviderError
from chat.protocol.interfaces import Retrying
from chat.protocol.messages import info_to_json
from chat.services import endings
from chat.services.asking import Asking
from chat.services.assignment import Assignment
from chat.services.flush import flusher
from chat.services.runs import RUNS, Run, Stop, hold
from chat.services.settle import Outcome

log = logging.getLogger(__name__)

TOO_LONG = "error.chat_provider_context_too_long"


def start(assignment: Assignment) -> Run:
    """Begin a run as a task of the process: no socket, request or tab owns it."""
    run = Run(assignment)
    hold(run)
    run.tell("chat:start", position=run.info.position, info=info_to_json(run.info))
    flusher.ensure_running()
    # A fresh context: one inherited from a request would hold its thread and connection.
    run.task = asyncio.get_running_loop().create_task(
        _live(run), name=f"run {run.request_id}", context=contextvars.Context()
    )
    return run


async def stop_all() -> bool:
    """Settle every run of this process, before it goes down; whether there was any."""
    runs = list(RUNS.values())
    for run in runs:
        run.stop(Stop(reason="shutdown"))
    tasks = [run.task for run in runs if run.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=15)
    return bool(runs)


async def _live(run: Run) -> None:
    """Write the answer and settle it, whatever happens on the way."""
    outcome = endings.failed("error.chat_generation_failed")
    run.begun = True
    try:
        outcome = endings.stopped(run) if run.stopped or run.lost else await _write(run)
    except asyncio.CancelledError:
        outcome = endings.stopped(run)
    except ProviderError as error:
        outcome = endings.failed(error.key, error.message)
    except ChatError as error:
        outcome = endings.failed(error.key, data=error.data)
    except Exception as error:  # the person must see an ended answer, whatever broke
        log.exception("a run broke")
        outcome = endings.failed("error.chat_generation_failed", type(error).__name__)
    finally:
        await endings.end(run, outcome)


async def _write(run: Run) -> Outcome:
    """Ask for the answer; a conversation that proves too long is shortened and asked again."""
    asking = Asking(run)
    await asking.open_files()
    await asking.fit()
    try:
        return await _answer(run, asking)
    except ProviderError as error:
        if error.key != TOO_LONG or run.has_spoken() or not await asking.fit_after_refusal():
            raise
        for change in run.assembly.abort():
            run.note(change)
        return await _answer(run, asking)


async def _answer(run: Run, asking: Asking) -> Outcome:
    """Let the engine write, and note every change."""
    events = engine.run(
        asking.provider,
        asking.toolbox,
        run.assembly,
        asking.request,
        asking.context_for,
        Limits(
            max_steps=run.assignment.max_steps,
            max_output=settings.PARLEY_LIMITS["output_chars"],
        ),
    )
    async with contextlib.aclosing(events):
        async for event in events:
            if isinstance(event, engine.LoopEnd):
                return endings.finished(event)
            if isinstance(event, Retrying):
                _tell_retry(run, event)
            elif run.note(event):
                flusher.soon()
    return endings.failed("error.chat_provider_cut_off")


def _tell_retry(run: Run, event: Retrying) -> None:
    run.tell(
        "chat:retry",
        error_key=event.key,
        attempt=event.attempt,
        attempts=event.attempts,
        wait=event.wait,
    )
