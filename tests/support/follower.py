"""A program that follows a conversation by the JSON events, folding them as the protocol says."""

import asyncio
import itertools
import json
from typing import Any

from chat.consumers.json_wire import SUBPROTOCOL as JSON
from tests.support.sockets import Closed, Wire
from tests.support.tabs import Person
from tests.support.waiting import eventually

_numbers = itertools.count(1)


class Follower:
    """Keeps the messages by what it is told; knows nothing of rows or pages."""

    def __init__(self, person: Person, conversation_id: object) -> None:
        self.person = person
        self.conversation_id = conversation_id
        self.messages: dict[str, dict[str, Any]] = {}
        self.heard: list[dict[str, Any]] = []
        self.replies: dict[str, dict[str, Any]] = {}
        # How often it had to be given everything.
        self.snapshots = 0

    async def open(self) -> "Follower":
        self.wire = Wire(f"/ws/c/{self.conversation_id}/", self.person.headers, (JSON,))
        assert await self.wire.accepted()
        assert self.wire.subprotocol == JSON
        self._reading = asyncio.create_task(self._read())
        await self.ask("attach", shown=None)
        return self

    async def cut(self) -> None:
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.wire.close()

    async def ask(self, command: str, **values: Any) -> dict[str, Any]:
        client_id = f"program-{next(_numbers)}"
        self.wire.send(json.dumps({"command": command, "client_id": client_id, **values}))
        await eventually(lambda: client_id in self.replies)
        return self.replies[client_id]

    async def _read(self) -> None:
        while True:
            try:
                said = json.loads(await self.wire.receive())
            except Closed:
                return
            if "reply" in said:
                self.replies[said["client_id"]] = said
            else:
                self.heard.append(said)
                self._fold(said)

    def _fold(self, event: dict[str, Any]) -> None:
        match event["name"]:
            case "chat:snapshot":
                self.snapshots += 1
                self.messages = {}
                self._put(*event["messages"])
            case "chat:user-message":
                self._put(event["message"])
            case "chat:start":
                known = self.messages.get(event["message_id"], {"parts": {}})
                self.messages[event["message_id"]] = {**known, "info": event["info"]}
            case "chat:chunk" | "chat:thinking":
                self._grow(event)
            case "chat:tool" | "chat:step":
                parts = self.messages[event["message_id"]]["parts"]
                parts[event["position"]] = event["part"]
            case "chat:complete" | "chat:stopped" | "chat:error" if "info" in event:
                self.messages[event["message_id"]]["info"] = event["info"]
            case "chat:edited":
                gone = set(event["removed"])
                for key, message in list(self.messages.items()):
                    if message["info"].get("position") in gone:
                        del self.messages[key]
                self._put(*event["messages"])

    def _put(self, *messages: dict[str, Any]) -> None:
        """Take messages in, each in the place of the one with its id."""
        for message in messages:
            parts = dict(enumerate(message["parts"]))
            self.messages[message["info"]["id"]] = {**message, "parts": parts}

    def _grow(self, event: dict[str, Any]) -> None:
        kind = "text" if event["name"] == "chat:chunk" else "reasoning"
        parts = self.messages[event["message_id"]]["parts"]
        new = {"id": event["part_id"], "type": kind, "text": ""}
        part = parts.setdefault(event["position"], new)
        end = event["offset"] + len(event["delta"])
        if end > len(part["text"]):
            part["text"] = part["text"][: event["offset"]] + event["delta"]

    async def until_it_knows(self, messages: list[tuple[Any, ...]]) -> None:
        try:
            await eventually(lambda: self.told() == messages)
        except TimeoutError:
            assert self.told() == messages

    def told(self) -> list[tuple[Any, ...]]:
        """What it knows, to compare with what is stored."""
        ordered = sorted(self.messages.values(), key=lambda each: each["info"].get("position", 0))
        return [
            (
                message["info"]["id"],
                message["info"],
                [_essence(part) for _, part in sorted(message["parts"].items())],
            )
            for message in ordered
        ]


def _essence(part: dict[str, Any]) -> tuple[Any, ...]:
    return part["id"], part["type"], part.get("text"), part.get("state")


def stored(messages: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same of what the `messages` command reads from the rows."""
    return [
        (
            message["info"]["id"],
            message["info"],
            [_essence(part) for part in message["parts"]],
        )
        for message in messages
    ]
