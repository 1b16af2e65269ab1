"""Search: as one types, what was found takes the place of the column's list."""

from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat.presenting import column_entries, found_page
from chat.protocol.ids import is_uuid
from chat.rendering.pages import column_html
from chat.rendering.search import found_html, more_found_html
from chat.views.showing import asked_page, asked_words, is_scripted, person, reader_of


@require_GET
@never_cache
def search(request: HttpRequest) -> HttpResponse:
    """A piece of the page for a script; where nothing is asked, the column as it was."""
    words, number = asked_words(request), asked_page(request)
    if not is_scripted(request):
        return redirect(f"{reverse('chat:home')}?{urlencode({'q': words})}")
    reader, user_id, here = reader_of(request), person(request).pk, _conversation_shown(request)
    if not words:
        return HttpResponse(column_html(column_entries(user_id, here), reader))
    found = found_page(user_id, words, number, here)
    draw = found_html if number == 1 else more_found_html
    return HttpResponse(draw(found, reader))


def _conversation_shown(request: HttpRequest) -> str:
    """The conversation on the page that a script asks from."""
    path = urlsplit(request.headers.get("HX-Current-URL", "")).path
    return next((piece for piece in path.split("/") if is_uuid(piece)), "")
