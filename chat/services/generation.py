"""Generation: an answer is written in the background, told as it grows, and settled once."""

import asyncio
import contextlib
import contextvars
import logging

from django.conf import settings

from chat.engine import loop as engine
from chat.engine.history import HistoryOptions, to_model_messages
from chat.engine.limits import Limits
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.errors import ChatError, ProviderError
from chat.protocol.interfaces import ModelMessage, ModelRequest, Retrying, TextBlock, ToolContext
from chat.protocol.messages import WithParts, info_to_json
from chat.protocol.parts import Part, ToolPart
from chat.protocol.tool_state import JsonObject, ToolCompleted
from chat.providers.http import HttpSettings
from chat.providers.registry import connect, shared_http
from chat.services import endings
from chat.services.assignment import Assignment
from chat.services.flush import flusher
from chat.services.runs import RUNS, Run, Stop
from chat.services.settle import Outcome
from chat.tools.registry import registry

log = logging.getLogger(__name__)

GO_ON = "Continue exactly where you stopped, without repeating anything."


def start(assignment: Assignment) -> Run:
    """Begin a run as a task of the process: no socket, request or tab owns it."""
    run = Run(assignment)
    RUNS[run.conversation_id] = run
    run.tell("chat:start", position=run.info.position, info=info_to_json(run.info))
    flusher.ensure_running()
    # A fresh context: one inherited from a request would hold its thread and connection.
    run.task = asyncio.get_running_loop().create_task(
        _live(run), name=f"run {run.request_id}", context=contextvars.Context()
    )
    return run


async def stop_all() -> None:
    """Settle every run of this process, before it goes down."""
    runs = list(RUNS.values())
    for run in runs:
        run.stop(Stop(reason="shutdown"))
    tasks = [run.task for run in runs if run.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=15)


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
    """Ask the engine for the answer and note every change of it."""
    assignment = run.assignment
    toolbox = registry.toolbox(assignment.tools)
    tools = tuple(toolbox.specs())
    provider = connect(assignment.model.connection, shared_http(_http_settings()))
    if assignment.tool_style == "xml":
        provider = XmlToolProvider(provider, tools)

    def build_request(parts: tuple[Part, ...]) -> ModelRequest:
        return ModelRequest(
            model=assignment.model.ref.model_id,
            system=assignment.system,
            messages=_messages(run, parts),
            tools=tools,
            temperature=assignment.temperature,
            max_output=assignment.model.max_output,
        )

    events = engine.run(
        provider,
        toolbox,
        run.assembly,
        build_request,
        lambda call: _context(run, call),
        Limits(max_steps=assignment.max_steps, max_output=settings.PARLEY_LIMITS["output_chars"]),
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


def _messages(run: Run, parts: tuple[Part, ...]) -> tuple[ModelMessage, ...]:
    """The conversation and the answer so far; one taken up again in mid-sentence is told so."""
    assignment = run.assignment
    so_far = WithParts(info=run.info, parts=parts)
    messages = to_model_messages(
        (*assignment.history, so_far), HistoryOptions(model=assignment.model.ref)
    )
    taken_up = bool(parts) and len(parts) == len(assignment.parts)
    if taken_up and messages and messages[-1].role == "assistant":
        messages += (ModelMessage("user", (TextBlock(GO_ON),)),)
    return messages


def _tell_retry(run: Run, event: Retrying) -> None:
    run.tell(
        "chat:retry",
        error_key=event.key,
        attempt=event.attempt,
        attempts=event.attempts,
        wait=event.wait,
    )


def _http_settings() -> HttpSettings:
    limits = settings.PARLEY_LIMITS
    return HttpSettings(first_byte=limits["first_byte_seconds"], idle=limits["idle_seconds"])


def _context(run: Run, call: ToolPart) -> ToolContext:
    return ToolContext(
        conversation_id=run.conversation_id,
        message_id=run.info.id,
        call_id=call.call_id,
        language=run.assignment.language,
        previous=_previous(run, call),
    )


def _previous(run: Run, call: ToolPart) -> JsonObject | None:
    """What the same tool showed last in this conversation."""
    tools = [*(tool for message in run.assignment.history for tool in message.tools)]
    tools += run.so_far().tools
    for tool in reversed(tools):
        if tool.tool == call.tool and isinstance(tool.state, ToolCompleted):
            return tool.state.metadata.get("display")
    return None
