"""Forms that take a turn, for pages without scripts; the first message of a chat always."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from chat.catalogue import read_catalogue
from chat.presenting import empty_page
from chat.protocol.errors import ChatError
from chat.rendering.pages import Toast
from chat.services import organise, presence, turn
from chat.services.answering import Caller
from chat.services.send import begun_before, checked_content, create_conversation
from chat.services.stop import stop_generation
from chat.views.attachments import attached
from chat.views.showing import asker, caller_of, own, reader_of, refuse_here, show

Act = Callable[[Caller, UUID, HttpRequest], Awaitable[object]]


@require_POST
async def new(request: HttpRequest) -> HttpResponse:
    """The first message of a new conversation: lands on its page, already being answered."""
    user = await asker(request)
    content = request.POST.get("example") or request.POST.get("content", "")
    row = await sync_to_async(begun_before)(caller_of(user, request))
    if row is not None:
        return redirect("chat:conversation", row.pk)
    try:
        files = await sync_to_async(attached)(user.pk, request)
        checked_content(content, required=not files)
        row = await sync_to_async(create_conversation)(
            user.pk,
            request.LANGUAGE_CODE,
            agent_id=request.POST.get("agent", ""),
            model_id=request.POST.get("model", ""),
        )
        await turn.send(caller_of(user, request), row.pk, content, files)
    except ChatError as error:
        if row is not None:
            # Nothing was said in it.
            await row.adelete()
        return await sync_to_async(_refuse_new)(request, content, error)
    await _watch(row.pk)
    return redirect("chat:conversation", row.pk)


def _refuse_new(request: HttpRequest, content: str, error: ChatError) -> HttpResponse:
    catalogue = read_catalogue()
    reader = reader_of(request, catalogue)
    with reader.speaking():
        page = empty_page(reader, catalogue, draft=content, toasts=(Toast(error.key, error.data),))
    return show(request, page, reader, status=409)


async def _act(request: HttpRequest, conversation_id: UUID, act: Act) -> HttpResponse:
    """Do it and show the conversation; a refusal is shown there too, with what was typed."""
    user = await asker(request)
    await own(user.pk, conversation_id)
    try:
        await act(caller_of(user, request), conversation_id, request)
    except ChatError as error:
        draft = request.POST.get("content", "")
        return await refuse_here(request, conversation_id, error, draft)
    await _watch(conversation_id)
    return redirect("chat:conversation", conversation_id)


async def _watch(conversation_id: UUID) -> None:
    await presence.glimpse(str(conversation_id))
    presence.look_later(str(conversation_id))


async def _send(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    # A page without scripts says with every message who is to answer.
    agent, model = request.POST.get("agent", ""), request.POST.get("model", "")
    await organise.choose(caller.user_id, conversation_id, agent, model)
    files = await sync_to_async(attached)(caller.user_id, request)
    return await turn.send(caller, conversation_id, request.POST.get("content", ""), files)


async def _stop(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    await stop_generation(caller.user_id, str(conversation_id), caller.name)


async def _edit(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    message_id, content = request.POST.get("message_id", ""), request.POST.get("content", "")
    return await turn.edit_and_resend(caller, conversation_id, message_id, content)


async def _regenerate(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    return await turn.regenerate(caller, conversation_id, request.POST.get("message_id", ""))


async def _continue(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    return await turn.continue_answer(caller, conversation_id, request.POST.get("message_id", ""))


async def _version(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    """A button says both: which message, and which of its versions."""
    message_id, _, version = request.POST.get("version", "").partition(" ")
    if not version.isascii() or not version.isdigit() or len(version) > 6:
        raise ChatError("error.chat_bad_command")
    await turn.show_version(caller, conversation_id, message_id, int(version))


def _form(act: Act) -> Callable[..., Coroutine[Any, Any, HttpResponse]]:
    @require_POST
    async def view(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
        return await _act(request, conversation_id, act)

    return view


send = _form(_send)
stop = _form(_stop)
edit = _form(_edit)
regenerate = _form(_regenerate)
continue_answer = _form(_continue)
version = _form(_version)
