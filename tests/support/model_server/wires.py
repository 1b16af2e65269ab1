"""How a step is written on a wire; each wire is one small class in a file of its own."""

import time
from collections.abc import Iterator
from typing import Any, Protocol

from tests.support.model_server.replies import Call, Reply, Tally, Think


class Wire(Protocol):
    """One answer being written: events as bytes, in order."""

    content_type: str

    def __init__(self, body: dict[str, Any]) -> None: ...

    def opening(self, reply: Reply) -> Iterator[bytes]: ...

    def say(self, token: str) -> bytes: ...

    def think(self, token: str) -> bytes: ...

    def thought(self, step: Think) -> Iterator[bytes]: ...

    def call(self, step: Call) -> Iterator[bytes]: ...

    def closing(self, finish: str | None, usage: Tally | None, done: bool) -> Iterator[bytes]: ...


def pieces(text: str, count: int) -> list[str]:
    size = max(1, -(-len(text) // max(1, count)))
    return [text[at : at + size] for at in range(0, len(text), size)]


def now() -> int:
    return int(time.time())
