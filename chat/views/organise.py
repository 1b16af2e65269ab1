"""The menu of a conversation: rename, pin, archive, delete, bring back; the same for several."""

from collections.abc import Sequence
from typing import Literal
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.rendering.page.pages import Undo, toast_html, undo_html
from chat.services import Caller
from chat.views.exports import export_or_ask
from chat.views.folders import move_or_ask
from chat.views.responses import (
    acaller,
    aconversation,
    asked_page,
    back,
    caller,
    is_scripted,
    picks_of,
    reader_of,
    refuse_here,
)


@require_POST
async def organise(request: HttpRequest) -> HttpResponse:
    """Each button of a menu names what to do and with which conversation, or folder."""
    asking = await acaller(request)
    form = request.POST
    verb = next((name for name in VERBS if is_uuid(form.get(name, ""))), None)
    if verb is None:
        raise Http404
    conversation_id = form[verb]
    try:
        await _do(asking, verb, conversation_id, form.get("title"))
    except ChatError as error:
        if error.key in NOT_FOUND:
            raise Http404 from None
        if not is_scripted(request):
            return back(request)
        reader = await sync_to_async(reader_of)(request)
        return HttpResponse(toast_html(error.key, error.data, reader))
    return await _after(request, verb, conversation_id)


async def _do(asking: Caller, verb: str, conversation_id: str, title: str | None) -> None:
    match verb:
        case "rename":
            await services.rename(asking, conversation_id, title)
        case "pin" | "unpin":
            await services.pin(asking, conversation_id, pinned=verb == "pin")
        case "archive" | "unarchive":
            await services.archive(asking, conversation_id, archived=verb == "archive")
        case "keep":
            await services.keep(asking, conversation_id)
        case "delete":
            await services.delete(asking, conversation_id)
        case "restore":
            await services.restore(asking, conversation_id)
        case "undo-delete" | "undo-archive":
            await services.undo(asking, conversation_id, UNDONE[verb])
        case "purge":
            await services.purge(asking, conversation_id)
        case "collapse" | "expand":
            await services.collapse_folder(asking, conversation_id, collapsed=verb == "collapse")


async def _after(request: HttpRequest, verb: str, conversation_id: str) -> HttpResponse:
    """A page with scripts stays, and its column is told by the socket; others are shown again."""
    here = conversation_id in request.headers.get("HX-Current-URL", "")
    place = reverse("chat:conversation", args=[conversation_id])
    if verb == "delete" and not await _is_undoable(request, conversation_id):
        return _go(request, f"{reverse('chat:home')}?ended")
    if not is_scripted(request):
        if verb in PUT_AWAY:
            return redirect(f"{reverse('chat:home')}?{PUT_AWAY[verb]}={conversation_id}")
        return redirect(place) if verb in BROUGHT_BACK else back(request)
    # Who archives the conversation that is open goes on reading it.
    if verb == "archive" or (verb == "delete" and not here):
        return await _offer_undo(request, Undo(conversation_id, UNDO[verb]))
    response = HttpResponse(status=204)
    if verb == "delete":
        response["HX-Redirect"] = f"{reverse('chat:home')}?deleted={conversation_id}"
    elif verb in ("restore", "undo-delete") and here:
        response["HX-Redirect"] = place
    return response


async def _is_undoable(request: HttpRequest, conversation_id: str) -> bool:
    """Not when it was temporary: then nothing is left of it."""
    return bool(
        await sync_to_async(services.count_deleted_with)(await acaller(request), conversation_id)
    )


def _go(request: HttpRequest, place: str) -> HttpResponse:
    """To another page; a script is told where."""
    if not is_scripted(request):
        return redirect(place)
    return HttpResponse(status=204, headers={"HX-Redirect": place})


async def _offer_undo(request: HttpRequest, undo: Undo) -> HttpResponse:
    reader = await sync_to_async(reader_of)(request)
    return HttpResponse(undo_html(undo, reader))


@require_POST
async def several(request: HttpRequest) -> HttpResponseBase:
    """What to do with all conversations that are selected."""
    asking = await acaller(request)
    verb, ids = request.POST.get("do", ""), request.POST.getlist("c")
    if not all(is_uuid(key) for key in ids):
        raise Http404
    match verb:
        case "archive":
            done = await services.archive_several(asking, ids, archived=True)
        case "delete":
            done = await services.delete_several(asking, ids)
        case "move" if ids:
            return await move_or_ask(request, asking, ids)
        case "export" if ids:
            return await export_or_ask(request, asking, ids)
        case _:
            return HttpResponse(status=204) if is_scripted(request) else back(request)
    return await _after_several(request, verb, done)


async def _after_several(request: HttpRequest, verb: str, done: list[str]) -> HttpResponse:
    """As after one: what was done can be taken back, for all of them."""
    if not done:
        raise Http404
    here = next((key for key in done if key in request.headers.get("HX-Current-URL", "")), "")
    home = f"{reverse('chat:home')}?{PUT_AWAY[verb]}={here or done[0]}"
    if not is_scripted(request) or (verb == "delete" and here):
        return _go(request, home)
    return await _offer_undo(request, Undo(done[0], UNDO[verb], len(done)))


@require_POST
async def choose(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Who answers from the next turn on."""
    asking = await acaller(request)
    await aconversation(asking, conversation_id)
    try:
        chosen = await services.choose(asking, conversation_id, picks_of(request))
    except ChatError as error:
        if error.key in NOT_FOUND:
            raise Http404 from None
        if not is_scripted(request):
            return await refuse_here(request, conversation_id, error)
        reader = await sync_to_async(reader_of)(request)
        return HttpResponse(toast_html(error.key, error.data, reader), status=409)
    if is_scripted(request):
        return JsonResponse(chosen._asdict())
    return redirect("chat:conversation", conversation_id)


VERBS = (
    *("rename", "pin", "unpin", "archive", "unarchive", "keep", "delete", "restore", "purge"),
    *("undo-delete", "undo-archive", "collapse", "expand"),
)
BROUGHT_BACK = ("restore", "unarchive", "undo-delete", "undo-archive")
UNDO: dict[str, Literal["undo-delete", "undo-archive"]] = {
    "delete": "undo-delete",
    "archive": "undo-archive",
}
UNDONE: dict[str, Literal["deleted", "archived"]] = {
    "undo-delete": "deleted",
    "undo-archive": "archived",
}
NOT_FOUND = ("error.chat_conversation_not_found", "error.chat_folder_not_found")

# What the page that offers to undo it is told of these.
PUT_AWAY = {"archive": "archived", "delete": "deleted"}


@require_GET
@never_cache
def archived(request: HttpRequest) -> HttpResponse:
    """What the column no longer lists."""
    listed, more = services.list_archived(caller(request), asked_page(request))
    return _put_away(request, "chat/archived.html", listed, more)


@require_GET
@never_cache
def deleted(request: HttpRequest) -> HttpResponse:
    """What was deleted and can still be brought back."""
    listed, more = services.list_deleted(caller(request), asked_page(request))
    return _put_away(request, "chat/deleted.html", listed, more)


def _put_away(
    request: HttpRequest, template: str, listed: Sequence[object], more: bool
) -> HttpResponse:
    reader = reader_of(request)
    with reader.speaking():
        following = asked_page(request) + 1 if more else None
        values = {"reader": reader, "listed": listed, "next": following}
        return render(request, template, values)
