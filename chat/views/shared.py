"""What a share link leads to: a page for anybody who has it, without a log-in, scripts that ask
anything, or cookies."""

from uuid import UUID

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import translation
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from chat import services
from chat.formats.shared import with_files_at
from chat.protocol.errors import ChatError
from chat.rendering.errors import error_text
from chat.rendering.page.shared import SharedPage, shared_context
from chat.rendering.reader import Reader
from chat.services import Shared
from chat.views.attachments import send_file
from chat.views.page_data import names_in
from chat.views.responses import REFUSED, acaller, asked_page

# Why there is no copy, of which a person is told.
NOT_COPIED = ("error.chat_share_copy_too_large", "error.chat_import_running")
# No scripts but ours, and those cannot ask anybody; pictures are ours too.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


@login_not_required
@require_GET
@never_cache
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """The conversation, or a page that says that there is none (any more)."""
    reader = _reader(request)
    try:
        found = services.read_shared(token, asked_page(request))
    except ChatError:
        with reader.speaking():
            return _guarded(
                render(request, "chat/shared_gone.html", {"reader": reader}, status=404)
            )
    page = _page(request, token, found)
    with reader.speaking():
        return _guarded(render(request, "chat/shared.html", shared_context(page, reader)))


@login_not_required
@require_GET
def shared_file(request: HttpRequest, token: str, attachment_id: UUID) -> HttpResponse:
    """A file of a message that is shown. Pictures come without the place and time in them."""
    try:
        row = services.shared_file(token, attachment_id)
    except ChatError:
        raise Http404 from None
    response = send_file(request, row, bare=True)
    response["X-Robots-Tag"] = "noindex"
    return response


@require_POST
async def copy_shared(request: HttpRequest, token: str) -> HttpResponse:
    """Go on with it: a conversation of one's own, with all that the link shows."""
    try:
        copied = await services.copy_shared(await acaller(request), token, request.LANGUAGE_CODE)
    except ChatError as error:
        if error.key not in NOT_COPIED:
            raise Http404 from None
        return await sync_to_async(_not_copied)(request, error)
    return redirect("chat:conversation", copied)


def _not_copied(request: HttpRequest, error: ChatError) -> HttpResponse:
    reason = error_text(error.key, error.data)
    return render(request, "chat/shared_not_copied.html", {"reason": reason}, status=REFUSED)


def _reader(request: HttpRequest) -> Reader:
    """Nobody in particular, also where somebody is logged in: all see the same."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    names = names_in(services.current_catalog(), language)
    return Reader(
        language=language,
        time_zone=settings.TIME_ZONE,
        names=names,
        may_act=False,
        is_public=True,
    )


def _page(request: HttpRequest, token: str, found: Shared) -> SharedPage:
    here = reverse("chat:shared", args=[token])
    messages = with_files_at(
        found.messages, lambda key: reverse("chat:shared_file", args=[token, key])
    )
    return SharedPage(
        title=found.title,
        messages=messages,
        live=found.live,
        created=services.ms(found.created),
        running=found.running,
        earlier=f"{here}?page={found.page - 1}" if found.page > 1 else "",
        later=f"{here}?page={found.page + 1}" if found.page < found.pages else "",
        copy=reverse("chat:shared_copy", args=[token]) if request.user.is_authenticated else "",
        login=f"{reverse('login')}?next={here}",
    )


def _guarded(response: HttpResponse) -> HttpResponse:
    response["Content-Security-Policy"] = POLICY
    response["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    # The address is the key: it is told to nobody whose link is followed. Not `no-referrer`, for
    # then the form that copies it would come from nowhere.
    response["Referrer-Policy"] = "same-origin"
    return response
