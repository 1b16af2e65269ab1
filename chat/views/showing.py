"""What every view of a conversation needs: whose it is, who reads, the page around it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme

from chat.catalogue import Catalogue, read_catalogue
from chat.formats.search_query import LONGEST_QUERY
from chat.models import Conversation
from chat.presenting import column_entries, conversation_page, found_page
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.protocol.transcript import Transcript
from chat.readers import make_reader
from chat.rendering.pages import ConversationPage, Toast, Undo, page_context
from chat.rendering.reader import Reader
from chat.rendering.search import found_html
from chat.services.access import get_conversation
from chat.services.answering import Caller
from chat.services.current import current_transcript
from chat.services.organise import was_deleted


def person(request: HttpRequest) -> User:
    """Whoever asks; the middleware lets nobody else through."""
    assert isinstance(request.user, User)
    return request.user


async def asker(request: HttpRequest) -> User:
    """The same, in a view that must not wait for the database."""
    # Not `auser`: the middleware has read `user`, which that one would read once more.
    return await sync_to_async(person)(request)


def reader_of(request: HttpRequest, catalogue: Catalogue | None = None) -> Reader:
    return make_reader(request.user, request.LANGUAGE_CODE, catalogue)


def caller_of(user: User, request: HttpRequest) -> Caller:
    """Whoever posts a form; a page without scripts has no tab."""
    return Caller(
        user_id=user.pk,
        name=user.get_short_name() or user.get_username(),
        client_id=request.POST.get("client_id", "")[:64],
    )


def show(
    request: HttpRequest, page: ConversationPage, reader: Reader, status: int = 200
) -> HttpResponse:
    """A page in the reader's language, with the column beside it."""
    page = replace(page, toasts=page.toasts + _undo(request))
    user_id = person(request).pk
    entries = () if page.own_window or page.search else column_entries(user_id, page.id)
    with translation.override(reader.language):
        context = page_context(page, reader, entries)
        if page.search:
            results = found_page(user_id, page.search, asked_page(request), page.id)
            context["found"] = found_html(results, reader)
        response = render(request, "chat/conversation.html", context, status=status)
    if reader.language != request.LANGUAGE_CODE:
        remember_language(response, reader.language)
    return response


def remember_language(response: HttpResponse, language: str) -> None:
    """For the pages that do not know who reads: before the log-in, and those that say no."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        samesite=settings.LANGUAGE_COOKIE_SAMESITE,  # type: ignore[arg-type]  # a plain text there
        secure=settings.LANGUAGE_COOKIE_SECURE,
    )


def _undo(request: HttpRequest) -> tuple[Undo, ...]:
    """Whoever has just deleted a conversation can take that back."""
    deleted = request.GET.get("deleted", "")
    theirs = is_uuid(deleted) and was_deleted(person(request).pk, deleted)
    return (Undo(deleted),) if theirs else ()


def show_conversation(
    request: HttpRequest, row: Conversation, transcript: Transcript, **extra: Any
) -> HttpResponse:
    catalogue = read_catalogue()
    reader = reader_of(request, catalogue)
    if extra.get("past"):
        reader = replace(reader, may_act=False)
    with reader.speaking():
        page = conversation_page(row, transcript, catalogue, **extra)
    return show(request, page, reader, 409 if page.toasts else 200)


async def refuse_here(
    request: HttpRequest, conversation_id: UUID, error: ChatError, draft: str = ""
) -> HttpResponse:
    """The page again, with the reason, and with what was typed."""
    row = await own((await asker(request)).pk, conversation_id)
    transcript = await current_transcript(str(conversation_id))
    toasts = (Toast(error.key, error.data),)
    return await sync_to_async(show_conversation)(
        request, row, transcript, toasts=toasts, draft=draft
    )


def found(user_id: int, conversation_id: UUID) -> Conversation:
    """A stranger's conversation is as good as not there."""
    try:
        return get_conversation(user_id, conversation_id)
    except ChatError:
        raise Http404 from None


async def own(user_id: int, conversation_id: UUID) -> Conversation:
    return await sync_to_async(found)(user_id, conversation_id)


def asked_words(request: HttpRequest) -> str:
    """What stands in the search box."""
    return clean_text(request.GET.get("q", "")).strip()[:LONGEST_QUERY]


def asked_page(request: HttpRequest) -> int:
    """Which page of results; the first when it is nonsense."""
    number = request.GET.get("page", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 4 else 1


def is_scripted(request: HttpRequest) -> bool:
    """Whether a script asks, for a piece of the page that it is on."""
    return request.headers.get("HX-Request") == "true"


def back(request: HttpRequest) -> HttpResponse:
    """Where the form stood; only ever a page of ours."""
    page = request.META.get("HTTP_REFERER", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return redirect(page if ours else "chat:home")
