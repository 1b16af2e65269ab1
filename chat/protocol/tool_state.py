"""The life of a tool call: pending → running → completed | error (BR-05 … BR-10).

Each state is its own frozen type with just its fields; transitions are pure functions
that return a new value. The same state again is allowed, an ended state stays as it is.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, assert_never

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from chat.protocol.errors import InvalidStateTransition, PartValidationError
from chat.protocol.frozen import Frozen, FrozenObject, JsonObject
from chat.protocol.notes import StateNotes, with_state_notes

if TYPE_CHECKING:
    from chat.protocol.parts import FilePart

ABORTED = "Tool execution aborted"
NO_OUTPUT = "(tool did not return anything)"


class Started(Frozen):
    start: int


class Ended(Frozen):
    start: int
    end: int

    @field_validator("end")
    @classmethod
    def _not_before_the_start(cls, end: int, info: ValidationInfo) -> int:
        if end < info.data.get("start", end):
            raise PydanticCustomError("end_before_start", "is before the start")
        return end


class EndedOutput(Ended):
    compacted: int | None = None


class ToolPending(Frozen):
    status: Literal["pending"] = "pending"
    input: FrozenObject
    raw: str


class ToolRunning(Frozen):
    status: Literal["running"] = "running"
    input: FrozenObject
    title: str | None = None
    metadata: FrozenObject | None = None
    time: Started


class ToolCompleted(Frozen):
    status: Literal["completed"] = "completed"
    input: FrozenObject
    output: str = Field(min_length=1)
    title: str
    metadata: FrozenObject
    time: EndedOutput
    attachments: "tuple[FilePart, ...] | None" = None


class ToolError(Frozen):
    status: Literal["error"] = "error"
    input: FrozenObject
    error: Annotated[str, Field(min_length=1, pattern=r"\S")]
    metadata: FrozenObject | None = None
    time: Ended


ToolState = Annotated[
    ToolPending | ToolRunning | ToolCompleted | ToolError, Field(discriminator="status")
]

_NEXT: dict[str, tuple[str, ...]] = {
    "pending": ("running",),
    "running": ("completed", "error"),
    "completed": (),
    "error": (),
}


def refuse(state: ToolState, attempted: str) -> InvalidStateTransition:
    return InvalidStateTransition(state.status, attempted, _NEXT[state.status])


def run(
    state: ToolState,
    now: int,
    *,
    title: str | None = None,
    metadata: JsonObject | None = None,
    input: JsonObject | None = None,
) -> ToolRunning:
    """Start the call (BR-07); again while running: new title, metadata or input, same start."""
    match state:
        case ToolPending():
            return ToolRunning(
                input=state.input if input is None else input,
                title=title,
                metadata=metadata,
                time=Started(start=now),
            )
        case ToolRunning():
            return ToolRunning(
                input=state.input if input is None else input,
                title=state.title if title is None else title,
                metadata=_merged(state.metadata, metadata),
                time=state.time,
            )
        case ToolCompleted() | ToolError():
            raise refuse(state, "running")
        case _:
            assert_never(state)


def complete(
    state: ToolState,
    now: int,
    output: str,
    *,
    title: str | None = None,
    metadata: JsonObject | None = None,
    attachments: "tuple[FilePart, ...] | None" = None,
) -> ToolCompleted:
    """End the call with its output; where there is none, a text says so (BR-08, BR-09)."""
    match state:
        case ToolRunning():
            return ToolCompleted(
                input=state.input,
                output=output or NO_OUTPUT,
                title=title if title is not None else state.title or "",
                metadata=_merged(state.metadata, metadata) or {},
                time=EndedOutput(start=state.time.start, end=max(now, state.time.start)),
                attachments=attachments,
            )
        case ToolCompleted():
            return state
        case ToolPending() | ToolError():
            raise refuse(state, "completed")
        case _:
            assert_never(state)


def fail(
    state: ToolState, now: int, error: str, *, metadata: JsonObject | None = None
) -> ToolError:
    """End the call with a reason (BR-08, BR-10); the metadata of the running call is kept."""
    if not error.strip():
        raise PartValidationError("error", "an error needs a description", "BR-10")
    match state:
        case ToolRunning():
            return ToolError(
                input=state.input,
                error=error,
                metadata=_merged(state.metadata, metadata),
                time=Ended(start=state.time.start, end=max(now, state.time.start)),
            )
        case ToolError():
            return state
        case ToolPending() | ToolCompleted():
            raise refuse(state, "error")
        case _:
            assert_never(state)


def abort(state: ToolState, now: int, error: str = ABORTED) -> ToolError:
    """Stop the call: the only way from pending to error."""
    running = run(state, now) if isinstance(state, ToolPending) else state
    return fail(running, now, error, metadata=with_state_notes(None, StateNotes(interrupted=True)))


def time_out(state: ToolState, now: int, limit_ms: int) -> ToolState:
    """A running call older than the limit becomes an error; any other stays."""
    if isinstance(state, ToolRunning) and now - state.time.start >= limit_ms:
        return fail(state, now, f"Timed out after {limit_ms / 1000:g} s")
    return state


def compact(state: ToolState, now: int) -> ToolCompleted:
    """Mark an output as no longer sent to the model; the output itself is kept."""
    if not isinstance(state, ToolCompleted):
        raise refuse(state, "compacted")
    time = state.time.model_copy(update={"compacted": state.time.compacted or now})
    return state.model_copy(update={"time": time})


def amend(state: ToolState, **changes: Any) -> ToolState:
    """An admin's correction of an ended call: same status, checked like a new value."""
    if not isinstance(state, ToolCompleted | ToolError):
        raise refuse(state, "amended")
    return type(state).model_validate(state.model_dump(mode="python") | changes)


def _merged(old: JsonObject | None, new: JsonObject | None) -> JsonObject | None:
    return {**(old or {}), **new} if new is not None else old
