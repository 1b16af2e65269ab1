"""What a socket says to its other end, in either of its two languages."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.events import Event
from chat.protocol.follow import Position
from chat.protocol.transcript import Shown, Transcript


class Told(NamedTuple):
    """The frames of the events that follow what the other end has, and the events from the
    first one on that does not."""

    frames: list[str]
    rest: Sequence[Event] = ()


class Wire(Protocol):
    """Turns events, transcripts and replies into frames; remembers how far the other end is."""

    @property
    def position(self) -> Position: ...
    def shown(self) -> Collection[int]: ...
    async def attach(self, transcript: Transcript, shown: Shown) -> list[str]: ...
    async def catch_up(self, transcript: Transcript) -> list[str]: ...
    async def tell(self, events: Sequence[Event]) -> Told: ...
    def reply(self, command: str, client_id: str, values: dict[str, Any]) -> list[str]: ...
    def refuse(self, command: str, client_id: str, error: ChatError) -> list[str]: ...


def is_behind(wire: Wire, digest: services.Digest) -> bool:
    """Whether the other end has missed something."""
    return wire.position.differs_from(digest.rev, digest.request_id, digest.seq)
