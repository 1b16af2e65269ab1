"""Parts, tool states and messages from their bare minimum: ids and times are filled in (E1)."""

from collections.abc import Sequence
from typing import Any, TypeVar

from chat.protocol.frozen import Frozen, JsonObject
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import AnswerInfo, AnswerTime, ModelRef, UserInfo, UserTime, WithParts
from chat.protocol.parts import (
    FilePart,
    FilePartSource,
    Part,
    ReasoningPart,
    Span,
    StepFinishPart,
    StepStartPart,
    TextPart,
    Tokens,
    ToolPart,
)
from chat.protocol.tool_state import (
    NO_OUTPUT,
    Ended,
    EndedOutput,
    Started,
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
    complete,
    fail,
    run,
)
from chat.protocol.validation import naming_the_field

Made = TypeVar("Made", bound=Frozen)


def _make(kind: type[Made], *place: str, **fields: Any) -> Made:
    with naming_the_field(*place):
        return kind(**fields)


def _part(kind: type[Made], session_id: str, message_id: str, **fields: Any) -> Made:
    ids = {"id": new_id(), "session_id": session_id, "message_id": message_id}
    return _make(kind, kind.model_fields["type"].default, **ids, **fields)


def _state(kind: type[Made], **fields: Any) -> Made:
    return _make(kind, "tool", "state", kind.model_fields["status"].default, **fields)


def _ended(kind: type[Made], start: int, end: int) -> Made:
    return _make(kind, "tool", "state", "time", start=start, end=end)


# --- parts ------------------------------------------------------------------------


def create_text_part(
    session_id: str,
    message_id: str,
    text: str,
    *,
    synthetic: bool | None = None,
    ignored: bool | None = None,
) -> TextPart:
    return _part(TextPart, session_id, message_id, text=text, synthetic=synthetic, ignored=ignored)


def create_reasoning_part(
    session_id: str, message_id: str, text: str, metadata: JsonObject | None = None
) -> ReasoningPart:
    time = Span(start=now_ms())
    return _part(ReasoningPart, session_id, message_id, text=text, metadata=metadata, time=time)


def create_tool_part(
    session_id: str,
    message_id: str,
    call_id: str,
    tool: str,
    state: ToolState,
    metadata: JsonObject | None = None,
) -> ToolPart:
    return _part(
        ToolPart,
        session_id,
        message_id,
        call_id=call_id,
        tool=tool,
        state=state,
        metadata=metadata,
    )


def create_step_start_part(session_id: str, message_id: str) -> StepStartPart:
    return _part(StepStartPart, session_id, message_id)


def create_step_finish_part(
    session_id: str, message_id: str, reason: str, cost: float, tokens: Tokens
) -> StepFinishPart:
    return _part(StepFinishPart, session_id, message_id, reason=reason, cost=cost, tokens=tokens)


def create_file_part(
    session_id: str,
    message_id: str,
    mime: str,
    url: str,
    filename: str | None = None,
    source: FilePartSource | None = None,
) -> FilePart:
    return _part(
        FilePart, session_id, message_id, mime=mime, url=url, filename=filename, source=source
    )


# --- tool states ------------------------------------------------------------------


def create_pending(input: JsonObject, raw: str) -> ToolPending:
    return _state(ToolPending, input=input, raw=raw)


def create_running(input: JsonObject, title: str | None = None) -> ToolRunning:
    return _state(ToolRunning, input=input, title=title, time=Started(start=now_ms()))


def create_completed(
    input: JsonObject, output: str, title: str, metadata: JsonObject, start: int, end: int
) -> ToolCompleted:
    return _state(
        ToolCompleted,
        input=input,
        output=output or NO_OUTPUT,
        title=title,
        metadata=metadata,
        time=_ended(EndedOutput, start, end),
    )


def create_error(input: JsonObject, error: str, start: int, end: int) -> ToolError:
    return _state(ToolError, input=input, error=error, time=_ended(Ended, start, end))


def pending_to_running(state: ToolState) -> ToolRunning:
    return run(state, now_ms())


def running_to_completed(state: ToolState, output: str, end: int) -> ToolCompleted:
    return complete(state, end, output)


def running_to_error(state: ToolState, error: str, end: int) -> ToolError:
    return fail(state, end, error)


# --- messages ---------------------------------------------------------------------


def create_user_message(
    session_id: str, text: str, *, agent: str = "", model: ModelRef | None = None
) -> WithParts:
    info = _make(
        UserInfo,
        id=new_id(),
        session_id=session_id,
        agent=agent,
        model=model,
        time=UserTime(created=now_ms()),
    )
    return WithParts(info=info, parts=(create_text_part(session_id, info.id, text),))


def create_answer(
    session_id: str,
    parent_id: str | None,
    *,
    agent: str = "",
    model: ModelRef | None = None,
    parts: Sequence[Part] = (),
) -> WithParts:
    """An answer that is being written; its id is that of its parts, if it has any."""
    info = _make(
        AnswerInfo,
        id=parts[0].message_id if parts else new_id(),
        session_id=session_id,
        parent_id=parent_id,
        agent=agent,
        status="streaming",
        provider_id=model.provider_id if model else "",
        model_id=model.model_id if model else "",
        time=AnswerTime(created=now_ms()),
    )
    return WithParts(info=info, parts=tuple(parts))
