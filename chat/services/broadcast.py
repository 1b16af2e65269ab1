"""Telling everybody who watches: the only code that touches the channel layer.

The layer is a hint. It may lose, double or reorder what is sent, and be away altogether;
events say where they belong, and whoever misses one reads the database.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from channels.layers import get_channel_layer
from pydantic import ValidationError

from chat.protocol.events import Event, event_from_json, event_to_json
from chat.protocol.stopped import StoppedBy

log = logging.getLogger(__name__)

# The group of every server process.
PROCESSES = "processes"


# --- what is told -----------------------------------------------------------------


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


Note = Events | SidebarChanged | LoggedOut | StopRun | Seen | TryNow

# Kinds of messages that were warned of; each is told once.
_not_understood: set[str] = set()

_NOTES: dict[str, type[SidebarChanged | LoggedOut | Seen | TryNow]] = {
    kind.__name__: kind for kind in (SidebarChanged, LoggedOut, Seen, TryNow)
}


# --- telling ----------------------------------------------------------------------


def conversation_group(conversation_id: str) -> str:
    return f"c.{conversation_id}"


def user_group(user_id: int) -> str:
    return f"u.{user_id}"


async def publish(conversation_id: str, events: Sequence[Event]) -> None:
    """Send events to every view of a conversation."""
    if events:
        await _send(conversation_group(conversation_id), Events(events))


def put_at_once(conversation_id: str, events: Sequence[Event]) -> bool:
    """Put events into the mailboxes of all views; not where a layer has to be waited for."""
    layer = get_channel_layer()
    if layer is None or not is_local(layer):
        return False
    layer.put(conversation_group(conversation_id), _to_layer(Events(events), local=True))
    return True


async def tell_sidebar(user_id: int, conversation_id: str) -> None:
    """The row of a conversation in its owner's sidebar has changed."""
    await _send(user_group(user_id), SidebarChanged(conversation_id))


async def tell_logged_out(user_id: int, session: str) -> None:
    """The sockets of a session must close."""
    await _send(user_group(user_id), LoggedOut(session))


async def tell_processes(note: StopRun | Seen | TryNow) -> None:
    await _send(PROCESSES, note)


async def _send(group: str, note: Note) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    try:
        await layer.group_send(group, _to_layer(note, local=is_local(layer)))
    except Exception:  # whatever the layer's client raises: a lost hint must not end a run
        log.exception("the channel layer did not take a message")


def is_local(layer: object) -> bool:
    """Whether messages stay in this process, where values need no wire form."""
    return bool(getattr(layer, "local", False))


def _to_layer(note: Note, *, local: bool) -> dict[str, Any]:
    if local:
        return {"type": "note", "note": note}
    if isinstance(note, Events):
        return {"type": "Events", "events": [event_to_json(event) for event in note.events]}
    return {"type": type(note).__name__, **asdict(note)}


def _from_layer(message: dict[str, Any]) -> Note | None:
    """The note that a message stands for; nothing for one that this version does not know."""
    kind = message["type"]
    if kind == "note":
        note: Note = message["note"]
        return note
    message = {name: value for name, value in message.items() if name != "type"}
    try:
        if kind == "Events":
            return Events([event_from_json(event) for event in message["events"]])
        if kind == "StopRun":
            return StopRun(**{**message, "stop": StoppedBy.from_json(message["stop"])})
        return _NOTES[kind](**message)
    except (KeyError, TypeError, ValidationError):
        # During an update, processes of two versions share the layer.
        if kind not in _not_understood:
            _not_understood.add(kind)
            log.warning("messages of the kind %r are not understood", kind)
        return None


class Subscription:
    """One listener's place in the layer: its channel and the groups it has joined."""

    def __init__(self, layer: Any, channel: str) -> None:
        self.layer = layer
        self.channel = channel
        self.groups: set[str] = set()
        self.wanted: set[str] = set()

    @classmethod
    async def open(cls) -> "Subscription":
        layer = get_channel_layer()
        return cls(layer, await layer.new_channel())

    async def join(self, groups: Iterable[str]) -> None:
        """Be in these groups; while the layer is away they are only noted."""
        self.wanted.update(groups)
        await self.join_again()

    async def join_again(self) -> None:
        """Join what could not be joined before."""
        for group in self.wanted - self.groups:
            try:
                await self.layer.group_add(group, self.channel)
            except Exception:  # whoever hears nothing compares itself with the database
                log.exception("the channel layer is away")
                return
            self.groups.add(group)

    async def receive(self) -> Note:
        """The next note."""
        while True:
            note = _from_layer(await self.layer.receive(self.channel))
            if note is not None:
                return note

    async def close(self) -> None:
        try:
            for group in self.groups:
                await self.layer.group_discard(group, self.channel)
            if hasattr(self.layer, "close_channel"):
                await self.layer.close_channel(self.channel)
        except Exception:  # the layer forgets a channel by itself in time
            log.exception("the channel layer did not take a farewell")
