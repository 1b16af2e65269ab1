"""What was sent to a provider and what came back, byte by byte, for whoever wants to keep it.

Keys and secret headers are not in it: a placeholder stands where they stood.
"""

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from chat.protocol.ids import now_ms

# Where a key stood.
PLACEHOLDER: Final = "$API_KEY"
# More of an answer is not kept.
MOST: Final = 1_000_000


@dataclass(slots=True)
class Exchange:
    """One request and its answer, with their times in milliseconds."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    # What must not be kept, wherever it turns up.
    secrets: tuple[str, ...] = field(default=(), repr=False)
    began: int = field(default_factory=now_ms)
    first: int | None = None
    ended: int | None = None
    status: int | None = None
    error: str = ""
    _pieces: list[bytes] = field(default_factory=list, repr=False)
    _size: int = 0

    def add(self, piece: bytes) -> None:
        """Take in what has come of the answer."""
        if self.first is None:
            self.first = now_ms()
        if self._size < MOST:
            self._pieces.append(piece)
            self._size += len(piece)

    def sent(self) -> bytes:
        return self._without_secrets(self.body[:MOST])

    def received(self) -> bytes:
        return self._without_secrets(b"".join(self._pieces)[:MOST])

    def _without_secrets(self, text: bytes) -> bytes:
        for secret in self.secrets:
            text = text.replace(secret.encode(), PLACEHOLDER.encode())
        return text


# Who keeps the exchanges of this task; nobody, as a rule.
recorder: ContextVar[Callable[[Exchange], None] | None] = ContextVar("recorder", default=None)
