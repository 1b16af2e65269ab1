"""Parleys in processes of their own, and the people and programs that use them over the network."""

import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from chat.tongues import JSON
from tests.live.driver import Tab
from tests.live.page import LivePage
from tests.live.wire import Closed, Wire
from tests.services.process import free_port, wait_until
from tests.services.server import ROOT, environment, python
from tests.turns.program import Program

# Short enough for a test, and still several renewals long.
LEASES = {"PARLEY_LIMIT_LEASE_SECONDS": "3", "PARLEY_LIMIT_RENEW_SECONDS": "1"}
COMMANDS = {
    "daphne": ["manage.py", "serve"],
    "uvicorn": ["-m", "uvicorn", "chatsite.asgi:application", "--no-access-log", "--port"],
}


@dataclass
class House:
    """One database, one person with one conversation, and the processes that serve them."""

    data: Path
    provider_url: str
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.settings = {**LEASES, **self.settings}
        made = self.rows("talk", self.provider_url)
        self.conversation, self.cookie = made["conversation"], made["cookie"]

    def rows(self, verb: str, *words: str) -> Any:
        result = python(self.data, "-m", "tests.crash.rows", verb, *words, **self.settings)
        assert result.returncode == 0, result.stderr[-3000:]
        return json.loads(result.stdout.splitlines()[-1])

    @contextmanager
    def served(self, by: str = "daphne") -> Iterator["Server"]:
        """A process that serves them; what it was told to do, also to die, it may do before."""
        port = str(free_port())
        env = environment(self.data, **self.settings, PORT=port)
        command = [sys.executable, *COMMANDS[by], *([port] if by == "uvicorn" else [])]
        log = self.data / f"{by}-{port}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=file, stderr=file)
        server = Server(self, f"http://127.0.0.1:{port}", process, log)
        try:
            wait_until(server.answers, process, log, seconds=60)
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


@dataclass
class Server:
    house: House
    url: str
    process: "subprocess.Popen[bytes]"
    log: Path

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200
        except httpx.HTTPError:
            return False

    async def program(self) -> "RemoteProgram":
        one = RemoteProgram(self)
        await one.open()
        return one

    async def tab(self) -> "RemoteTab":
        tab = RemoteTab(RemotePerson(self), self.house.conversation)
        return await (await tab.load()).open()  # type: ignore[return-value]

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, 30)


class RemoteWire(Wire):
    """The same as a `Wire`, through a real server."""

    def __init__(self, server: Server, subprotocol: str = "") -> None:
        self._server = server
        self._asked = [Subprotocol(subprotocol)] if subprotocol else None
        self._socket: ClientConnection | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def accepted(self) -> bool:
        server = self._server
        self._socket = await connect(
            f"ws{server.url.removeprefix('http')}/ws/c/{server.house.conversation}/",
            origin=Origin(server.url),
            additional_headers={"Cookie": server.house.cookie},
            subprotocols=self._asked,
            max_size=None,
        )
        self.subprotocol = self._socket.subprotocol
        return True

    def send(self, text: str | None = None, data: bytes | None = None) -> None:
        task = asyncio.create_task(self._send(text or ""))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, text: str) -> None:
        assert self._socket is not None
        try:
            await self._socket.send(text)
        except ConnectionClosed:
            return

    async def receive(self) -> str:
        assert self._socket is not None
        try:
            return str(await self._socket.recv())
        except ConnectionClosed as closed:
            raise Closed(closed.rcvd.code if closed.rcvd else 1006) from None

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()


class RemoteProgram(Program):
    def __init__(self, server: Server) -> None:
        super().__init__(None, server.house.conversation)  # type: ignore[arg-type]
        self.server = server
        # What the answer that is being written says, and how long it was when.
        self.spoken = ""
        self.growth: list[tuple[int, float]] = []

    def heard(self) -> None:
        event = self.events[-1]
        if event["name"] == "chat:chunk":
            self.spoken = self.seen.texts[event["part_id"]]
            self.growth.append((len(self.spoken), time.monotonic()))

    def connect(self) -> Wire:
        return RemoteWire(self.server, JSON)


class RemotePerson:
    """Alice's browser, at one of the servers."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def page(self, conversation_id: object) -> LivePage:
        headers = {"Cookie": self.server.house.cookie, "accept-language": "en"}
        async with httpx.AsyncClient(headers=headers, timeout=20) as client:
            response = await client.get(f"{self.server.url}/c/{conversation_id}/")
        assert response.status_code == 200, response.status_code
        return LivePage(response.text)


class RemoteTab(Tab):
    person: RemotePerson  # type: ignore[assignment]

    def __init__(self, person: RemotePerson, conversation_id: object) -> None:
        super().__init__(person, conversation_id)  # type: ignore[arg-type]

    def connect(self) -> Wire:
        return RemoteWire(self.person.server)
