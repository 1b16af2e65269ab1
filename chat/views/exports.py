"""Exports: a conversation as a file, or several as one archive that is sent while it is made."""

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import translation
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat import services
from chat.formats.zip_stream import ZipStream
from chat.protocol.errors import ChatError
from chat.rendering.reader import Reader
from chat.services import Caller
from chat.views.responses import caller, reader_of


@require_GET
@never_cache
def export(request: HttpRequest, conversation_id: UUID, form: str) -> HttpResponse:
    """The conversation as a file."""
    if form not in services.FORMATS:
        raise Http404
    reader = reader_of(request)
    try:
        with translation.override(reader.language):
            file = services.export_conversation(
                caller(request), conversation_id, form, reader.names.agents
            )
    except ChatError:
        raise Http404 from None
    response = HttpResponse(file.text, content_type=file.mime)
    name = f"parley-{str(conversation_id)[:8]}.{file.ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


async def export_several(
    request: HttpRequest, asking: Caller, ids: list[str], form: str
) -> StreamingHttpResponse:
    """One archive with a file for each; those that are not there any more are left out."""
    reader = await sync_to_async(reader_of)(request)
    response = StreamingHttpResponse(
        _zipped(asking, ids, form, reader), content_type="application/zip"
    )
    response["Content-Disposition"] = 'attachment; filename="parley-conversations.zip"'
    # It is compressed; and of a stream that Django compresses a browser reads the first piece.
    response["Content-Encoding"] = "identity"
    return response


async def _zipped(
    asking: Caller, ids: list[str], form: str, reader: Reader
) -> AsyncIterator[bytes]:
    """One conversation at a time is read, so that a thousand take no more memory than one."""
    archive = ZipStream()
    for conversation_id in dict.fromkeys(ids):
        yield await services.in_pool(_zip_one, archive, asking, conversation_id, form, reader)
    yield archive.close()


def _zip_one(
    archive: ZipStream, asking: Caller, conversation_id: str, form: str, reader: Reader
) -> bytes:
    try:
        with translation.override(reader.language):
            file = services.export_conversation(asking, conversation_id, form, reader.names.agents)
    except ChatError:
        return b""
    title = slugify(file.title, allow_unicode=True)[:60].strip("-")
    return archive.add(f"{title or 'parley'}-{conversation_id[-8:]}.{file.ending}", file.text)
