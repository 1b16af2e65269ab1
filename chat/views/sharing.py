"""Share: who owns a conversation makes links to it and revokes them. With scripts in a dialog over
the page, without them on a page of its own."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from chat import services
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.rendering.page.shared import ShareEntry, expiry_choices, share_entry
from chat.rendering.reader import Reader
from chat.services import Caller, KnownShare, NewShare
from chat.views.responses import REFUSED, acaller, is_scripted, reader_of


@require_http_methods(["GET", "POST"])
@never_cache
async def share(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """The links of a conversation, and a form for another one."""
    asking = await acaller(request)
    if request.method == "GET":
        return await sync_to_async(_show)(request, asking, conversation_id)
    try:
        if key := request.POST.get("revoke", ""):
            await services.revoke_share(asking, conversation_id, key)
        else:
            await services.share(asking, conversation_id, _wanted(request))
    except ChatError as error:
        if error.key == "error.chat_conversation_not_found":
            raise Http404 from None
        return await sync_to_async(_show)(request, asking, conversation_id, error)
    if is_scripted(request):
        return await sync_to_async(_show)(request, asking, conversation_id)
    return redirect("chat:share", conversation_id)


def _wanted(request: HttpRequest) -> NewShare:
    form = request.POST
    days = form.get("days", "")
    return NewShare(
        live=form.get("live") == "1",
        thinking=form.get("thinking") == "1",
        tools=form.get("tools") == "1",
        days=int(days) if days.isascii() and days.isdigit() and len(days) < 4 else -1,
    )


def _show(
    request: HttpRequest, asking: Caller, conversation_id: UUID, error: ChatError | None = None
) -> HttpResponse:
    reader = reader_of(request)
    try:
        row = services.get_conversation(asking, conversation_id)
        shares = services.list_shares(asking, conversation_id)
    except ChatError:
        raise Http404 from None
    if row.temporary:
        raise Http404
    frame = "chat/form_dialog.html" if is_scripted(request) else "chat/form_page.html"
    with reader.speaking():
        values = {
            "reader": reader,
            "form": "chat/share_form.html",
            "title": _("Share"),
            "back": reverse("chat:conversation", args=[conversation_id]),
            "address": reverse("chat:share", args=[conversation_id]),
            "shares": [_entry(request, each, reader) for each in shares],
            "expiries": expiry_choices(),
            "error": error_text(error.key, error.data) if error else "",
        }
        response = render(request, frame, values, status=REFUSED if error else 200)
    # The dialog stays open, with what has changed in it.
    response["Parley-Form"] = "again"
    return response


def _entry(request: HttpRequest, known: KnownShare, reader: Reader) -> ShareEntry:
    address = ""
    if known.token:
        address = request.build_absolute_uri(reverse("chat:shared", args=[known.token]))
    return share_entry(
        known.id,
        address,
        live=known.live,
        thinking=known.thinking,
        tools=known.tools,
        created=services.ms(known.created),
        expires=services.ms(known.expires) if known.expires else None,
        reader=reader,
    )
