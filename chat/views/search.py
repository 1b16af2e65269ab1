"""Search: what is found, for the dialog, as one types; without scripts it is a page."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat.protocol.ids import is_uuid
from chat.rendering.page.search import found_rows_html
from chat.views.page_data import found_page
from chat.views.responses import asked_search, caller, is_scripted, reader_of


@require_GET
@never_cache
def search(request: HttpRequest) -> HttpResponse:
    """What is found, as a piece of the dialog."""
    asked = asked_search(request)
    if not is_scripted(request):
        values = {"q": asked.words, **asked.filters.values()}
        return redirect(f"{reverse('chat:home')}?{urlencode(values)}")
    reader = reader_of(request)
    with reader.speaking():
        found = found_page(caller(request), asked, reader, _conversation_shown(request))
        return HttpResponse(found_rows_html(found, reader))


def _conversation_shown(request: HttpRequest) -> str:
    """The conversation on the page that a script asks from."""
    path = urlsplit(request.headers.get("HX-Current-URL", "")).path
    return next((piece for piece in path.split("/") if is_uuid(piece)), "")
