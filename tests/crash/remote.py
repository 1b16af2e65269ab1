"""Parleys in processes of their own, and the people and programs that use them over the network."""

import asyncio
import json
import shutil
import signal
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin, Subprotocol

from chat.consumers.json_wire import SUBPROTOCOL as JSON
from tests.support.page import LivePage
from tests.support.process import free_port, wait_until
from tests.support.program import Program
from tests.support.server import ROOT, environment
from tests.support.sockets import Closed, Wire
from tests.support.tables import lay_tables
from tests.support.tabs import Tab
from tests.support.waiting import PATIENCE

# Short enough for a test, and still several renewals long.
LEASES = {"PARLEY_LIMIT_LEASE_SECONDS": "3", "PARLEY_LIMIT_RENEW_SECONDS": "1"}
COMMANDS = {
    "daphne": ["manage.py", "serve"],
    "uvicorn": ["manage.py", "serve"],
    # As somebody starts it who does not know `serve`.
    "bare uvicorn": ["-m", "uvicorn", "chatsite.asgi:application", "--no-access-log", "--port"],
    # One that lets no socket grow older than three seconds: without being told, a day.
    "impatient daphne": [
        *("-m", "daphne", "chatsite.asgi:application", "--websocket_timeout", "3", "--port"),
    ],
}
# Nothing here is encrypted: to load the certificates of a machine takes longer than most requests.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def fresh_database(url: str) -> str:
    """The address of an empty database on the same server."""
    import psycopg

    name = f"crash_{time.monotonic_ns()}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'create database "{name}"')
    return f"{url.rsplit('/', 1)[0]}/{name}"


