"""A person's tabs: pages loaded by HTTP, sockets opened, fragments applied, all for real."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.cookies import SimpleCookie
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.test import AsyncClient

from chat.consumers.consumer import ChatConsumer
from tests.support.page import LivePage, difference
from tests.support.sockets import Closed, Wire
from tests.support.waiting import PATIENCE, eventually

ORIGIN = f"http://127.0.0.1:{settings.PORT}"
# How often sockets compare themselves with the database, where nobody says otherwise.
COMPARE_EVERY = ChatConsumer.compare_every
# How long a page waits before it acknowledges frames, in seconds: as static/js/socket.js does.
ACKNOWLEDGE = 1.0
_numbers = itertools.count(1)


class Person:
    """Somebody logged in, in a browser that asks for one language."""

    def __init__(self, user: User, language: str = "en") -> None:
        self.user = user
        self.language = language
        self.client = AsyncClient()

    async def enter(self) -> "Person":
        await self.client.aforce_login(self.user)
        self.client.cookies[settings.LANGUAGE_COOKIE_NAME] = self.language
        return self

    def speaking(self, language: str) -> "Person":
        """The same person, in a second browser."""
        other = Person(self.user, language)
        other.client.cookies = SimpleCookie(self.client.cookies.output(header="", sep=";"))
        other.client.cookies[settings.LANGUAGE_COOKIE_NAME] = language
        return other

    @property
    def headers(self) -> dict[str, str]:
        cookie = "; ".join(f"{key}={one.value}" for key, one in self.client.cookies.items())
        return {"cookie": cookie, "origin": ORIGIN}

    async def page(self, conversation_id: object, query: str = "") -> LivePage:
        response = await self.client.get(f"/c/{conversation_id}/{query}")
        assert response.status_code == 200, response.status_code
        return LivePage(response.content.decode())


class Tab:
    """A page with its socket, behaving as static/js/socket.js does."""

    def __init__(self, person: Person, conversation_id: object, query: str = "") -> None:
        self.person = person
        self.conversation_id = conversation_id
        # Which messages its address names, where it is not the latest.
        self.query = query
        self.tab_id = f"window:{next(_numbers)}"
        self.replies: dict[str, dict[str, Any]] = {}
        self.refusals: list[dict[str, Any]] = []
        self.received = 0
        self.frames = 0
        self.closed: int | None = None
        self.broken: BaseException | None = None

    async def load(self) -> "Tab":
        self.page = await self.person.page(self.conversation_id, self.query)
        return self

    async def open(self) -> "Tab":
        """Open the socket and say what the page shows."""
        self.wire = self.connect()
        assert await self.wire.accepted()
        self.frames = self.acknowledged = 0
        self.closed = None
        self._reading = asyncio.create_task(self._read())
        self.attach()
        return self

    def attach(self) -> None:
        self.say(
            "attach",
            client_id="attach",
            tab_id=self.tab_id,
            shown=self.page.shown(),
            column=self.page.column(),
            archived=self.page.archived(),
            was_read=self.page.was_read(),
        )

    def connect(self) -> Wire:
        return Wire(f"/ws/c/{self.conversation_id}/", self.person.headers)

    async def cut(self) -> None:
        """The connection is gone; the page stays as it is."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        await self.wire.close()

    async def close(self) -> None:
        """The tab is closed, and says so."""
        await self.ask("detach")
        await self.cut()

    async def _read(self) -> None:
        try:
            while True:
                # A page that is told nothing is not broken: whoever waits for something says so.
                frame = await self.wire.receive(patience=None)
                self.frames += 1
                self.received += len(frame)
                if frame.startswith("{"):
                    self._hear(json.loads(frame))
                else:
                    self.page.apply(frame)
                if self.frames - self.acknowledged == 1:
                    asyncio.get_running_loop().call_later(ACKNOWLEDGE, self._acknowledge)
        except Closed as closed:
            self.closed = closed.code
        except Exception as error:  # kept for the test, which looks at it while it waits
            self.broken = error
            raise

    def _hear(self, reply: dict[str, Any]) -> None:
        self.replies[reply["client_id"]] = reply
        if not reply["ok"]:
            self.refusals.append(reply)

    def _acknowledge(self) -> None:
        if self.frames > self.acknowledged:
            self.acknowledged = self.frames
            self.say("ack", frames=self.frames)

    def say(self, command: str, **values: Any) -> None:
        self.wire.send(json.dumps({"command": command, **values}))

    async def ask(self, command: str, **values: Any) -> dict[str, Any]:
        """Say something, as `insist` of socket.js does, and wait for its reply."""
        values = {"tab_id": self.tab_id, "head": self.page.head(), **values}
        client_id = values.setdefault("client_id", f"client-{next(_numbers)}")
        self.replies.pop(client_id, None)
        self.say(command, **values)
        await self.until(lambda: client_id in self.replies)
        return self.replies[client_id]

    async def send(self, text: str) -> dict[str, Any]:
        """Send, and see it on the page if it was taken."""
        reply = await self.ask("send", content=text)
        if reply["ok"]:
            said = reply["message_id"]
            await self.until(lambda: said in [each.get("data-id") for each in self.page.messages()])
        return reply

    async def stop(self) -> dict[str, Any]:
        return await self.ask("stop")

    async def until(self, true: Callable[[], Any], seconds: float = PATIENCE) -> None:
        """Wait for a condition, and fail as soon as the page breaks."""

        def holds() -> bool:
            if self.broken:
                raise self.broken
            return bool(true())

        await eventually(holds, seconds)

    async def sees(self, text: str, seconds: float = PATIENCE) -> None:
        await self.until(lambda: text in self.page.text_of("t"), seconds)

    async def sees_the_end(self, seconds: float = PATIENCE) -> None:
        """Until the last message on the page is an answer that has ended."""
        await self.until(lambda: not self.running and self._last_is_answer(), seconds)

    def _last_is_answer(self) -> bool:
        return [each.get("data-role") for each in self.page.messages()][-1:] == ["answer"]

    @property
    def running(self) -> bool:
        return any(button.get("form") == "stop" for button in self.page.by_id("go").iter())

    async def equals_a_fresh_page(self, seconds: float = PATIENCE) -> None:
        await equal_pages(self, seconds=seconds)


