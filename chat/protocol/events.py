"""Events, protocol v1: what happened in a conversation, one frozen class for each name.

Every event begins with the same header. `seq` counts from 1 within a request; events of the
conversation itself belong to no request (`seq` 0) and are placed by `rev`. A delta also says
which part it continues and from which character (`offset`), so that whoever missed one can
see it. `chat/protocol/follow.py` has the rule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, TypedDict, get_args

from pydantic import Field, TypeAdapter

from chat.protocol.citations import Citation
from chat.protocol.effort import Effort
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import now_ms
from chat.protocol.messages import AnswerInfo, MessageError, WithParts
from chat.protocol.parts import (
    OpenSpan,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    Tokens,
    ToolPart,
)
from chat.protocol.stopped import StoppedBy


class Heading(TypedDict):
    """The values of a header, for an event that is made with them."""

    conversation_id: str
    rev: int
    tab_id: str
    request_id: str
    seq: int
    message_id: str
    ts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Where an event belongs."""

    conversation_id: str
    rev: int = 0
    tab_id: str = ""
    request_id: str = ""
    seq: int = 0
    message_id: str = ""
    ts: int = field(default_factory=now_ms)


# --- of a request: an answer being written ----------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Header):
    """An answer begins, or goes on where it had ended early."""

    name: Literal["chat:start"] = "chat:start"
    status: Literal["streaming"] = "streaming"
    position: int
    user_message_id: str
    info: AnswerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta(Header):
    """More of a text; `done` says that this part is whole."""

    part_id: str
    position: int
    offset: int
    delta: str
    done: bool = False
    time: OpenSpan | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Delta):
    """More of the answer's text; `done` says that this part is whole, `citations` its sources."""

    name: Literal["chat:chunk"] = "chat:chunk"
    citations: tuple[Citation, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking(Delta):
    """More of the model's thinking; `done` says that this part is whole."""

    name: Literal["chat:thinking"] = "chat:thinking"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Header):
    """A tool call: `call` has all its arguments, `result` its end, `state` is anything between.

    `result_json` is JSON: an output that is JSON already as it is, any other text as a string,
    a failure as `{"error": …}`.
    """

    name: Literal["chat:tool"] = "chat:tool"
    type: Literal["call", "state", "result"]
    part_id: str
    position: int
    tool_call_id: str
    tool_name: str
    args_json: str
    result_json: str | None = None
    part: ToolPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Header):
    """One model call begins, or has ended with its tokens and cost."""

    name: Literal["chat:step"] = "chat:step"
    type: Literal["start", "finish"]
    part_id: str
    position: int
    part: StepStartPart | StepFinishPart


# The key of a notice that the earlier conversation is being summed up.
SUMMING_UP: Final = "notice.chat_summing_up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry(Header):
    """The provider failed before its first word and is asked again in `wait` seconds, at `until`.
    Told once more, without a wait, when it is asked; and without `attempts` while the earlier
    conversation is summed up."""

    name: Literal["chat:retry"] = "chat:retry"
    error_key: str
    attempt: int
    attempts: int
    wait: float
    # In milliseconds, as all moments.
    until: int = 0


class Usage(Tokens):
    """The tokens of the last step, and the cost of all steps."""

    cost: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete(Header):
    """The answer is whole."""

    name: Literal["chat:complete"] = "chat:complete"
    status: Literal["success"] = "success"
    finish_reason: str
    usage: Usage
    info: AnswerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped(Header):
    """The answer was stopped, by a person or for a reason; `lengths` is what was kept of its
    texts, by part."""

    name: Literal["chat:stopped"] = "chat:stopped"
    status: Literal["cancelled"] = "cancelled"
    finish_reason: str
    by_id: str = ""
    by: str = ""
    reason: str = ""
    lengths: Mapping[str, int] = field(default_factory=dict)
    info: AnswerInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Error(Header):
    """The answer failed; what was written is kept. Without `info`, read the message again."""

    name: Literal["chat:error"] = "chat:error"
    status: Literal["error"] = "error"
    finish_reason: str = "error"
    error_key: str
    error_data: JsonObject = field(default_factory=dict)
    info: AnswerInfo | None = None