class _First:
    """The first house on SQLite, kept as it was made: the others are copies of it, for to make
    all tables anew takes longer than most of these tests."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._made: dict[str, str] = {}

    def is_there(self) -> bool:
        return self._folder is not None

    def keep(self, data: Path, made: dict[str, str]) -> None:
        self._folder, self._made = tempfile.TemporaryDirectory(), made
        shutil.copytree(data, self._folder.name, dirs_exist_ok=True)

    def copy(self, data: Path, provider_url: str) -> dict[str, str]:
        assert self._folder
        shutil.copytree(self._folder.name, data, dirs_exist_ok=True)
        with closing(sqlite3.connect(data / "db.sqlite3")) as database, database:
            database.execute(
                "UPDATE chat_provider SET base_url = ? WHERE name = 'Scripted'", [provider_url]
            )
        return self._made


_first = _First()


@dataclass
class House:
    """One database, one person with one conversation, and the processes that serve them."""

    data: Path
    provider_url: str
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.data.mkdir(parents=True, exist_ok=True)
        self.settings = {**LEASES, **self.settings}
        self._asking = threading.Lock()
        on_sqlite = "DATABASE_URL" not in self.settings
        if on_sqlite and _first.is_there():
            made = _first.copy(self.data, self.provider_url)
        else:
            lay_tables(self.data, database=on_sqlite)
            made = self.rows("talk", self.provider_url)
            if on_sqlite:
                _first.keep(self.data, made)
        self.conversation, self.cookie = made["conversation"], made["cookie"]

    @cached_property
    def _rows(self) -> "subprocess.Popen[str]":
        """The process that reads and writes the rows (`tests/crash/rows.py`)."""
        with (self.data / "rows.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.rows"],
                cwd=ROOT, env=environment(self.data, **self.settings),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        # It ends when nothing more can be asked.
        weakref.finalize(self, process.communicate)
        return process

    def close(self) -> None:
        """Hold nothing open in the folder, until something is asked again."""
        if process := self.__dict__.pop("_rows", None):
            process.communicate()

    def rows(self, verb: str, *words: str) -> Any:
        asking, answering = self._rows.stdin, self._rows.stdout
        assert asking
        assert answering
        with self._asking:
            print(json.dumps([verb, *words]), file=asking, flush=True)
            answer = answering.readline()
        assert answer, (self.data / "rows.log").read_text()[-3000:]
        return json.loads(answer)

    @contextmanager
    def served(self, by: str = "daphne", **settings: str) -> Iterator["Server"]:
        """A process that serves them; what it was told to do, also to die, it may do before."""
        port = str(free_port())
        server = "daphne" if by == "daphne" else "uvicorn"
        settings = {**self.settings, **settings, "PORT": port, "PARLEY_SERVER": server}
        env = environment(self.data, **settings)
        command = [sys.executable, *COMMANDS[by], *([] if "manage.py" in COMMANDS[by] else [port])]
        log = self.data / f"{server}-{port}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=file, stderr=file)
        server = Server(self, f"http://127.0.0.1:{port}", process, log)
        try:
            wait_until(server.answers, process, log)
            yield server
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                try:
                    process.wait(PATIENCE)
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
            return httpx.get(f"{self.url}/healthz", timeout=2, verify=PLAIN).status_code == 200
        except httpx.HTTPError:
            return False

    def open_files(self) -> int:
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    async def program(self, talk: str = "") -> "RemoteProgram":
        one = RemoteProgram(self, talk)
        await one.open()
        return one

    async def tab(self, talk: str = "") -> "RemoteTab":
        tab = RemoteTab(RemotePerson(self), talk or self.house.conversation)
        return await (await tab.load()).open()  # type: ignore[return-value]

    async def ended(self) -> int:
        return await asyncio.to_thread(self.process.wait, PATIENCE)


class RemoteWire(Wire):
    """The same as a `Wire`, through a real server."""

    def __init__(self, server: Server, subprotocol: str = "", conversation: str = "") -> None:
        self._server = server
        self._conversation = conversation or server.house.conversation
        self._asked = [Subprotocol(subprotocol)] if subprotocol else None
        self._socket: ClientConnection | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def accepted(self) -> bool:
        server = self._server
        self._socket = await connect(
            f"ws{server.url.removeprefix('http')}/ws/c/{self._conversation}/",
            origin=Origin(server.url),
            additional_headers={"Cookie": server.house.cookie},
            subprotocols=self._asked,
            max_size=None,
            open_timeout=PATIENCE,
        )
        self.subprotocol = self._socket.subprotocol
        return True

    def send(self, text: str | None = None, data: bytes | None = None) -> None:
        task = asyncio.create_task(self._send(text or ""))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _send(self, text: str) -> None:
        if self._socket is None:
            # What a page says between two sockets is lost.
            return
        try:
            await self._socket.send(text)
        except ConnectionClosed:
            return

    async def receive(self, patience: float | None = None) -> str:
        assert self._socket is not None
        try:
            async with asyncio.timeout(patience):
                return str(await self._socket.recv())
        except ConnectionClosed as closed:
            raise Closed(closed.rcvd.code if closed.rcvd else 1006) from None

    async def close(self) -> None:
        if self._socket is not None:
            await self._socket.close()


class RemoteProgram(Program):
    def __init__(self, server: Server, talk: str = "") -> None:
        super().__init__(None, talk or server.house.conversation)  # type: ignore[arg-type]
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
        return RemoteWire(self.server, JSON, str(self.conversation_id))


class RemotePerson:
    """Alice's browser, at one of the servers."""

    def __init__(self, server: Server) -> None:
        self.server = server

    async def page(self, conversation_id: object, query: str = "") -> LivePage:
        headers = {"Cookie": self.server.house.cookie, "accept-language": "en"}
        async with httpx.AsyncClient(headers=headers, timeout=PATIENCE, verify=PLAIN) as client:
            response = await client.get(f"{self.server.url}/c/{conversation_id}/{query}")
        assert response.status_code == 200, response.status_code
        return LivePage(response.text)


class RemoteTab(Tab):
    person: RemotePerson  # type: ignore[assignment]

    def __init__(self, person: RemotePerson, conversation_id: object) -> None:
        super().__init__(person, conversation_id)  # type: ignore[arg-type]

    def connect(self) -> Wire:
        return RemoteWire(self.person.server, conversation=str(self.conversation_id))
