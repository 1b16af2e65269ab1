"""The menu of a conversation: rename, pin, delete and undo; and what can be taken away."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.services import organise as service
from chat.services.interchange import FORMATS, export_conversation
from chat.views.showing import asker, back, found, person


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
    here = conversation_id in request.META.get("HTTP_REFERER", "")
    return redirect("chat:home") if verb == "delete" and here else back(request)


VERBS = ("rename", "pin", "unpin", "delete", "restore")


@require_GET
@never_cache
def export(request: HttpRequest, conversation_id: UUID, form: str) -> HttpResponse:
    """The conversation as a file."""
    row = found(person(request).pk, conversation_id)
    if form not in FORMATS:
        raise Http404
    text, kind, ending = export_conversation(row, form)
    response = HttpResponse(text, content_type=kind)
    name = f"parley-{str(row.pk)[:8]}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
