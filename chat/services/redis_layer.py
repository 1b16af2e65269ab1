"""The channel layer of several processes: sockets of this one are told in memory and at once,
those of the others over Redis.

Redis is asked for one channel per group, as long as somebody here is in that group, and told a
message once, however many there are, if another process has asked for the channel.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from chat.services.layer import InProcessChannelLayer, Message
from chat.services.notes import Missed, note_from_bytes, note_to_bytes
from chat.services.redis_link import RedisLink


class RedisLayer(InProcessChannelLayer):
    """The layer of one process among others."""

    def __init__(self, url: str, prefix: str = "parley", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._prefix = f"{prefix}:"
        self.link = RedisLink(url, f"{prefix}.followed", self._heard, self._late)

    def start(self) -> None:
        self.link.start()

    async def stop(self) -> None:
        await self.link.stop()

    @property
    def is_up(self) -> bool:
        return self.link.is_up

    def backlog(self) -> tuple[int, int]:
        waiting, dropped = super().backlog()
        return waiting + self.link.waiting, dropped + self.link.dropped

    async def group_add(self, group: str, channel: str) -> None:
        if group not in self.groups:
            self.link.follow(self._prefix + group)
        await super().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        await super().group_discard(group, channel)
        if group not in self.groups:
            self.link.unfollow(self._prefix + group)

    async def group_send(self, group: str, message: Message) -> None:
        if self.link.runs_here:
            self.put(group, message)
        else:
            super().put(group, message)
            await self.link.publish_once(
                self._prefix + group, partial(note_to_bytes, message["note"])
            )

    def put(self, group: str, message: Message) -> None:
        super().put(group, message)
        self.link.publish(self._prefix + group, partial(note_to_bytes, message["note"]))

    def _heard(self, channel: str, body: bytes) -> None:
        """Another process has told something."""
        note = note_from_bytes(body)
        if note is not None:
            super().put(channel.removeprefix(self._prefix), {"type": "note", "note": note})

    def _late(self, channels: Iterable[str]) -> None:
        for channel in channels:
            super().put(channel.removeprefix(self._prefix), {"type": "note", "note": Missed()})
