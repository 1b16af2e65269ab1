"""Files: uploaded ahead of their message, shown and downloaded by their owner alone."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header, parse_etags, quote_etag
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from chat import services
from chat.models import Attachment
from chat.protocol.errors import ChatError
from chat.protocol.files import IMAGES, PDF, TEXT, own_url
from chat.protocol.ids import new_id
from chat.rendering.errors import error_text
from chat.services import Caller
from chat.views.responses import caller, conversation_or_404, reader_of

FIELD = "attachments"
OCTETS = "application/octet-stream"
# Nothing that could be more than a picture is served as what it may be.
SERVED_AS = {TEXT: "text/plain; charset=utf-8", PDF: PDF, **{mime: mime for mime in IMAGES}}
POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


@require_POST
@never_cache
def upload(request: HttpRequest, conversation_id: UUID | None = None) -> HttpResponse:
    """Keep the files that came; each that is refused says why."""
    asking = caller(request)
    temporary_in = None
    if conversation_id is not None and conversation_or_404(asking, conversation_id).temporary:
        temporary_in = conversation_id
    kept: list[Attachment] = []
    refused: list[ChatError] = []
    try:
        for file in uploaded(request, at_least=1):
            try:
                name = file.name or ""
                kept.append(services.store_attachment(asking, name, file, temporary_in))
            except ChatError as error:
                refused.append(error)
    except ChatError as error:
        refused.append(error)
    with reader_of(request).speaking():
        body = {
            "attachments": [_described(row) for row in kept],
            "refused": [_refused(error) for error in refused],
        }
    return JsonResponse(body, status=200 if kept else 400)


def uploaded(request: HttpRequest, at_least: int = 0) -> list["UploadedFile[bytes]"]:
    """The files of a form, not more than one message may have."""
    files = request.FILES.getlist(FIELD)
    limit = settings.PARLEY_LIMITS["uploads_per_message"]
    if len(files) > limit:
        raise ChatError("error.chat_attachment_too_many", limit=limit)
    if len(files) < at_least:
        raise ChatError("error.chat_attachment_missing")
    return files


def attached(caller: Caller, request: HttpRequest) -> list[str]:
    """The files of a form that sends a message: chosen just now, or uploaded before."""
    # A file field that nobody has used comes as an empty text.
    earlier = [key for key in request.POST.getlist(FIELD) if key]
    files = uploaded(request)
    services.check_ids([*earlier, *(new_id() for _ in files)])
    stored = [services.store_attachment(caller, file.name or "", file) for file in files]
    return [*earlier, *(str(row.pk) for row in stored)]


@require_http_methods(["GET", "HEAD", "DELETE"])
def attachment(request: HttpRequest, attachment_id: UUID) -> HttpResponse:
    """The file itself, or the end of one that is on no message yet."""
    asking = caller(request)
    try:
        if request.method == "DELETE":
            services.discard_attachment(asking, attachment_id)
            return HttpResponse(status=204)
        return send_file(request, services.find_attachment(asking, attachment_id))
    except ChatError as error:
        if error.key == "error.chat_attachment_in_use":
            return HttpResponse(status=409)
        raise Http404 from None


def send_file(request: HttpRequest, row: Attachment, *, bare: bool = False) -> HttpResponse:
    """The file as it was uploaded; with `?shown` a picture as it is looked at, and never otherwise
    to strangers (`bare`): the file itself says where and when it was taken. A moving one has
    nothing in it but pictures, and is shown as it is."""
    shown = bare or "shown" in request.GET
    shown = shown and row.mime in IMAGES and row.mime != "image/gif"
    # The content of an id never changes; asking again is how its owner is checked.
    tag = quote_etag(f"{row.pk}-shown" if shown else str(row.pk))
    if tag in parse_etags(request.headers.get("If-None-Match", "")):
        return _guarded(HttpResponse(status=304), row, tag)
    picture = services.picture_to_show(row) if shown else None
    if bare and shown and picture is None:
        raise Http404
    try:
        content = picture.data if picture else row.file.read()
    except FileNotFoundError:
        raise Http404 from None
    mime = picture.mime if picture else SERVED_AS.get(row.mime, OCTETS)
    response = HttpResponse(content, content_type=mime)
    inline = row.mime in IMAGES
    disposition = content_disposition_header(not inline, row.filename or str(row.pk))
    response["Content-Disposition"] = disposition or "inline"
    return _guarded(response, row, tag)


def _guarded(response: HttpResponse, row: Attachment, tag: str) -> HttpResponse:
    """Whatever a browser takes the file for: it may run nothing and be put into no page."""
    response["ETag"] = tag
    if row.message_id is not None or row.queued_id is not None:
        response["Parley-Sent"] = "yes"
    response["Cache-Control"] = "private, no-cache"
    response["Content-Security-Policy"] = POLICY
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _described(row: Attachment) -> dict[str, Any]:
    return {
        "id": str(row.pk),
        "filename": row.filename,
        "mime": row.mime,
        "size": row.size,
        "url": own_url(row.pk),
    }


def _refused(error: ChatError) -> dict[str, Any]:
    return {
        "filename": error.data.get("name", ""),
        "error_key": error.key,
        "error_data": dict(error.data),
        "message": error_text(error.key, error.data),
    }