# --- of the conversation ----------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage(Header):
    """Somebody sent a message."""

    name: Literal["chat:user-message"] = "chat:user-message"
    message: WithParts
    client_id: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited(Header):
    """Messages changed: by an edit, a switch of version, feedback, a compaction, a correction.

    `messages` are put in the place of those with their ids, or at their `position` where they
    are new; `removed` are the positions of messages that are no longer shown.
    """

    name: Literal["chat:edited"] = "chat:edited"
    messages: tuple[WithParts, ...] = ()
    removed: tuple[int, ...] = ()
    client_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Header):
    """Messages wait, were changed or were taken out; `held` says whether they wait for a person.

    `messages` are put in the place of those with their ids, or at the end of the queue where they
    are new; `removed` are ids. A message that leaves the queue to be answered is told by
    `chat:user-message` alone, with the id it had in the queue, and the rest is no longer held.
    The end of an answer holds the queue if `protocol/queue.py` says so.
    """

    name: Literal["chat:queue"] = "chat:queue"
    messages: tuple[WithParts, ...] = ()
    removed: tuple[str, ...] = ()
    held: bool
    client_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Title(Header):
    """The conversation has another title."""

    name: Literal["chat:title"] = "chat:title"
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Header):
    """Another agent or model answers from the next turn on, or thinks otherwise, or has other
    tools."""

    name: Literal["chat:choice"] = "chat:choice"
    agent: str
    model: str
    tools_off: tuple[str, ...] = ()
    effort: Effort = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Header):
    """A temporary chat was kept: it is a conversation like any other now, and has a title."""

    name: Literal["chat:kept"] = "chat:kept"
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted(Header):
    """The conversation was deleted."""

    name: Literal["chat:deleted"] = "chat:deleted"


Ending = Complete | Stopped | Error
RunEvent = Start | Chunk | Thinking | Tool | Step | Retry | Complete | Stopped | Error
ConversationEvent = UserMessage | Edited | Queue | Title | Choice | Kept | Deleted
Event = RunEvent | ConversationEvent

EVENTS: tuple[type[Event], ...] = get_args(Event)

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="name")])
_EVENTS: TypeAdapter[list[Event]] = TypeAdapter(list[Annotated[Event, Field(discriminator="name")]])


def ending_of(answer: WithParts) -> Ending:
    """The event that tells how an answer ended, made from the answer as it is kept.

    Its place (`rev`, `request_id`, `seq`, `tab_id`) is for whoever tells it to fill in.
    """
    info = answer.info
    if not isinstance(info, AnswerInfo) or info.status in ("pending", "streaming"):
        raise ValueError("only an answer that is no longer being written has an end")
    finish = info.finish or ""
    error = info.error or MessageError(name="")
    match info.status:
        case "success":
            return Complete(
                conversation_id=info.session_id,
                message_id=info.id,
                finish_reason=finish,
                usage=Usage(**dict(info.tokens), cost=info.cost),
                info=info,
            )
        case "cancelled":
            stopped = StoppedBy.from_json(error.data)
            return Stopped(
                conversation_id=info.session_id,
                message_id=info.id,
                finish_reason=finish,
                by_id=stopped.by_id,
                by=stopped.by,
                reason=stopped.reason,
                lengths=_lengths(answer),
                info=info,
            )
        case _:
            return Error(
                conversation_id=info.session_id,
                message_id=info.id,
                finish_reason=finish,
                error_key=error.key,
                error_data=error.data,
                info=info,
            )


def _lengths(answer: WithParts) -> dict[str, int]:
    """How much of each text was kept."""
    texts = (part for part in answer.parts if isinstance(part, TextPart | ReasoningPart))
    return {part.id: len(part.text) for part in texts}


def event_to_wire(event: Event) -> str:
    """The flat form, for sockets that speak JSON; what is not set is left out."""
    return _EVENT.dump_json(event, by_alias=True, exclude_none=True).decode()


def events_to_bytes(events: Sequence[Event]) -> bytes:
    """A frame of events as it goes to other processes."""
    return _EVENTS.dump_json(list(events), by_alias=True, exclude_none=True)


def events_from_bytes(data: bytes) -> list[Event]:
    """The events that were sent; bad ones raise `ValidationError`."""
    return _EVENTS.validate_json(data, strict=False)
