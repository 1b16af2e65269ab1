"""The menu of a conversation: rename, pin, delete and undo; and what can be taken away."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.rendering.pages import toast_html, undo_html
from chat.services import organise as service
from chat.services.interchange import FORMATS, export_conversation
from chat.views.showing import asker, back, found, is_scripted, own, person, reader_of


@require_POST
async def organise(request: HttpRequest) -> HttpResponse:
    """Each button of the menu names what to do and with which conversation."""
    user = await asker(request)
    form = request.POST
    verb = next((name for name in VERBS if is_uuid(form.get(name, ""))), None)
    if verb is None:
        raise Http404
    conversation_id = form[verb]
    try:
        match verb:
            case "rename":
                await service.rename(user.pk, conversation_id, form.get("title"))
            case "pin" | "unpin":
                await service.pin(user.pk, conversation_id, pinned=verb == "pin")
            case "delete":
                await service.delete(user.pk, conversation_id)
            case "restore":
                await service.restore(user.pk, conversation_id)
    except ChatError as error:
        if error.key == "error.chat_conversation_not_found":
            raise Http404 from None
        if not is_scripted(request):
            return back(request)
        reader = await sync_to_async(reader_of)(request)
        return HttpResponse(toast_html(error.key, error.data, reader))
    return await _after(request, verb, conversation_id)


async def _after(request: HttpRequest, verb: str, conversation_id: str) -> HttpResponse:
    """A page with scripts stays, and its column is told by the socket; others are shown again."""
    here = conversation_id in request.headers.get("HX-Current-URL", "")
    place = reverse("chat:conversation", args=[conversation_id])
    if not is_scripted(request):
        if verb == "delete":
            return redirect(f"{reverse('chat:home')}?deleted={conversation_id}")
        return redirect(place) if verb == "restore" else back(request)
    if verb == "delete" and not here:
        reader = await sync_to_async(reader_of)(request)
        return HttpResponse(undo_html(conversation_id, reader))
    response = HttpResponse(status=204)
    if verb == "delete":
        response["HX-Redirect"] = f"{reverse('chat:home')}?deleted={conversation_id}"
    elif verb == "restore" and here:
        response["HX-Redirect"] = place
    return response


@require_POST
async def choose(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Who answers from the next turn on."""
    user = await asker(request)
    await own(user.pk, conversation_id)
    agent, model = request.POST.get("agent", ""), request.POST.get("model", "")
    chosen = await service.choose(user.pk, conversation_id, agent, model)
    if is_scripted(request):
        return JsonResponse(chosen._asdict())
    return redirect("chat:conversation", conversation_id)


VERBS = ("rename", "pin", "unpin", "delete", "restore")


@require_GET
@never_cache
def export(request: HttpRequest, conversation_id: UUID, form: str) -> HttpResponse:
    """The conversation as a file."""
    row = found(person(request).pk, conversation_id)
    if form not in FORMATS:
        raise Http404
    reader = reader_of(request)
    with translation.override(reader.language):
        text, kind, ending = export_conversation(row, form, reader.names.agents)
    response = HttpResponse(text, content_type=kind)
    name = f"parley-{str(row.pk)[:8]}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
