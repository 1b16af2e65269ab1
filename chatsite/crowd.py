"""Crowds: only so many pages are made at once, and the others wait their turn.

On PostgreSQL each takes a connection while it is made, and there are a hundred of them. Everywhere
each takes a thread, so a crowd that wants to come in must leave room for those who are inside. Who
has waited too long is told so, as is everybody while the database takes no connection: 503, and to
come back in a moment.
"""

import asyncio
import sys
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template import loader
from django.utils import translation
from django.utils.decorators import sync_and_async_middleware
from django.views.defaults import server_error as plain_server_error

from chat.services import DATABASE_THREADS
from chatsite.bodies import asked_language
from chatsite.doors import is_door
from chatsite.lifespan import Application, Message, Receive, Send

# How long a page may wait for its turn, and when somebody who was sent away is to come back.
PATIENCE = 10.0
AGAIN = "5"
# Addresses that need no database, or ask in threads that have their own connections.
FREE = ("/healthz", "/readyz", "/favicon.ico")
# How many pages are made at once where people come in. A page of somebody who is in waits for no
# more than these.
AT_THE_DOORS = 16


def needs_place(path: str) -> bool:
    return path not in FREE and not path.startswith(settings.STATIC_URL)


class Crowd:
    """The pages of a process: so many are made at once, whoever comes then waits in line."""

    def __init__(self, most: int, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._places = asyncio.Semaphore(most)

    def orderly(
        self, application: Application, is_meant: Callable[[str], bool] = needs_place
    ) -> Application:
        async def call(scope: Message, receive: Receive, send: Send) -> None:
            if not is_meant(scope["path"]):
                return await application(scope, receive, send)
            try:
                async with asyncio.timeout(self.patience):
                    await self._places.acquire()
            except TimeoutError:
                return await _send_away(scope, send)
            has_place = True

            def leave() -> None:
                nonlocal has_place
                if has_place:
                    has_place = False
                    self._places.release()

            async def tell(message: Message) -> None:
                # What is sent bit by bit may take minutes, and its connection is closed by then.
                if message.get("more_body"):
                    leave()
                await send(message)

            try:
                await application(scope, receive, tell)
            finally:
                leave()
            return None

        return call


def pages_at_once() -> int:
    """How many pages may be made at once, so that a process keeps to its connections; none on
    SQLite, where a connection costs nothing."""
    if connections["default"].vendor == "sqlite":
        return 0
    return max(1, int(settings.PARLEY_LIMITS["connections"]) - DATABASE_THREADS)


def in_order(application: Application) -> Application:
    """The application of pages: few strangers at once, and on PostgreSQL never more than fit."""
    most = pages_at_once()
    inside = Crowd(most).orderly(application) if most else application
    return Crowd(AT_THE_DOORS).orderly(inside, is_door)


@sync_and_async_middleware
def let_go(get_response):  # type: ignore[no-untyped-def]
    """What is sent bit by bit is read in other threads: its page's connection is closed first."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            if response.streaming:
                await sync_to_async(close_old_connections)()
            return response

        return answer

    def answer_now(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = get_response(request)
        if response.streaming:
            close_old_connections()
        return response

    return answer_now


def server_error(request: HttpRequest) -> HttpResponse:
    """The page of a failure; a database that takes nobody is not a fault of ours."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return HttpResponse(_page(), status=503, headers={"Retry-After": AGAIN})
    return plain_server_error(request)


def _page() -> str:
    return loader.get_template("503.html").render()


async def _send_away(scope: Message, send: Send) -> None:
    asked = dict(scope["headers"]).get(b"accept-language", b"").decode("latin-1")
    with translation.override(asked_language(asked)):
        page = _page().encode()
    headers: list[tuple[bytes, Any]] = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(page)).encode()),
        (b"retry-after", AGAIN.encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": page})
