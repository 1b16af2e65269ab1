"""What the scripted provider says: replies as values, made of small steps."""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

TOKEN = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True)
class Say:
    """Words, one event per token; an iterator is asked for each token when it is due."""

    text: str | Iterable[str]
    ms: float | None = None

    def tokens(self) -> Iterator[str]:
        return iter(TOKEN.findall(self.text) if isinstance(self.text, str) else self.text)


@dataclass(frozen=True)
class Think(Say):
    """The same words as thinking."""

    signature: str = ""


@dataclass(frozen=True)
class Call:
    """A tool call; a text as arguments is sent as it is, however broken."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    id: str = ""
    pieces: int = 2
    ms: float | None = None

    @property
    def json(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments)


@dataclass(frozen=True)
class Raw:
    """These bytes of the body, in whatever wire they are; unframed, not even as a chunk."""

    data: bytes
    framed: bool = True


@dataclass(frozen=True)
class Wait:
    """Nothing for some seconds, or for ever; with pings between, if told."""

    seconds: float | None = None
    ping: bytes = b""
    every: float = 0.02


class Gate:
    """Holds the reply at this step until the test opens it."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()
        self.waiters: list[Callable[[], object]] = []

    def open(self) -> None:
        self._open.set()
        for wake in self.waiters:
            wake()

    @property
    def is_open(self) -> bool:
        return self._open.is_set()


@dataclass(frozen=True)
class Drop:
    """The connection ends here: closed, or reset (RST)."""

    how: Literal["close", "reset"] = "close"


Step = Say | Think | Call | Raw | Wait | Gate | Drop


@dataclass(frozen=True)
class Tally:
    """The tokens a reply says it took."""

    input: int = 10
    output: int = 5
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True)
class Reply:
    """One answer to one request. What is not said is what a well-behaved provider does."""

    steps: tuple[Step, ...] = ()
    ms: float = 0
    finish: str | None = ""  # "" = what fits the steps, None = none is sent
    usage: Tally | None = Tally()
    done: bool = True
    opening: bool = True  # the events before the first word
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None  # instead of a stream
    cut: int | tuple[int, ...] = 0  # bytes per TCP write (one number, or sizes in turn)
    framing: Literal["chunked", "length", "close"] = "chunked"
    before: tuple[Step, ...] = ()  # before the head of the response

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(step for step in self.steps if isinstance(step, Call))


def reply(*steps: Step | str, **options: Any) -> Reply:
    """A reply of these steps; a plain text is said."""
    said = tuple(Say(step) if isinstance(step, str) else step for step in steps)
    return Reply(steps=said, **options)


def refuse(status: int, body: object = b"", **headers: str) -> Reply:
    """An error response; a dict becomes JSON, `retry_after="2"` a header."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = "application/json" if not isinstance(body, bytes) else "text/plain"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=raw, headers={"content-type": kind, **named})


def raw(data: bytes, **options: Any) -> Reply:
    """Just these bytes as the body of a stream."""
    options = {"finish": None, "usage": None, "done": False, "opening": False, **options}
    return Reply(steps=(Raw(data),), **options)
