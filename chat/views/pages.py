"""Pages that are read."""

from dataclasses import replace
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat import services
from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.protocol.transcript import Transcript
from chat.rendering.page.outline import outline_html
from chat.rendering.page.pages import newer_html, older_html
from chat.views.page_data import conversation_page, empty_page
from chat.views.responses import (
    acaller,
    aconversation,
    asked_folder,
    asked_search,
    caller,
    conversation_or_404,
    is_temporary,
    reader_of,
    show,
    show_conversation,
)


@require_GET
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """A new chat; beside it, without scripts, what was found."""
    tried = request.GET.get("agent", "")
    catalog = services.catalog_for(caller(request), trying=tried)
    reader = reader_of(request, catalog)
    if picked := catalog.picked_agent(tried):
        # A way to try an agent: it and its own model, whatever was chosen last.
        reader = replace(reader, agent=str(picked), model="", effort="")
    asked = asked_search(request)
    with reader.speaking():
        page = empty_page(
            reader,
            catalog,
            draft=request.GET.get("draft", "")[:8000],
            search=asked.words,
            filters=asked.filters.values(),
            temporary=is_temporary(request.GET),
            folder=asked_folder(request),
        )
    return show(request, page, reader)


@require_GET
@never_cache
async def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation as it is now, also while it is being answered: its end, or messages that lie
    before it."""
    asking = await acaller(request)
    row = await aconversation(asking, conversation_id)
    window = _asked_window(request)
    await services.see(str(conversation_id))
    if row.temporary:
        await services.note_page(asking, str(conversation_id))
    if row.unread:
        await services.mark_read(asking, str(conversation_id))
    transcript = await services.current_transcript(asking, conversation_id, window)
    return await sync_to_async(show_conversation)(
        request,
        row,
        transcript,
        editing=request.GET.get("edit", ""),
        words=request.GET.get("words", ""),
        own_window="window" in request.GET,
    )


def _asked_window(request: HttpRequest) -> services.Window:
    """The messages around a position, or those before or after one; else the latest."""
    if "at" in request.GET:
        return services.Window.around(_position(request, "at"))
    if "after" in request.GET:
        return services.Window.after(_position(request, "after"))
    return services.Window(_position(request, "before") if "before" in request.GET else None)


def _position(request: HttpRequest, name: str) -> int:
    position = request.GET.get(name, "")
    if not position.isascii() or not position.isdigit() or len(position) > 9:
        raise Http404
    return int(position)


@require_GET
@never_cache
def older(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The messages before a position, to put above those that are shown."""
    row = conversation_or_404(caller(request), conversation_id)
    catalog = services.catalog_for(caller(request), trying=row.agent_id)
    reader = reader_of(request, catalog)
    window = services.Window(_position(request, "before"))
    transcript = services.open_transcript(caller(request), row.pk, window)
    with reader.speaking():
        page = conversation_page(row, transcript, catalog)
        return HttpResponse(older_html(page, reader))


@require_GET
@never_cache
async def newer(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The messages after a position, to put below those that are shown; the last of them perhaps
    still being written."""
    asking = await acaller(request)
    row = await aconversation(asking, conversation_id)
    window = services.Window.after(_position(request, "after"))
    transcript = await services.current_transcript(asking, conversation_id, window)
    return await sync_to_async(_newer)(request, row, transcript)


def _newer(request: HttpRequest, row: Conversation, transcript: Transcript) -> HttpResponse:
    catalog = services.catalog_for(caller(request), trying=row.agent_id)
    reader = reader_of(request, catalog)
    with reader.speaking():
        page = conversation_page(row, transcript, catalog)
        return HttpResponse(newer_html(page, reader))


@require_GET
@never_cache
def outline(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The questions of a conversation, for the list that leads to them."""
    row = conversation_or_404(caller(request), conversation_id)
    questions = services.list_questions(caller(request), row.pk)
    return HttpResponse(outline_html(str(row.pk), questions, reader_of(request)))


@require_GET
@never_cache
def source(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """What a message says, as Markdown, to be copied."""
    try:
        text = services.message_source(caller(request), conversation_id, message_id)
    except ChatError:
        raise Http404 from None
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
