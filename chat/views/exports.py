"""Exports: a conversation as a file, or several as one archive that is sent while it is made."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from functools import partial
from struct import pack
from uuid import UUID
from weakref import WeakValueDictionary

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.rendering.page.export_choices import export_choices, export_title
from chat.rendering.page.exports import export_html
from chat.rendering.reader import Reader
from chat.services import Caller, ExportForm, Zipped
from chat.views.responses import acaller, is_scripted, reader_of

# So much is made at once; others use the thread in between.
PIECE = 64 * 1024
# Whose turn it is, of several exports of one person: they are made one piece after the other, for
# those of many people are made by few threads.
_turns: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()
# In the place of a number of conversations: the file is whole.
END = 0xFFFFFFFF


@require_GET
@never_cache
async def export(request: HttpRequest, conversation_id: UUID, form: str) -> HttpResponseBase:
    """The conversation as a file."""
    asking = await acaller(request)
    return await _export_one(request, asking, str(conversation_id), form)


@require_http_methods(["GET", "POST"])
@never_cache
async def export_chats(request: HttpRequest) -> HttpResponseBase:
    """These conversations, or all of one's own; in which form is asked first."""
    given = request.POST if request.method == "POST" else request.GET
    ids = [key for key in given.getlist("c") if is_uuid(key)]
    return await export_or_ask(request, await acaller(request), ids)


async def export_or_ask(request: HttpRequest, asking: Caller, ids: list[str]) -> HttpResponseBase:
    wanted = request.POST.get("form", "")
    if not wanted:
        return await sync_to_async(_ask)(request, asking, ids)
    if len(ids) == 1:
        return await _export_one(request, asking, ids[0], wanted)
    reader = await sync_to_async(reader_of)(request)
    form = _form(wanted, reader)
    ids = ids or await sync_to_async(services.own_chats)(asking)
    zipped = services.zip_chats(asking, ids, form, reader.names.agents)
    name = f"parley-{timezone.localdate():%Y-%m-%d}.zip"
    return _download(request, reader, asking, zipped, name, "application/zip", len(set(ids)))


async def _export_one(
    request: HttpRequest, asking: Caller, conversation_id: str, wanted: str
) -> StreamingHttpResponse:
    reader = await sync_to_async(reader_of)(request)
    form = _form(wanted, reader)
    try:
        chat = await sync_to_async(services.open_export)(asking, conversation_id)
    except ChatError:
        raise Http404 from None
    pieces = (Zipped(each.encode(), 0) for each in form.write(chat, reader.names.agents))
    name = f"parley-{conversation_id[:8]}.{form.ending}"
    return _download(request, reader, asking, pieces, name, form.mime, 1)


def _form(name: str, reader: Reader) -> ExportForm:
    if name == "html":
        return services.html_form(partial(export_html, reader=reader))
    if name not in services.FORMATS:
        raise Http404
    return services.FORMATS[name]


def _ask(request: HttpRequest, asking: Caller, ids: list[str]) -> HttpResponse:
    reader = reader_of(request)
    total = len(set(ids)) or len(services.own_chats(asking))
    frame = "chat/form_dialog.html" if is_scripted(request) else "chat/form_page.html"
    with reader.speaking():
        values = {
            "reader": reader,
            "form": "chat/export_form.html",
            "title": export_title(of_all=not ids),
            "script": "js/export.js",
            "conversations": ids,
            "total": total,
            "choices": export_choices(of_all=not ids),
        }
        return render(request, frame, values)


# --- sending ----------------------------------------------------------------------


def _download(
    request: HttpRequest,
    reader: Reader,
    asking: Caller,
    pieces: Iterator[Zipped],
    name: str,
    mime: str,
    total: int,
) -> StreamingHttpResponse:
    """A file that is made while it is sent. A script is told with each piece how many
    conversations are in it; the browser by itself is given nothing but the file."""
    framed = is_scripted(request)
    chunks = _chunks(pieces, reader, asking, framed)
    response = StreamingHttpResponse(chunks, content_type=mime)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    # Of a stream that Django compresses a browser reads the first piece.
    response["Content-Encoding"] = "identity"
    if framed:
        response["Content-Type"] = "application/octet-stream"
        response["Parley-Total"] = str(total)
    return response


async def _chunks(
    pieces: Iterator[Zipped], reader: Reader, asking: Caller, framed: bool
) -> AsyncIterator[bytes]:
    """Made in a thread, a little at a time, so that an export of any length is never held."""
    turn = _turns.setdefault(asking.user_id, asyncio.Lock())
    while True:
        async with turn:
            chunk = await services.in_exporter(_chunk, pieces, reader)
        if chunk is None:
            break
        yield pack(">II", chunk.done, len(chunk.data)) + chunk.data if framed else chunk.data
    if framed:
        yield pack(">II", END, 0)


def _chunk(pieces: Iterator[Zipped], reader: Reader) -> Zipped | None:
    """The next pieces as one; nothing at the end. The reader's language is that of this thread only
    while it works for them."""
    made: list[bytes] = []
    size = done = 0
    with reader.speaking():
        for piece in pieces:
            made.append(piece.data)
            size += len(piece.data)
            done = piece.done
            if size >= PIECE:
                break
    return Zipped(b"".join(made), done) if made else None
