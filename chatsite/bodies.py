"""Bodies of requests: one that is larger than its address takes, or comes too slowly, is refused.

Django spools a whole body before any view sees it, and Daphne does so before Django. So it is
refused in front of both: by the length it says it has, and, where it says none, once it has grown
too large.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header

from chatsite.doors import is_door
from chatsite.lifespan import Application, Message, Receive, Send

# What a form has around its files.
AROUND = 100_000
UPLOADS = {"chat:upload", "chat:upload_here"}
FORMS_WITH_FILES = {"chat:new", "chat:send"}
IMPORT = "chat:import"
# Bytes that come in a second even where there is next to no network. A body has `body_seconds`,
# and a second more for each of these that have come.
PACE = 10_000
# So much of a body is waited for before anything else waits for it.
AHEAD = 100_000
# Names and passwords are short: all of such a form is there before it takes a place at the door,
# where there are few, and anybody could keep one by sending slowly.
AT_A_DOOR = AHEAD - 1


class TooLarge(Exception):
    """More came than the address takes."""


class TooSlow(Exception):
    """It takes longer than anybody's network."""


def time_for(received: int) -> float:
    """How long a body may have taken of which so much has come, in seconds."""
    seconds: float = settings.PARLEY_LIMITS["body_seconds"]
    return seconds + received / PACE


def largest_body(path: str) -> int:
    """How many bytes may be sent to an address."""
    if is_door(path):
        return AT_A_DOOR
    try:
        name = resolve(path).view_name
    except Resolver404:
        name = ""
    limits = settings.PARLEY_LIMITS
    form: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + AROUND
    if name in UPLOADS:
        # However many they are: larger ones are sent one by one.
        return int(limits["upload_bytes"]) + AROUND
    if name in FORMS_WITH_FILES:
        return form + int(limits["upload_bytes"]) * int(limits["uploads_per_message"])
    if name == IMPORT:
        return form + int(limits["import_bytes"])
    return form


def too_large(accept_language: str, limit: int) -> bytes:
    """Why it is refused, in a language that the browser asks for. Nobody is logged in here yet."""
    with translation.override(asked_language(accept_language)):
        text = _("The request is too large: at most %(size)s.") % {"size": filesizeformat(limit)}
    return text.encode()


def too_slow(accept_language: str) -> bytes:
    with translation.override(asked_language(accept_language)):
        return _("The request came too slowly.").encode()


def asked_language(accept_language: str) -> str:
    """The first of ours that a browser asks for."""
    for code, _priority in parse_accept_lang_header(accept_language):
        with suppress(LookupError):
            return translation.get_supported_language_variant(code)
    return settings.LANGUAGE_CODE


def bounded(application: Application) -> Application:
    """The application, which sees no body that is too large, and none before its begin has come:
    whoever sends slowly keeps nobody waiting."""

    async def call(scope: Message, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if length == b"0" and b"transfer-encoding" not in headers:
            return await application(scope, receive, send)
        language = headers.get(b"accept-language", b"").decode("latin-1")
        limit = largest_body(scope["path"])
        body = _Body(receive, limit)
        try:
            if length.isdigit() and int(length) > limit:
                raise TooLarge
            await body.begin()
            await application(scope, body.receive, send)
        except TooLarge:
            await _refuse(send, 413, too_large(language, limit))
        except TooSlow:
            await _refuse(send, 408, too_slow(language))
        return None

    return call


class _Body:
    """A body on its way."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._limit = limit
        self._received = 0
        self._waited = 0.0
        self._is_whole = False
        self._ahead: deque[Message] = deque()

    async def begin(self) -> None:
        while self._received < AHEAD and not self._is_whole:
            self._ahead.append(await self._next())

    async def receive(self) -> Message:
        if self._ahead:
            return self._ahead.popleft()
        return await (self._receive() if self._is_whole else self._next())

    async def _next(self) -> Message:
        """More of it. Only waiting counts, not how long a large one takes to be written down."""
        clock = asyncio.get_running_loop().time
        began = clock()
        try:
            async with asyncio.timeout(time_for(self._received) - self._waited):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow from None
        self._waited += clock() - began
        self._received += len(message.get("body", b""))
        self._is_whole = not message.get("more_body")
        if self._received > self._limit:
            raise TooLarge
        return message


async def _refuse(send: Send, status: int, text: bytes) -> None:
    answer: list[tuple[bytes, Any]] = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        # The rest of the body is not read, so nothing else can come behind it.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": answer})
    await send({"type": "http.response.body", "body": text})
