"""A WebSocket straight to the application: what a server would do, without the server."""

import asyncio
from typing import Any

from chatsite.asgi import application
from tests.support.waiting import PATIENCE


class Closed(Exception):
    """The application closed the socket; `code` says why."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Wire:
    """One connection; frames of the server are taken with `receive`."""

    def __init__(
        self, path: str, headers: dict[str, str], subprotocols: tuple[str, ...] = ()
    ) -> None:
        self._in: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "subprotocols": list(subprotocols),
        }
        self._in.put_nowait({"type": "websocket.connect"})
        self._task = asyncio.create_task(application(scope, self._in.get, self._out.put))

    async def accepted(self) -> bool:
        first = await self._next()
        self.subprotocol = first.get("subprotocol")
        return first["type"] == "websocket.accept"

    def send(self, text: str | None = None, data: bytes | None = None) -> None:
        self._in.put_nowait({"type": "websocket.receive", "text": text, "bytes": data})

    @property
    def waiting(self) -> int:
        """Frames that were sent and not taken yet."""
        return self._out.qsize()

    async def receive(self, patience: float | None = PATIENCE) -> str:
        """The next frame; without patience to lose, however long it takes."""
        message = await self._next(patience)
        if message["type"] == "websocket.close":
            raise Closed(message.get("code", 1000))
        text: str = message["text"]
        return text

    async def _next(self, patience: float | None = PATIENCE) -> dict[str, Any]:
        """The next message; a broken application is what the server closes with 1011."""
        getting = asyncio.ensure_future(self._out.get())
        try:
            ends = {getting, self._task}
            await asyncio.wait(ends, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
        finally:
            getting.cancel()
        if not self._task.done():
            raise TimeoutError("the application says nothing")
        self._task.result()
        raise Closed(1006)

    async def close(self) -> None:
        """The other end is gone."""
        self._in.put_nowait({"type": "websocket.disconnect", "code": 1006})
        await asyncio.wait({self._task}, timeout=PATIENCE)
        if not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
