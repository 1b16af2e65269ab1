"""Import: files of conversations, read while the page says how far they have come."""

from collections.abc import AsyncIterator
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from chat import services
from chat.formats.imported.items import Skipped
from chat.protocol.files import clean_name
from chat.rendering.page.imports import (
    ImportedEntry,
    ImportedFile,
    around_progress,
    progress_html,
    report_html,
    skipped_text,
)
from chat.rendering.page.sizes import file_size
from chat.rendering.reader import Reader
from chat.services import Caller, ImportReport, ImportSource
from chat.views.responses import acaller, reader_of

# A page without scripts would list too many.
TOLD_EVERY = 0.02


@require_http_methods(["GET", "POST"])
@never_cache
async def import_chats(request: HttpRequest) -> HttpResponseBase:
    """The form, or what comes of it: the page is sent while the files are read."""
    asking = await acaller(request)
    reader = await sync_to_async(reader_of)(request)
    sources = _sources(request, reader) if request.method == "POST" else []
    page = await sync_to_async(_page)(request, reader, empty=not sources)
    if not sources:
        return HttpResponse(page, status=400 if request.method == "POST" else 200)
    pieces = _stream(asking, reader, sources, *around_progress(page))
    # Compressed, the pieces would wait for each other.
    return StreamingHttpResponse(pieces, headers={"Content-Encoding": "identity"})


def _page(request: HttpRequest, reader: Reader, *, empty: bool) -> str:
    limit = settings.PARLEY_LIMITS["import_bytes"]
    values = {
        "reader": reader,
        "limit": limit,
        "size": file_size(limit),
        "is_missing": request.method == "POST" and empty,
    }
    with translation.override(reader.language):
        return render_to_string("chat/import.html", values, request)


def _sources(request: HttpRequest, reader: Reader) -> list[ImportSource]:
    """The files, and what was pasted."""
    found = [_source(file, reader) for file in request.FILES.getlist("files")]
    text = request.POST.get("text", "").strip()
    if text:
        pasted = ContentFile(text.encode(errors="replace"))
        chunks = pasted.chunks()
        with reader.speaking():
            name = _("Pasted text")
        found.append(ImportSource(name, pasted.size, chunks, reader.language))
    return found


def _source(file: "UploadedFile[Any]", reader: Reader) -> ImportSource:
    name, chunks = clean_name(file.name or ""), services.Reopened(file.chunks)
    return ImportSource(name, file.size or 0, chunks, reader.language)


async def _stream(
    asking: Caller, reader: Reader, sources: list[ImportSource], head: str, tail: str
) -> AsyncIterator[str]:
    yield head
    files: list[ImportedFile] = []
    with services.one_import(asking) as may_import:
        if may_import:
            for source in services.in_reading_order(sources):
                async for piece in _imported(asking, reader, source, files):
                    yield piece
        else:
            for source in sources:
                report = ImportReport(source.name, source.size)
                report.skip(Skipped("import_running"))
                files.append(_file(report, reader))
    yield report_html(files, reader)
    yield tail


async def _imported(
    asking: Caller, reader: Reader, source: ImportSource, files: list[ImportedFile]
) -> AsyncIterator[str]:
    """How far a file has come; at last what came of it is one of the files."""
    told = -1.0
    async for report in services.import_chats(asking, source):
        done = report.read / max(source.size, 1)
        if done - told >= TOLD_EVERY:
            told = done
            yield progress_html(source.name, report.read, source.size, reader)
    files.append(_file(report, reader))


def _file(report: ImportReport, reader: Reader) -> ImportedFile:
    with translation.override(reader.language):
        return ImportedFile(
            name=report.name,
            entries=[
                ImportedEntry(
                    url=reverse("chat:conversation", args=[chat.id]),
                    title=chat.title,
                    messages=chat.messages,
                    tools=chat.tools,
                    is_known=chat.is_known,
                    is_unchanged=chat.is_unchanged,
                )
                for chat in report.chats
            ],
            skipped=[
                skipped_text(each.reason, each.where, each.inside, each.count)
                for each in report.skipped
            ],
            more=report.skipped_more,
        )
