"""What every view of a conversation needs: whose it is, who reads, the page around it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme

from chat import services
from chat.formats.search_filters import Filters
from chat.formats.search_query import LONGEST_QUERY
from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.protocol.transcript import Transcript
from chat.rendering.page.column import LISTED, Column, Rows
from chat.rendering.page.pages import (
    ConversationPage,
    Ended,
    FolderChoice,
    Toast,
    Undo,
    page_context,
)
from chat.rendering.page.search import found_html
from chat.rendering.reader import Reader
from chat.services import Caller, Catalog, Picks
from chat.views.column_data import column_beside
from chat.views.page_data import (
    Asked,
    conversation_page,
    found_page,
)
from chat.views.reader import ZONE_COOKIE, make_reader

# A form that was not taken: it is shown again, with what is wrong.
REFUSED = 422
# More than anybody reads through on a page that cannot list on.
MOST_ROWS = 1000


def person(request: HttpRequest) -> User:
    """Whoever asks; the middleware lets nobody else through."""
    assert isinstance(request.user, User)
    return request.user


async def asker(request: HttpRequest) -> User:
    """The same, in a view that must not wait for the database."""
    # Not `auser`: the middleware has read `user`, which that one would read once more.
    return await sync_to_async(person)(request)


def reader_of(request: HttpRequest, catalog: Catalog | None = None) -> Reader:
    zone = request.COOKIES.get(ZONE_COOKIE, "")
    return make_reader(request.user, request.LANGUAGE_CODE, catalog, zone=zone)


def caller_of(user: User, request: HttpRequest) -> Caller:
    """Whoever asks for a page or posts a form; a page without scripts has no tab."""
    return Caller(
        user_id=user.pk,
        name=user.get_short_name() or user.get_username(),
        tab_id=request.POST.get("tab_id", "")[:100],
        client_id=request.POST.get("client_id", "")[:64],
    )


def caller(request: HttpRequest) -> Caller:
    """The same, in a view that may wait for the database."""
    return caller_of(person(request), request)


async def acaller(request: HttpRequest) -> Caller:
    """The same, in a view that must not."""
    return caller_of(await asker(request), request)


def show(
    request: HttpRequest, page: ConversationPage, reader: Reader, status: int = 200
) -> HttpResponse:
    """A page in the reader's language, with the column beside it."""
    page = replace(page, toasts=page.toasts + _undo(request) + _ended(request))
    column = None
    if not page.own_window and not page.search:
        column = column_beside(caller(request), page.id, asked_rows(request))
    page = replace(page, folders=_folders(request, page, column))
    with translation.override(reader.language):
        context = page_context(page, reader, column)
        if page.search:
            results = found_page(caller(request), asked_search(request), reader, page.id)
            context["found"] = found_html(results, reader)
        response = render(request, "chat/conversation.html", context, status=status)
    if reader.language != request.LANGUAGE_CODE:
        remember_language(response, reader.language)
    return response


def _folders(
    request: HttpRequest, page: ConversationPage, column: Column | None
) -> tuple[FolderChoice, ...]:
    """What a search can be narrowed to; a page with results has no column that knows it."""
    if column:
        return tuple(FolderChoice(each.id, each.name) for each in column.folders)
    known = services.list_folders(caller(request)) if page.search else ()
    return tuple(FolderChoice(each.id, each.name) for each in known)