async def equal_pages(*tabs: Tab, seconds: float = PATIENCE) -> None:
    """Each tab comes to show what a page of its reader, loaded now, shows."""
    for tab in tabs:
        found = "not compared"

        async def compare(tab: Tab = tab) -> str:
            return difference(tab.page, await tab.person.page(tab.conversation_id, tab.query))

        end = asyncio.get_running_loop().time() + seconds
        while found := await compare():
            if tab.broken:
                raise tab.broken
            if asyncio.get_running_loop().time() > end:
                raise AssertionError(f"The page is not what a reload shows:\n{found[:6000]}")
            await asyncio.sleep(0.05)


def in_thread(function: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    """For rows made or read in the middle of an async test."""
    return sync_to_async(function)


@contextmanager
def comparing(seconds: float) -> Iterator[None]:
    """Sockets compare themselves with the database so often."""
    before = ChatConsumer.compare_every, ChatConsumer.compare_column_every
    ChatConsumer.compare_every = ChatConsumer.compare_column_every = seconds
    try:
        yield
    finally:
        ChatConsumer.compare_every, ChatConsumer.compare_column_every = before


def impatient(seconds: float = 0.2) -> AbstractContextManager[None]:
    """Sockets compare themselves with the database at once instead of every few seconds."""
    return comparing(seconds)


def told_only() -> AbstractContextManager[None]:
    """Sockets never compare: what a page shows, it was told. A missed event is not mended."""
    return comparing(3600)
