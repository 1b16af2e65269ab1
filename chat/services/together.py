"""Many who ask the same kind of question within a moment are answered by one reading."""

import asyncio
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from chat.services.background import Background
from chat.services.pool import in_pool

Key = TypeVar("Key")
Value = TypeVar("Value")

# How long a question waits for others, in seconds, where nobody says otherwise.
PAUSE: Final = 0.05


class Together(Generic[Key, Value]):
    """Answers each by its key; nothing where the reading knows nothing of it."""

    def __init__(
        self, read: Callable[[list[Key]], dict[Key, Value]], name: str, pause: float = PAUSE
    ) -> None:
        self._read = read
        self._name = name
        self._pause = pause
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked: dict[Key, asyncio.Future[Value | None]] = {}
        self._answering = Background()

    async def get(self, key: Key) -> Value | None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            # Whoever asked in a loop that is over waits no more.
            self._loop, self._asked = loop, {}
        waiting = self._asked.get(key)
        if waiting is None:
            waiting = self._asked[key] = loop.create_future()
            if len(self._asked) == 1:
                loop.call_later(self._pause, self._answer_all)
        return await asyncio.shield(waiting)

    def _answer_all(self) -> None:
        self._answering.spawn(self._answer(), self._name)

    async def _answer(self) -> None:
        asked, self._asked = self._asked, {}
        try:
            found = await in_pool(self._read, list(asked))
        except Exception as error:  # noqa: BLE001 - it is raised to everybody who waits
            for waiting in asked.values():
                if not waiting.done():
                    waiting.set_exception(error)
            return
        for key, waiting in asked.items():
            if not waiting.done():
                waiting.set_result(found.get(key))
