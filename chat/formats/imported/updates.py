"""What is added to a conversation that is read: a closed union of small values."""

from dataclasses import dataclass, field
from typing import Literal

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
    images: tuple["Image", ...] = ()
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    url: str


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


@dataclass(frozen=True, slots=True)
class Called:
    """A tool is called. Said up to three times of one call, each time knowing more."""

    call_id: str
    name: str
    input: JsonObject
    parent: str = ""
    # It waits for somebody's permission, or its arguments are not whole.
    is_pending: bool = False
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Returned:
    """What came of a call."""

    call_id: str
    output: str
    is_error: bool = False
    display: Display | None = None
    images: tuple[Image, ...] = ()
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
    at: int | None = None


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
)
