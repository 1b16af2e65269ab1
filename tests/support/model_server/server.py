"""A model provider on loopback that says what a test tells it to."""

import asyncio
import json
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from tests.support.model_server.anthropic_wire import AnthropicWire
from tests.support.model_server.connection import Connection, Received
from tests.support.model_server.ollama_wire import OllamaWire
from tests.support.model_server.openai_wire import OpenAIWire
from tests.support.model_server.pacing import Pacer
from tests.support.model_server.playing import Player
from tests.support.model_server.replies import Reply, Step, refuse, reply
from tests.support.model_server.responses_wire import ResponsesWire
from tests.support.model_server.wires import Wire
from tests.support.waiting import PATIENCE

WIRES: dict[str, type[Wire]] = {
    "/chat/completions": OpenAIWire,
    "/responses": ResponsesWire,
    "/messages": AnthropicWire,
    "/api/chat": OllamaWire,
}
MODELS = ("scripted-small", "scripted-large")


def json_reply(document: object) -> Reply:
    return Reply(body=json.dumps(document).encode(), headers={"content-type": "application/json"})


class ScriptedProvider:
    """A real HTTP server in a thread and loop of its own.

    `script(...)` queues replies, one per request; when the queue is empty `answer` is asked
    (a reply, or a function of the request); without one, requests are refused with 400.
    """

    def __init__(
        self,
        port: int = 0,
        *,
        answer: Reply | Callable[[Received], Reply] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.answer = answer
        self.models: tuple[str, ...] = MODELS
        # What is answered at other paths, by their ends: a document, or a function of the request.
        self.documents: dict[str, Any] = {}
        self.requests: list[Received] = []
        self.connections: set[Connection] = set()
        self.port = port
        self._tls = tls
        self._queue: deque[Reply] = deque()
        self._news = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._pacer = Pacer(self._loop)
        self._thread = threading.Thread(target=self._run, name="scripted-provider", daemon=True)

    # --- for tests ---------------------------------------------------------------

    def __enter__(self) -> Self:
        started = threading.Event()
        self._loop.call_soon(started.set)
        future = self._loop.create_task(self._listen())
        self._thread.start()
        started.wait()
        asyncio.run_coroutine_threadsafe(self._settled(future), self._loop).result(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(PATIENCE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    @property
    def root(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """Where the OpenAI and Anthropic wires are; Ollama's is at `root`."""
        return f"{self.root}/v1"

    def script(self, *replies: Reply | Step | str) -> None:
        """Queue replies; a step or a text is a reply of its own."""
        self._queue.extend(one if isinstance(one, Reply) else reply(one) for one in replies)

    @property
    def unplayed(self) -> int:
        return len(self._queue)

    def wait(
        self, condition: Callable[["ScriptedProvider"], Any], timeout: float = PATIENCE
    ) -> None:
        """Until the condition holds: after each request, reply and disconnect it is tried."""
        with self._news:
            if not self._news.wait_for(lambda: condition(self), timeout):
                raise TimeoutError(f"not within {timeout} s; requests: {self.requests}")

    async def until(self, condition: Callable[["ScriptedProvider"], Any]) -> None:
        """The same for async tests."""
        await asyncio.to_thread(self.wait, condition)

    # --- inside ------------------------------------------------------------------

    def changed(self) -> None:
        with self._news:
            self._news.notify_all()

    async def play(self, connection: Connection, request: Received) -> bool:
        self.requests.append(request)
        self.changed()
        for end, document in self.documents.items():
            if request.path.endswith(end):
                told = document(request) if callable(document) else document
                return await self._play(connection, OpenAIWire({}), json_reply(told))
        if request.method == "GET":
            return await self._play(connection, OpenAIWire({}), self._listing(request))
        wire = next((wire for end, wire in WIRES.items() if request.path.endswith(end)), None)
        if wire is None:
            missing = refuse(404, {"error": {"message": f"no such path: {request.path}"}})
            return await self._play(connection, OpenAIWire({}), missing)
        return await self._play(connection, wire(request.json), self._chosen(request))

    async def _play(self, connection: Connection, wire: Wire, answer: Reply) -> bool:
        return await Player(connection, self._pacer, wire, answer).play()

    def _chosen(self, request: Received) -> Reply:
        with suppress(IndexError):
            return self._queue.popleft()
        if self.answer is None:
            return refuse(400, {"error": {"message": "nothing is scripted for this request"}})
        return self.answer if isinstance(self.answer, Reply) else self.answer(request)

    def _listing(self, request: Received) -> Reply:
        if request.path.endswith("/api/tags"):
            found: object = {"models": [{"name": name, "model": name} for name in self.models]}
        elif request.path.endswith("/models"):
            found = {"object": "list", "data": [{"id": name} for name in self.models]}
        else:
            return refuse(404, {"error": {"message": f"no such path: {request.path}"}})
        if self._queue and self._queue[0].status != 200:
            return self._queue.popleft()
        return json_reply(found)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _settled(self, task: asyncio.Task[None]) -> None:
        await task

    async def _listen(self) -> None:
        self._server = await self._loop.create_server(
            lambda: Connection(self), "127.0.0.1", self.port, ssl=self._tls, backlog=1024
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        for connection in list(self.connections):
            connection.transport.abort()
        await asyncio.sleep(0)
        ours = asyncio.current_task()
        for task in asyncio.all_tasks():
            if task is not ours:
                task.cancel()
        await asyncio.sleep(0)
