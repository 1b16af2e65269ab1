"""Telling everybody who watches: the only code that touches the channel layer.

The layer is a hint, and nobody waits for it: sockets of this process are told in memory, those of
others whenever Redis gets to it. It may lose, double or reorder what is sent; events say where they
belong, and whoever misses one reads the database.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from channels.layers import get_channel_layer

from chat.protocol.events import Event
from chat.services.layer import InProcessChannelLayer
from chat.services.notes import (
    AccessChanged,
    Events,
    GoesDown,
    LoggedOut,
    Note,
    RunLeft,
    Seen,
    SidebarChanged,
    StopRun,
    TryNow,
)

# The group of every server process.
PROCESSES = "processes"


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
    if not hasattr(layer, "put"):
        return False
    layer.put(conversation_group(conversation_id), {"type": "note", "note": Events(events)})
    return True


async def tell_sidebar(user_id: int, conversation_id: str) -> None:
    """The row of a conversation in its owner's sidebar has changed."""
    await _send(user_group(user_id), SidebarChanged(conversation_id))


async def tell_logged_out(user_id: int, session: str) -> None:
    """The sockets of a session must close."""
    await _send(user_group(user_id), LoggedOut(session))


async def tell_access_changed(user_id: int) -> None:
    """Somebody's password, sessions or account have changed."""
    await _send(user_group(user_id), AccessChanged())


def send_away() -> None:
    """The sockets of this process are to open anew, at another."""
    layer = get_channel_layer()
    if isinstance(layer, InProcessChannelLayer):
        layer.put_all({"type": "note", "note": GoesDown()})


async def tell_processes(note: StopRun | Seen | TryNow | RunLeft) -> None:
    await _send(PROCESSES, note)


async def _send(group: str, note: Note) -> None:
    layer = get_channel_layer()
    if layer is not None:
        await layer.group_send(group, {"type": "note", "note": note})


def open_layer() -> None:
    """Let the layer of a server begin; it needs an event loop that stays."""
    layer = get_channel_layer()
    if hasattr(layer, "start"):
        layer.start()


def is_layer_up() -> bool:
    """Whether processes can tell each other something."""
    layer = get_channel_layer()
    return isinstance(layer, InProcessChannelLayer) and layer.is_up


def messages_waiting() -> tuple[int, int]:
    """How many messages lie in the mailboxes of this process or wait for Redis, and how many were
    lost: one of these was full, or Redis was away."""
    layer = get_channel_layer()
    return layer.backlog() if isinstance(layer, InProcessChannelLayer) else (0, 0)


async def close_layer() -> None:
    """Let the layer send what it still has, and end."""
    layer = get_channel_layer()
    if hasattr(layer, "stop"):
        await layer.stop()


class Subscription:
    """One listener's place in the layer: its channel and the groups it has joined."""

    def __init__(self, layer: Any, channel: str) -> None:
        self.layer = layer
        self.channel = channel
        self.groups: set[str] = set()

    @classmethod
    async def open(cls) -> "Subscription":
        layer = get_channel_layer()
        return cls(layer, await layer.new_channel())

    async def join(self, groups: Iterable[str]) -> None:
        """Be in these groups."""
        for group in groups:
            await self.layer.group_add(group, self.channel)
            self.groups.add(group)

    async def receive(self) -> Note:
        """The next note."""
        note: Note = (await self.layer.receive(self.channel))["note"]
        return note

    async def close(self) -> None:
        for group in self.groups:
            await self.layer.group_discard(group, self.channel)
        if hasattr(self.layer, "close_channel"):
            await self.layer.close_channel(self.channel)
