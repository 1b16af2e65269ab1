"""Pages, and the plain forms that do without scripts what the socket does with them."""

from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django.views.i18n import set_language as django_set_language

from chat.models import Profile
from chat.presenting import column_entries, conversation_page, empty_page
from chat.protocol.errors import ChatError
from chat.readers import make_reader
from chat.rendering.pages import ConversationPage, Toast, older_html, page_context
from chat.rendering.reader import Reader
from chat.services import presence
from chat.services.access import get_conversation
from chat.services.current import current_transcript
from chat.services.reading import read_transcript
from chat.services.send import checked_content, create_conversation
from chat.services.stop import stop_generation
from chat.services.turn import take_turn


def _reader(request: HttpRequest) -> Reader:
    return make_reader(request.user, request.LANGUAGE_CODE)


def _show(
    request: HttpRequest, page: ConversationPage, reader: Reader, status: int = 200
) -> HttpResponse:
    entries = column_entries(request.user.pk, page.id, page.search)
    with translation.override(reader.language):
        context = page_context(page, reader, entries)
        return render(request, "chat/conversation.html", context, status=status)


@require_GET
@never_cache
def home(request: HttpRequest) -> HttpResponse:
    """A new chat."""
    reader = _reader(request)
    search = request.GET.get("q", "")[:200]
    with reader.speaking():
        page = empty_page(reader, draft=request.GET.get("draft", "")[:8000], search=search)
    return _show(request, page, reader)


@require_GET
@never_cache
async def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation as it is now, also while it is being answered."""
    user = await request.auser()
    await _own(user.pk, conversation_id)
    presence.glimpse(str(conversation_id))
    transcript = await current_transcript(str(conversation_id))
    return await sync_to_async(_show_conversation)(request, conversation_id, transcript)


def _show_conversation(
    request: HttpRequest, conversation_id: UUID, transcript: Any, **extra: Any
) -> HttpResponse:
    reader = _reader(request)
    row = get_conversation(request.user.pk, conversation_id)
    with reader.speaking():
        page = conversation_page(row, transcript, reader, **extra)
    status = 409 if page.toasts else 200
    return _show(request, page, reader, status)


@require_GET
@never_cache
def older(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The messages before a position, to put above those that are shown."""
    row = _found(request.user.pk, conversation_id)
    before = request.GET.get("before", "")
    if not before.isdigit():
        raise Http404
    reader = _reader(request)
    transcript = read_transcript(row.pk, before=int(before))
    with reader.speaking():
        page = conversation_page(row, transcript, reader)
        return HttpResponse(older_html(page, reader))


@require_POST
async def new(request: HttpRequest) -> HttpResponse:
    """The first message of a new conversation: lands on its page, already being answered."""
    user = await request.auser()
    content = request.POST.get("example") or request.POST.get("content", "")
    client_id = request.POST.get("client_id", "")[:64]
    try:
        checked_content(content)
        row = await sync_to_async(create_conversation)(
            user.pk,
            request.LANGUAGE_CODE,
            agent_id=request.POST.get("agent", ""),
            model_id=request.POST.get("model", ""),
        )
        await take_turn(user.pk, row.pk, content, client_id=client_id)
    except ChatError as error:
        return await sync_to_async(_refuse_new)(request, content, error)
    presence.glimpse(str(row.pk))
    presence.look_later(str(row.pk))
    return redirect("chat:conversation", row.pk)


def _refuse_new(request: HttpRequest, content: str, error: ChatError) -> HttpResponse:
    reader = _reader(request)
    with reader.speaking():
        page = empty_page(reader, draft=content, toasts=(Toast(error.key, error.data),))
    return _show(request, page, reader, status=409)


@require_POST
async def send(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A message, without scripts."""
    user = await request.auser()
    await _own(user.pk, conversation_id)
    content = request.POST.get("content", "")
    client_id = request.POST.get("client_id", "")[:64]
    try:
        await take_turn(user.pk, conversation_id, content, client_id=client_id)
    except ChatError as error:
        return await _refuse_here(request, conversation_id, error, draft=content)
    presence.glimpse(str(conversation_id))
    presence.look_later(str(conversation_id))
    return redirect("chat:conversation", conversation_id)


@require_POST
async def stop(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Stop the answer, without scripts."""
    user = await request.auser()
    await _own(user.pk, conversation_id)
    try:
        name = user.get_short_name() or user.get_username()
        await stop_generation(user.pk, str(conversation_id), name)
    except ChatError as error:
        return await _refuse_here(request, conversation_id, error)
    return redirect("chat:conversation", conversation_id)


async def _refuse_here(
    request: HttpRequest, conversation_id: UUID, error: ChatError, draft: str = ""
) -> HttpResponse:
    """The page again, with the reason, and with what was typed."""
    transcript = await current_transcript(str(conversation_id))
    toasts = (Toast(error.key, error.data),)
    return await sync_to_async(_show_conversation)(
        request, conversation_id, transcript, toasts=toasts, draft=draft
    )


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """System, light or dark."""
    wanted = request.POST.get("theme", "")
    if wanted in Profile.Theme.values:
        Profile.objects.update_or_create(user=request.user, defaults={"theme": wanted})
    return _back(request)


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """Django's own view, and the choice kept with the account."""
    response = django_set_language(request)
    wanted = request.POST.get("language", "")
    if request.user.is_authenticated and wanted in dict(settings.LANGUAGES):
        Profile.objects.update_or_create(user=request.user, defaults={"language": wanted})
    return response


def _back(request: HttpRequest) -> HttpResponse:
    """Where the form stood; only ever a page of ours."""
    from django.utils.http import url_has_allowed_host_and_scheme

    page = request.META.get("HTTP_REFERER", "")
    ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure())
    return redirect(page if ours else "chat:home")


def _found(user_id: int, conversation_id: UUID) -> Any:
    try:
        return get_conversation(user_id, conversation_id)
    except ChatError:
        raise Http404 from None


async def _own(user_id: int, conversation_id: UUID) -> None:
    await sync_to_async(_found)(user_id, conversation_id)
