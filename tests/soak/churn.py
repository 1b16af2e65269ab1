"""People who come, ask, stop, correct, delete and leave, over and over."""

import asyncio
import itertools
import random
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from chat.consumers.json_wire import SUBPROTOCOL as JSON
from tests.crash.remote import RemotePerson, RemoteProgram, RemoteTab, RemoteWire, Server
from tests.support.model_server import Call, Received, Reply, Say, Think, refuse, reply
from tests.support.sample_files import PDF, PNG
from tests.support.waiting import PATIENCE

LONG = [f"word{n:04} " for n in range(2_000)]


def answer(request: Received) -> Reply:
    """What the question asks for: a tool, something long, a refusal; else a few words."""
    messages = request.json["messages"]
    asked = next(str(each["content"]) for each in reversed(messages) if each["role"] == "user")
    if "sum" in asked and messages[-1]["role"] == "user":
        return reply(Think("Let me see."), Call("calculator", {"expression": "6*7"}))
    if "long" in asked:
        return reply(Say(LONG, ms=5))
    if "refuse" in asked:
        return refuse(400, {"error": {"message": "not today"}})
    return reply("Some **words**, a list:\n\n- one\n- two\n\n```py\nprint(1)\n```\n\nand the end.")


@dataclass
class Churn:
    """Everybody who uses the server, and what they have done so far."""

    server: Server
    turns: int = 0
    faults: list[str] = field(default_factory=list)
    _numbers: Any = field(default_factory=itertools.count)

    async def until(self, over: Callable[[], bool], people: int = 6) -> None:
        """All of them at once, until it is over; they have left then."""
        async with asyncio.TaskGroup() as group:
            for _ in range(people):
                group.create_task(self._one(over))

    async def _one(self, over: Callable[[], bool]) -> None:
        acts: list[Callable[[Visit], Awaitable[None]]] = [
            talks, stops, corrects, comes_back, leaves_in_the_middle, is_refused, reads,
            brings_files,
        ]  # fmt: skip
        while not over():
            dice = random.Random(next(self._numbers))
            dice.shuffle(acts)
            await self._visit(acts[:3])

    async def _visit(self, acts: "list[Callable[[Visit], Awaitable[None]]]") -> None:
        conversation = await asyncio.to_thread(self.server.house.rows, "another")
        visit = Visit(self, conversation)
        await visit.come()
        try:
            for act in acts:
                await act(visit)
            assert (await visit.program.ask("delete"))["ok"]
        finally:
            await visit.leave()


class Visit:
    """One conversation, from its first question until it is deleted, in a page and a program."""

    def __init__(self, churn: Churn, conversation: str) -> None:
        self.churn, self.server, self.conversation = churn, churn.server, conversation

    async def come(self) -> None:
        self.program = RemoteProgram(self.server)
        self.program.conversation_id = self.conversation
        self.program.connect = self._connect  # type: ignore[method-assign]
        await self.program.open()
        self.tab = await self.open_tab()
        self.http = httpx.AsyncClient(
            base_url=f"{self.server.url}/c/{self.conversation}/",
            headers={"Cookie": self.server.house.cookie, "Origin": self.server.url},
            timeout=PATIENCE,
        )

    def _connect(self) -> Any:
        return RemoteWire(self.server, JSON, self.conversation)

    async def open_tab(self) -> RemoteTab:
        tab = RemoteTab(RemotePerson(self.server), self.conversation)
        await (await tab.load()).open()
        await tab.until(lambda: "attach" in tab.replies)
        return tab

    async def leave(self) -> None:
        await self.http.aclose()
        await self.tab.cut()
        await self.program.close()

    async def ask(self, command: str, **values: Any) -> dict[str, Any]:
        """A command that begins an answer; it is counted."""
        begun = await self.program.ask(command, **values)
        assert begun["ok"], begun
        self.churn.turns += 1
        return begun

    async def ends(self, begun: dict[str, Any], name: str = "chat:complete") -> dict[str, Any]:
        ended = await self.program.ends(begun["request_id"])
        if ended["name"] != name:
            self.churn.faults.append(f"{ended['name']} instead of {name}: {ended}")
        return ended

    async def begins_to_answer(self) -> None:
        before = len(self.program.events)
        await self.program.until(
            lambda: any(one["name"] == "chat:chunk" for one in self.program.events[before:])
        )


async def talks(visit: Visit) -> None:
    await visit.ends(await visit.ask("send", content="A sum, please"))
    await visit.ends(await visit.ask("send", content="And a few words"))
    await visit.tab.sees_the_end()


async def stops(visit: Visit) -> None:
    begun = await visit.ask("send", content="Something long")
    await visit.begins_to_answer()
    assert (await visit.program.ask("stop"))["ok"]
    await visit.ends(begun, "chat:stopped")


async def corrects(visit: Visit) -> None:
    begun = await visit.ask("send", content="A few words")
    ended = await visit.ends(begun)
    await visit.ends(await visit.ask("regenerate", message_id=ended["message_id"]))
    edited = await visit.ask("edit", message_id=begun["message_id"], content="Other words")
    await visit.ends(edited)


async def comes_back(visit: Visit) -> None:
    """The tab's connection is lost in the middle of an answer, and opened again."""
    begun = await visit.ask("send", content="Something long")
    await visit.begins_to_answer()
    await visit.tab.cut()
    visit.tab = await visit.open_tab()
    assert (await visit.program.ask("stop"))["ok"]
    await visit.ends(begun, "chat:stopped")


async def leaves_in_the_middle(visit: Visit) -> None:
    """A conversation that is deleted while it is answered: the next visit has another."""
    other = await asyncio.to_thread(visit.server.house.rows, "another")
    late = Visit(visit.churn, other)
    await late.come()
    await late.ask("send", content="Something long")
    await late.begins_to_answer()
    assert (await late.program.ask("delete"))["ok"]
    await late.leave()


async def is_refused(visit: Visit) -> None:
    await visit.ends(await visit.ask("send", content="Please refuse"), "chat:error")
    for nonsense in ("unknown", "edit", "version"):
        assert not (await visit.program.ask(nonsense))["ok"]


async def reads(visit: Visit) -> None:
    url, here = visit.server.url, f"/c/{visit.conversation}/"
    for address in ("/", "/?q=words", "/settings/", f"{here}outline/", f"{here}export/html/"):
        page = await visit.http.get(f"{url}{address}")
        assert page.status_code == 200, address
    await visit.tab.cut()
    visit.tab = await visit.open_tab()


async def brings_files(visit: Visit) -> None:
    page = await visit.http.get("")
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert found
    cookies = {"Cookie": f"{visit.server.house.cookie}; {_cookies(page)}"}
    sent = await visit.http.post(
        "attachments/",
        data={"csrfmiddlewaretoken": found[1]},
        files=[("attachments", ("a.png", PNG)), ("attachments", ("b.pdf", PDF))],
        headers=cookies,
    )
    assert sent.status_code == 200, sent.text[:500]
    kept = [each["id"] for each in sent.json()["attachments"]]
    begun = await visit.ask("send", content="A few words about these", attachments=kept)
    await visit.ends(begun)


def _cookies(page: httpx.Response) -> str:
    return "; ".join(f"{name}={value}" for name, value in page.cookies.items())
