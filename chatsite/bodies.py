"""Bodies of requests: one that is larger than its address takes is refused before it is read.

Django spools a whole body before any view sees it, and Daphne does so before Django. So it is
refused in front of both: by the length it says it has, and, where it says none, once it has grown
too large.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.urls import Resolver404, resolve
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation.trans_real import parse_accept_lang_header

from chatsite.lifespan import Application, Message, Receive, Send

# What a form has around its files.
AROUND = 100_000
UPLOADS = {"chat:upload", "chat:upload_here"}
FORMS_WITH_FILES = {"chat:new", "chat:send"}
IMPORT = "chat:import"


class TooLarge(Exception):
    """More came than the address takes."""


def largest_body(path: str) -> int:
    """How many bytes may be sent to an address."""
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


def refusal(accept_language: str, limit: int) -> bytes:
    """Why it is refused, in a language that the browser asks for. Nobody is logged in here yet."""
    with translation.override(_language(accept_language)):
        text = _("The request is too large: at most %(size)s.") % {"size": filesizeformat(limit)}
    return text.encode()


def _language(accept_language: str) -> str:
    for code, _priority in parse_accept_lang_header(accept_language):
        with suppress(LookupError):
            return translation.get_supported_language_variant(code)
    return settings.LANGUAGE_CODE


def bounded(application: Application) -> Application:
    """The application, which never sees a body that is too large."""

    async def call(scope: Message, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if length == b"0" and b"transfer-encoding" not in headers:
            return await application(scope, receive, send)
        limit = largest_body(scope["path"])
        left = limit

        async def count() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
            return message

        if length.isdigit() and int(length) > limit:
            return await _refuse(headers, send, limit)
        try:
            await application(scope, count, send)
        except TooLarge:
            await _refuse(headers, send, limit)
        return None

    return call


async def _refuse(headers: Mapping[bytes, bytes], send: Send, limit: int) -> None:
    text = refusal(headers.get(b"accept-language", b"").decode("latin-1"), limit)
    answer: list[tuple[bytes, Any]] = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(text)).encode()),
        # The rest of the body is not read, so nothing else can come behind it.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 413, "headers": answer})
    await send({"type": "http.response.body", "body": text})
