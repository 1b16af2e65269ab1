"""How much a socket may ask for, and a person through all the sockets that they have open here."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings

from chat.protocol.errors import ChatError

# So many seconds' worth may be asked for at once.
BURST: Final = 2.0


class Allowance:
    """So much a second: a burst is fine, a flood is not."""

    def __init__(self, rate: Callable[[], float]) -> None:
        # Asked each time: a limit is a setting.
        self._rate = rate
        self._left = BURST * rate()
        self._at = time.monotonic()

    def spend(self, amount: float = 1.0) -> None:
        rate, now = self._rate(), time.monotonic()
        self._left = min(BURST * rate, self._left + (now - self._at) * rate)
        self._at = now
        if self._left < amount:
            raise ChatError("error.chat_too_fast")
        self._left -= amount


def commands_per_socket() -> float:
    return _limit("frames_per_second")


def acknowledgements_per_socket() -> float:
    """Commands that only say how far was read: a program says so for every event."""
    return 10.0 * commands_per_socket()


def commands_per_person() -> float:
    """In a burst each of their tabs may come back, and say whether it is in front."""
    return commands_per_socket() * max(1.0, _limit("sockets_per_user") / 10)


def characters_per_person() -> float:
    """As many as the longest message has."""
    return _limit("frame_bytes")


def _limit(name: str) -> float:
    limit: float = settings.PARLEY_LIMITS[name]
    return limit


@dataclass
class OpenSockets:
    """Those that a person has open in this process: all together cost no more than this."""

    number: int = 0
    commands: Allowance = field(default_factory=lambda: Allowance(commands_per_person))
    characters: Allowance = field(default_factory=lambda: Allowance(characters_per_person))

    def spend(self, message: dict[str, Any]) -> None:
        """One command, as long as it is; of one that is too long to be taken no more is read."""
        self.commands.spend()
        self.characters.spend(min(len(message.get("text") or ""), characters_per_person()))


_open: dict[int, OpenSockets] = {}


@contextmanager
def count_socket(user_id: int) -> Iterator[OpenSockets | None]:
    """A socket of this person, while it is open; nobody where they have too many."""
    mine = _open.setdefault(user_id, OpenSockets())
    if mine.number >= _limit("sockets_per_user"):
        yield None
        return
    mine.number += 1
    try:
        yield mine
    finally:
        mine.number -= 1
        # Whoever leaves and comes back at once may ask for no more than who stays.
        asyncio.get_running_loop().call_later(BURST, _forget, user_id)


def _forget(user_id: int) -> None:
    if user_id in _open and not _open[user_id].number:
        del _open[user_id]
