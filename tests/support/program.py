"""A program on a socket: it speaks `parley.v1+json`, and remembers all it is told."""

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from chat.consumers.json_wire import SUBPROTOCOL as JSON
from tests.support.invariants import Seen
from tests.support.sockets import Closed, Wire
from tests.support.tabs import Person
from tests.support.waiting import PATIENCE, eventually

_numbers = itertools.count(1)


class Program:
    """One socket of one person, attached to a conversation."""

    def __init__(self, person: Person, conversation_id: object) -> None:
        self.person = person
        self.conversation_id = conversation_id
        self.tab_id = f"program:{next(_numbers)}"
        self.events: list[dict[str, Any]] = []
        self.replies: dict[str, dict[str, Any]] = {}
        self.seen = Seen()
        self.closed: int | None = None

    async def open(self, *, attach: bool = True) -> "Program":
        self.wire = self.connect()
        assert await self.wire.accepted()
        assert self.wire.subprotocol == JSON
        self.closed = None
        self._reading = asyncio.create_task(self._read())
        if attach:
            assert (await self.ask("attach", tab_id=self.tab_id))["ok"]
        return self

    def connect(self) -> Wire:
        return Wire(f"/ws/c/{self.conversation_id}/", self.person.headers, (JSON,))

    async def close(self) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.wire.close()

    async def _read(self) -> None:
        try:
            while True:
                said = json.loads(await self.wire.receive())
                if "reply" in said:
                    self.replies[said["client_id"]] = said
                    self.seen.reply(said)
                else:
                    self.events.append(said)
                    self.seen.event(said)
                    self.heard()
        except Closed as closed:
            self.closed = closed.code
            await self.wire.close()

    def heard(self) -> None:
        """Something new was told."""

    def say(self, command: str, **values: Any) -> str:
        client_id: str = values.setdefault("client_id", f"program-{next(_numbers)}")
        values.setdefault("tab_id", self.tab_id)
        self.replies.pop(client_id, None)
        self.wire.send(json.dumps({"command": command, **values}))
        return client_id

    async def reply(self, client_id: str) -> dict[str, Any]:
        await eventually(lambda: client_id in self.replies or self.closed)
        assert client_id in self.replies, f"closed with {self.closed}"
        return self.replies[client_id]

    async def ask(self, command: str, **values: Any) -> dict[str, Any]:
        return await self.reply(self.say(command, **values))

    async def send(self, content: str, **values: Any) -> dict[str, Any]:
        return await self.ask("send", content=content, **values)

    async def until(self, true: Callable[[], Any], seconds: float = PATIENCE) -> None:
        await eventually(true, seconds)

    def named(self, *names: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["name"] in names]

    async def ends(self, request_id: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The last event of a run."""
        ended = ("chat:complete", "chat:stopped", "chat:error")

        def found() -> list[dict[str, Any]]:
            return [event for event in self.named(*ended) if event["request_id"] == request_id]

        await eventually(found, seconds)
        return found()[-1]

    async def hears(self, text: str, seconds: float = PATIENCE) -> None:
        """Until some part says this."""
        await eventually(lambda: any(text in said for said in self.seen.texts.values()), seconds)
