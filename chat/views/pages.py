"""Pages that are read."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat.catalogue import read_catalogue
from chat.models import Conversation
from chat.presenting import conversation_page, empty_page
from chat.protocol.errors import ChatError
from chat.rendering.pages import older_html
from chat.services import presence
from chat.services.current import current_transcript
from chat.services.reading import read_transcript
from chat.services.source import message_source
from chat.views.showing import (
    asked_words,
    asker,
    found,
    own,
    person,
    reader_of,
    show,
    show_conversation,
)


@require_GET
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """A new chat; beside it, without scripts, what was found."""
    catalogue = read_catalogue()
    reader = reader_of(request, catalogue)
    with reader.speaking():
        page = empty_page(
            reader,
            catalogue,
            draft=request.GET.get("draft", "")[:8000],
            search=asked_words(request),
        )
    return show(request, page, reader)


@require_GET
@never_cache
async def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation as it is now, also while it is being answered."""
    user = await asker(request)
    row = await own(user.pk, conversation_id)
    own_window = "window" in request.GET
    if "before" in request.GET:
        return await sync_to_async(_past)(request, row, own_window)
    await presence.glimpse(str(conversation_id))
    transcript = await current_transcript(str(conversation_id))
    return await sync_to_async(show_conversation)(
        request,
        row,
        transcript,
        editing=request.GET.get("edit", ""),
        own_window=own_window,
    )


def _past(request: HttpRequest, row: Conversation, own_window: bool) -> HttpResponse:
    """Earlier messages on a page of their own."""
    transcript = read_transcript(row.pk, before=_position(request))
    return show_conversation(request, row, transcript, past=True, own_window=own_window)


def _position(request: HttpRequest) -> int:
    before = request.GET.get("before", "")
    if not before.isascii() or not before.isdigit() or len(before) > 9:
        raise Http404
    return int(before)


@require_GET
@never_cache
def older(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The messages before a position, to put above those that are shown."""
    row = found(person(request).pk, conversation_id)
    catalogue = read_catalogue()
    reader = reader_of(request, catalogue)
    transcript = read_transcript(row.pk, before=_position(request))
    with reader.speaking():
        page = conversation_page(row, transcript, catalogue)
        return HttpResponse(older_html(page, reader))


@require_GET
@never_cache
def source(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """What a message says, as Markdown, to be copied."""
    try:
        text = message_source(person(request).pk, conversation_id, message_id)
    except ChatError:
        raise Http404 from None
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