def remember_language(response: HttpResponse, language: str) -> None:
    """For the pages that do not know who reads: before the log-in, and those that say no."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        samesite=settings.LANGUAGE_COOKIE_SAMESITE,  # type: ignore[arg-type]  # a plain text there
        secure=settings.LANGUAGE_COOKIE_SECURE,
    )


def _undo(request: HttpRequest) -> tuple[Undo, ...]:
    """Whoever has just deleted or archived a conversation can take that back."""
    deleted, archived = request.GET.get("deleted", ""), request.GET.get("archived", "")
    if is_uuid(deleted) and (count := services.count_deleted_with(caller(request), deleted)):
        return (Undo(deleted, count=count),)
    if is_uuid(archived) and (count := services.count_archived_with(caller(request), archived)):
        return (Undo(archived, "undo-archive", count),)
    return ()


def _ended(request: HttpRequest) -> tuple[Ended, ...]:
    """Whoever comes back to a temporary chat is told why it is not there."""
    return (Ended(),) if "ended" in request.GET else ()


def show_conversation(
    request: HttpRequest, row: Conversation, transcript: Transcript, **extra: Any
) -> HttpResponse:
    catalog = services.catalog_for(caller(request), trying=row.agent_id)
    reader = reader_of(request, catalog)
    with reader.speaking():
        page = conversation_page(row, transcript, catalog, **extra)
    return show(request, page, reader, 409 if page.toasts else 200)


async def refuse_here(
    request: HttpRequest, conversation_id: UUID, error: ChatError, draft: str = ""
) -> HttpResponse:
    """The page again, with the reason, and with what was typed."""
    asking = await acaller(request)
    row = await aconversation(asking, conversation_id)
    transcript = await services.current_transcript(asking, conversation_id)
    toasts = (Toast(error.key, error.data),)
    return await sync_to_async(show_conversation)(
        request, row, transcript, toasts=toasts, draft=draft
    )


def conversation_or_404(caller: Caller, conversation_id: UUID) -> Conversation:
    """A stranger's conversation is as good as not there."""
    try:
        return services.get_conversation(caller, conversation_id)
    except ChatError:
        raise Http404 from None


async def aconversation(caller: Caller, conversation_id: UUID) -> Conversation:
    """The same, in a view that must not wait for the database."""
    return await sync_to_async(conversation_or_404)(caller, conversation_id)


def asked_search(request: HttpRequest) -> Asked:
    """What stands in the search form."""
    names = ("q", "when", "from", "to", "agent", "in", "files")
    values = {name: clean_text(request.GET.get(name, "")) for name in names}
    words = values["q"].strip()[:LONGEST_QUERY]
    return Asked(words, Filters.read(values), asked_page(request))


def asked_folder(request: HttpRequest) -> FolderChoice | None:
    """The folder in which a new chat is to begin, if it is one of theirs."""
    folder_id = request.POST.get("folder") or request.GET.get("folder", "")
    if not is_uuid(folder_id):
        return None
    try:
        known = services.get_folder(caller(request), folder_id)
    except ChatError:
        return None
    return FolderChoice(known.id, known.name)


def asked_page(request: HttpRequest) -> int:
    """Which page of a list; the first when it is nonsense."""
    number = request.GET.get("page", "")
    known = number.isascii() and number.isdigit() and len(number) < 4
    return max(int(number), 1) if known else 1


def asked_rows(request: HttpRequest) -> Rows:
    """How many conversations the column lists; without scripts one asks for more by a link. One in
    a folder says in which, before a dot."""
    rows = Rows(min(max(_rows(request.GET.get("rows", "")), LISTED), MOST_ROWS))
    folder_id, _, number = request.GET.get("folder-rows", "").partition(".")
    return rows.with_folder(folder_id, min(_rows(number), MOST_ROWS)) if number else rows


def _rows(number: str) -> int:
    return int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0


def picks_of(request: HttpRequest) -> Picks:
    """What the pickers of a form say. Of each tool that it offers whether it is ticked: a box that
    is not is not sent."""
    form, ticked = request.POST, request.POST.getlist("on")
    return Picks(
        agent_id=form.get("agent", ""),
        model_id=form.get("model", ""),
        effort=form.get("effort", ""),
        tools={tool: tool in ticked for tool in form.getlist("tool")},
    )


def is_temporary(values: QueryDict) -> bool:
    """Whether a new chat is to be temporary: by its box in the form, or by the address."""
    return values.get("temporary") == "1"


def is_scripted(request: HttpRequest) -> bool:
    """Whether a script asks, for a piece of the page that it is on."""
    return request.headers.get("HX-Request") == "true"


def back(request: HttpRequest) -> HttpResponse:
    """Where the form stood; only ever a page of ours."""
    page = request.META.get("HTTP_REFERER", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return redirect(page if ours else "chat:home")
