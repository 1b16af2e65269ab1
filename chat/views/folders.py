"""Folders: their forms, and moving conversations between them. With scripts a form is a dialog over
the page it was asked from, without them a page of its own."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from chat import services
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.rendering.errors import error_text
from chat.rendering.page.pages import notice_html
from chat.services import Caller, KnownFolder, NewFolder
from chat.views.responses import REFUSED, acaller, is_scripted, reader_of

# The status of a form that is shown again because something in it cannot be taken.
# What stands in the place of a folder's id in the form where one is to be made.
NEW = "new"


@require_http_methods(["GET", "POST"])
@never_cache
async def new_folder(request: HttpRequest) -> HttpResponse:
    """A name for a new folder, and what is asked of the answers in it."""
    if request.method == "GET":
        return await _show_folder(request, None, NewFolder(""))
    wanted = _wanted(request)
    try:
        await services.make_folder(await acaller(request), wanted)
    except ChatError as error:
        return await _show_folder(request, None, wanted, error)
    return _done(request)


@require_http_methods(["GET", "POST"])
@never_cache
async def folder(request: HttpRequest, folder_id: UUID) -> HttpResponse:
    """The same of a folder that is there."""
    asking = await acaller(request)
    known = await _folder(asking, folder_id)
    if request.method == "GET":
        return await _show_folder(request, known, NewFolder(known.name, known.instructions))
    wanted = _wanted(request)
    try:
        await services.change_folder(asking, folder_id, wanted)
    except ChatError as error:
        return await _show_folder(request, known, wanted, error)
    return _done(request)


@require_http_methods(["GET", "POST"])
@never_cache
async def delete_folder(request: HttpRequest, folder_id: UUID) -> HttpResponse:
    """Asked first: the instructions of a folder do not come back."""
    asking = await acaller(request)
    known = await _folder(asking, folder_id)
    if request.method == "POST":
        await services.remove_folder(asking, folder_id)
        return _done(request)
    address = reverse("chat:folder_delete", args=[folder_id])
    values = {"address": address, "folder": known}
    return await sync_to_async(_show)(
        request, "chat/folder_delete_form.html", _("Delete the folder"), values
    )


@require_http_methods(["GET", "POST"])
@never_cache
async def move(request: HttpRequest) -> HttpResponse:
    """Which folder for these conversations; a form that names none only asks for it."""
    asking = await acaller(request)
    form = request.POST if request.method == "POST" else request.GET
    ids = [key for key in form.getlist("c") if is_uuid(key)]
    if not ids:
        raise Http404
    return await move_or_ask(request, asking, ids)


async def move_or_ask(request: HttpRequest, asking: Caller, ids: list[str]) -> HttpResponse:
    if "folder" not in request.POST:
        return await sync_to_async(_ask_where)(request, asking, ids)
    try:
        known = await services.move(asking, ids, _target(request))
    except ChatError as error:
        if error.key == "error.chat_conversation_not_found":
            raise Http404 from None
        return await sync_to_async(_ask_where)(request, asking, ids, error)
    if not is_scripted(request):
        return _done(request)
    return await sync_to_async(_tell_moved)(request, known, len(ids))


def _target(request: HttpRequest) -> str | NewFolder:
    folder_id = request.POST["folder"]
    return NewFolder(request.POST.get("name", "")) if folder_id == NEW else folder_id


def _ask_where(
    request: HttpRequest, asking: Caller, ids: list[str], error: ChatError | None = None
) -> HttpResponse:
    """All folders, the one that all of the conversations are in chosen."""
    now = services.folders_of(asking, ids)
    if not now:
        raise Http404
    chosen = request.POST.get("folder", now.pop() if len(now) == 1 else "")
    values = {
        "conversations": ids,
        "folders": services.list_folders(asking),
        "chosen": chosen,
        "name": request.POST.get("name", ""),
    }
    return _show(request, "chat/move_form.html", _("Move to…"), values, error)


def _tell_moved(request: HttpRequest, known: KnownFolder | None, number: int) -> HttpResponse:
    reader = reader_of(request)
    with reader.speaking():
        if known is None:
            one, many = _("Moved out of its folder"), _("%(number)s moved out of their folders")
        else:
            one, many = _("Moved to “%(folder)s”"), _("%(number)s moved to “%(folder)s”")
        values = {"number": number, "folder": known.name if known else ""}
        return HttpResponse(notice_html((many if number > 1 else one) % values, reader))


def _wanted(request: HttpRequest) -> NewFolder:
    return NewFolder(request.POST.get("name", ""), request.POST.get("instructions", ""))


async def _folder(asking: Caller, folder_id: UUID) -> KnownFolder:
    try:
        return await sync_to_async(services.get_folder)(asking, folder_id)
    except ChatError:
        raise Http404 from None


async def _show_folder(
    request: HttpRequest,
    known: KnownFolder | None,
    wanted: NewFolder,
    error: ChatError | None = None,
) -> HttpResponse:
    here = reverse("chat:folder", args=[known.id]) if known else reverse("chat:folder_new")
    title = _("Name and instructions") if known else _("New folder")
    values = {"address": here, "folder": wanted}
    return await sync_to_async(_show)(request, "chat/folder_form.html", title, values, error)


def _show(
    request: HttpRequest,
    form: str,
    title: Promise | str,
    values: Mapping[str, Any],
    error: ChatError | None = None,
) -> HttpResponse:
    """A form, with the reason why it was not taken as it was."""
    reader = reader_of(request)
    frame = "chat/form_dialog.html" if is_scripted(request) else "chat/form_page.html"
    with reader.speaking():
        told = error_text(error.key, error.data) if error else ""
        context = {**values, "reader": reader, "form": form, "title": title, "error": told}
        return render(request, frame, context, status=REFUSED if error else 200)


def _done(request: HttpRequest) -> HttpResponse:
    """A page with scripts stays, and its column is told by the socket."""
    return HttpResponse(status=204) if is_scripted(request) else redirect("chat:home")
