"""Forms that take a turn, for pages without scripts; the first message of a chat always."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.feedback import parse_feedback_choice
from chat.protocol.version_choice import parse_version_choice
from chat.rendering.page.pages import Toast
from chat.services import Caller
from chat.views.attachments import attached
from chat.views.page_data import empty_page
from chat.views.responses import (
    acaller,
    aconversation,
    asked_folder,
    caller,
    is_temporary,
    picks_of,
    reader_of,
    refuse_here,
    show,
)

# Of so many temporary chats a session remembers that they began in it.
MOST_TEMPORARY = 100

Act = Callable[[Caller, UUID, HttpRequest], Awaitable[object]]


@require_POST
async def new(request: HttpRequest) -> HttpResponse:
    """The first message of a new conversation: lands on its page, already being answered."""
    if "introduce" in request.POST:
        return await sync_to_async(_show_new)(request)
    caller = await acaller(request)
    content = request.POST.get("example") or request.POST.get("content", "")
    try:
        started = await services.start_conversation(
            caller,
            content,
            await sync_to_async(attached)(caller, request),
            language=request.LANGUAGE_CODE,
            picks=picks_of(request),
            temporary=is_temporary(request.POST),
            folder_id=request.POST.get("folder", ""),
        )
    except ChatError as error:
        return await sync_to_async(_refuse_new)(request, content, error)
    await services.see(started.conversation_id)
    await services.expect_view(caller, started.conversation_id)
    if is_temporary(request.POST):
        # It goes when this session ends.
        begun = await request.session.aget(services.TEMPORARY, [])
        remembered = [*begun, started.conversation_id][-MOST_TEMPORARY:]
        await request.session.aset(services.TEMPORARY, remembered)
    return redirect("chat:conversation", started.conversation_id)


def _refuse_new(request: HttpRequest, content: str, error: ChatError) -> HttpResponse:
    return _show_new(request, 409, draft=content, toasts=(Toast(error.key, error.data),))


def _show_new(request: HttpRequest, status: int = 200, **extra: Any) -> HttpResponse:
    """The new chat again, with all that was chosen and typed there."""
    picks = picks_of(request)
    catalog = services.catalog_for(caller(request), trying=picks.agent_id)
    last = reader_of(request, catalog)
    reader = replace(
        last,
        agent=picks.agent_id or last.agent,
        model=picks.model_id or last.model,
        effort=picks.effort,
    )
    off = [tool for tool, on in picks.tools.items() if not on]
    with reader.speaking():
        extra.setdefault("draft", request.POST.get("content", ""))
        place = {"temporary": is_temporary(request.POST), "folder": asked_folder(request)}
        page = empty_page(reader, catalog, off, **place, **extra)
    return show(request, page, reader, status)


async def _act(request: HttpRequest, conversation_id: UUID, act: Act) -> HttpResponse:
    """Do it and show the conversation; a refusal is shown there too, with what was typed."""
    caller = await acaller(request)
    await aconversation(caller, conversation_id)
    try:
        await act(caller, conversation_id, request)
    except ChatError as error:
        draft = request.POST.get("content", "")
        return await refuse_here(request, conversation_id, error, draft)
    await services.see(str(conversation_id))
    return redirect("chat:conversation", conversation_id)


async def _send(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    # A page without scripts says with every message who is to answer.
    await services.choose(caller, conversation_id, picks_of(request))
    files = await sync_to_async(attached)(caller, request)
    content = request.POST.get("content", "")
    if request.POST.get("queue") == "true":
        return await services.send_or_queue(caller, conversation_id, content, files)
    return await services.send(caller, conversation_id, content, files)


async def _stop(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    await services.stop(caller, conversation_id)


async def _try_now(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    await services.try_now(caller, conversation_id)


async def _edit(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    message_id, content = request.POST.get("message_id", ""), request.POST.get("content", "")
    return await services.edit(caller, conversation_id, message_id, content)


async def _regenerate(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    message_id = request.POST.get("message_id", "")
    model = request.POST.get("model", "")
    return await services.regenerate(caller, conversation_id, message_id, model)


async def _continue(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    message_id = request.POST.get("message_id", "")
    return await services.continue_answer(caller, conversation_id, message_id)


async def _version(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    """A button says both: which message, and which of its versions."""
    choice = parse_version_choice(request.POST.get("version", ""))
    await services.show_version(caller, conversation_id, choice.message_id, choice.version)


async def _feedback(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    """A button says both: about which answer, and what; the box for words says each."""
    message_id, comment = request.POST.get("message_id", ""), request.POST.get("comment")
    choice = parse_feedback_choice(request.POST.get("verdict", ""), message_id)
    await services.give_feedback(
        caller, conversation_id, choice.message_id, choice.verdict, comment
    )


async def _edit_queued(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    message_id, content = request.POST.get("message_id", ""), request.POST.get("content", "")
    await services.edit_queued(caller, conversation_id, message_id, content)


async def _remove_queued(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    await services.remove_queued(caller, conversation_id, request.POST.get("message_id", ""))


async def _send_queued(caller: Caller, conversation_id: UUID, request: HttpRequest) -> object:
    message_id = request.POST.get("message_id", "")
    return await services.send_queued(caller, conversation_id, message_id)


async def _hold_queue(caller: Caller, conversation_id: UUID, request: HttpRequest) -> None:
    held = request.POST.get("held") != "false"
    await services.hold_queue(caller, conversation_id, held=held)


def _form(act: Act) -> Callable[..., Coroutine[Any, Any, HttpResponse]]:
    @require_POST
    async def view(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
        return await _act(request, conversation_id, act)

    return view


send = _form(_send)
stop = _form(_stop)
try_now = _form(_try_now)
edit = _form(_edit)
regenerate = _form(_regenerate)
continue_answer = _form(_continue)
version = _form(_version)
feedback = _form(_feedback)
edit_queued = _form(_edit_queued)
remove_queued = _form(_remove_queued)
send_queued = _form(_send_queued)
hold_queue = _form(_hold_queue)
