"""Pages that are read."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat.presenting import conversation_page, empty_page
from chat.rendering.pages import older_html
from chat.services import presence
from chat.services.current import current_transcript
from chat.services.reading import read_transcript
from chat.views.showing import (
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
    """A new chat."""
    reader = reader_of(request)
    with reader.speaking():
        page = empty_page(
            reader,
            draft=request.GET.get("draft", "")[:8000],
            search=request.GET.get("q", "")[:200],
        )
    return show(request, page, reader)


@require_GET
@never_cache
async def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation as it is now, also while it is being answered."""
    user = await asker(request)
    await own(user.pk, conversation_id)
    presence.glimpse(str(conversation_id))
    transcript = await current_transcript(str(conversation_id))
    return await sync_to_async(show_conversation)(
        request,
        conversation_id,
        transcript,
        editing=request.GET.get("edit", ""),
        own_window="window" in request.GET,
    )


@require_GET
@never_cache
def older(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The messages before a position, to put above those that are shown."""
    row = found(person(request).pk, conversation_id)
    before = request.GET.get("before", "")
    if not before.isascii() or not before.isdigit() or len(before) > 9:
        raise Http404
    reader = reader_of(request)
    transcript = read_transcript(row.pk, before=int(before))
    with reader.speaking():
        page = conversation_page(row, transcript, reader)
        return HttpResponse(older_html(page, reader))
