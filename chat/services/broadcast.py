"""Telling everybody who watches: the only code that touches the channel layer.

The layer is a hint. It may lose, double or reorder what is sent, and be away altogether;
events say where they belong, and whoever misses one reads the database.
"""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from channels.layers import get_channel_layer

from chat.protocol.events import Event

log = logging.getLogger(__name__)


# Every server process.
PROCESSES = "processes"


def conversation_group(conversation_id: str) -> str:
    return f"c.{conversation_id}"


def user_group(user_id: int) -> str:
    return f"u.{user_id}"


async def publish(conversation_id: str, events: Sequence[Event]) -> None:
    """Send events to every view of a conversation."""
    if events:
        await _send(conversation_group(conversation_id), {"type": "events", "events": events})


async def tell_user(user_id: int, kind: str, **values: Any) -> None:
    """Send a note to every socket of a person (their column, their log-out)."""
    await _send(user_group(user_id), {"type": kind, **values})


async def ask_processes(kind: str, **values: Any) -> None:
    """Send a note to every server process."""
    await _send(PROCESSES, {"type": kind, **values})


async def _send(group: str, message: dict[str, Any]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    if not getattr(layer, "local", False) and "events" in message:
        message = {**message, "events": [event.as_json() for event in message["events"]]}
    try:
        await layer.group_send(group, message)
    except Exception:  # whatever the layer's client raises: a lost hint must not end a run
        log.exception("the channel layer did not take a message")


class Mailbox:
    """One socket's place in the layer: its channel and the groups it has joined."""

    def __init__(self, layer: Any, channel: str) -> None:
        self.layer = layer
        self.channel = channel
        self.groups: set[str] = set()
        self.wanted: set[str] = set()

    @classmethod
    async def open(cls) -> "Mailbox":
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

    async def receive(self) -> dict[str, Any]:
        """The next message, its events as values."""
        message: dict[str, Any] = await self.layer.receive(self.channel)
        if not getattr(self.layer, "local", False) and "events" in message:
            events = [Event.from_json(event) for event in message["events"]]
            message = {**message, "events": events}
        return message

    async def close(self) -> None:
        try:
            for group in self.groups:
                await self.layer.group_discard(group, self.channel)
            if hasattr(self.layer, "close_channel"):
                await self.layer.close_channel(self.channel)
        except Exception:  # the layer forgets a channel by itself in time
            log.exception("the channel layer did not take a farewell")
