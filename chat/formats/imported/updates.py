"""What is added to a conversation that is read: a closed union of small values."""

from dataclasses import dataclass, field
from typing import Literal

from chat.protocol.citations import Citation
from chat.protocol.displays import Display
from chat.protocol.frozen import JsonObject
from chat.protocol.parts import Tokens


@dataclass(frozen=True, slots=True)
class SessionSeen:
    """Which session the lines are of, and with which model; said at the start of every turn."""

    session_id: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """An answer begins, if none has begun."""


@dataclass(frozen=True, slots=True)
class Titled:
    """What the command line calls the conversation."""

    title: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a person typed."""

    text: str
    files: tuple["InlineFile", ...] = ()
    at: int | None = None
    # Somebody has gone back: it follows this turn, counted from one, and not the last.
    after: int | None = None


@dataclass(frozen=True, slots=True)
class InlineFile:
    """A picture, or another file that came along; without an address it is only named."""

    mime: str
    url: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One model call begins; `parent` is the call whose sub-agent makes it, else empty."""

    message_id: str
    model: str = ""
    parent: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True)
class StepUsed:
    """What the running model call has used so far, and why it ended, once it has."""

    tokens: Tokens
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """More of a text, or of a thought; `block` tells apart the texts of one answer."""

    kind: Literal["text", "thinking"]
    block: str
    delta: str
    parent: str = ""
    signature: str = ""
    at: int | None = None
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A tool is called. Said up to three times of one call, each time knowing more."""

    call_id: str
    name: str
    input: JsonObject
    parent: str = ""
    # It waits for somebody's permission, or its arguments are not whole.
    is_pending: bool = False
    # The id that it came with, where it could not be kept; empty if it came with none.
    original_id: str | None = None
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """What came of a call."""

    call_id: str
    output: str
    is_error: bool = False
    display: Display | None = None
    files: tuple[InlineFile, ...] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A person stopped the answer."""

    at: int | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The answer is over. An error has a code of the command line's, or of its API."""

    status: Literal["success", "error"]
    finish: str = ""
    cost: float = 0.0
    tokens: Tokens = field(default_factory=Tokens)
    error_code: str = ""
    http_status: int | None = None
    message: str = ""
    # A task in the background has ended meanwhile, and may make the model go on unasked.
    may_go_on: bool = False
    at: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of which nothing is kept: a line, a message or what is in one, and its kind."""

    what: Literal["line", "message", "content"]
    kind: str


Update = (
    SessionSeen
    | TurnStarted
    | Titled
    | Prompt
    | Step
    | StepUsed
    | Words
    | Called
    | Returned
    | Interrupted
    | TurnEnded
    | LeftOut
)
