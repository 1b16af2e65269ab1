"""What sockets and processes are told, and the form in which it goes to other processes."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from chat.protocol.events import Event, events_from_bytes, events_to_bytes
from chat.protocol.stopped import StoppedBy

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Events:
    """To every view of a conversation: what happened in it."""

    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class SidebarChanged:
    """To every socket of a person: their list of conversations has changed."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class LoggedOut:
    """To every socket of a person: one of their log-ins has ended."""

    session: str


@dataclass(frozen=True, slots=True)
class AccessChanged:
    """To every socket of a person: look whether they are still let in."""


@dataclass(frozen=True, slots=True)
class Missed:
    """To sockets of this process: Redis was away or slow, and something may not have come."""


@dataclass(frozen=True, slots=True)
class GoesDown:
    """To sockets of this process: it ends, and others serve."""


@dataclass(frozen=True, slots=True)
class StopRun:
    """To every process: whoever writes this answer is asked to stop."""

    conversation_id: str
    request_id: str
    stop: StoppedBy


@dataclass(frozen=True, slots=True)
class Seen:
    """To every process: somebody without a socket has just looked at this conversation."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class TryNow:
    """To every process: whoever waits with this answer for its provider is to ask it at once."""

    conversation_id: str
    request_id: str


@dataclass(frozen=True, slots=True)
class RunLeft:
    """To every process: one that goes down has left an answer, and another is to go on with it;
    the successor that it names, if that can."""

    conversation_id: str
    request_id: str = ""
    successor: str = ""


_Plain = SidebarChanged | LoggedOut | AccessChanged | Seen | TryNow | RunLeft
Note = Events | Missed | GoesDown | StopRun | _Plain

# Kinds of messages that were warned of; each is told once.
_not_understood: set[str] = set()

_NOTES: dict[str, type[_Plain]] = {
    kind.__name__: kind
    for kind in (SidebarChanged, LoggedOut, AccessChanged, Seen, TryNow, RunLeft)
}


def note_to_bytes(note: Note) -> bytes:
    """The name of its kind, a blank, and JSON."""
    if isinstance(note, Events):
        return b"Events " + events_to_bytes(note.events)
    return f"{type(note).__name__} {json.dumps(asdict(note))}".encode()


def note_from_bytes(data: bytes) -> Note | None:
    """The note that was sent; nothing for one that this version does not know."""
    name, _, body = data.partition(b" ")
    kind = name.decode(errors="replace")
    try:
        if kind == "Events":
            return Events(events_from_bytes(body))
        values = json.loads(body)
        if kind == "StopRun":
            return StopRun(**{**values, "stop": StoppedBy.from_json(values["stop"])})
        return _NOTES[kind](**values)
    except (AttributeError, KeyError, TypeError, ValueError):
        # During an update, processes of two versions share Redis.
        if kind not in _not_understood:
            _not_understood.add(kind)
            log.warning("messages of the kind %r are not understood", kind[:40])
        return None
