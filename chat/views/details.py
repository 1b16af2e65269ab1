"""The details of an answer: a dialog of its page, and without scripts a page of its own."""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat import services
from chat.protocol.details import AnswerDetails
from chat.protocol.errors import ChatError
from chat.rendering.page.details import details_context, details_html
from chat.rendering.reader import Reader
from chat.views.responses import caller, is_scripted, reader_of


@require_GET
@never_cache
def details(request: HttpRequest, conversation_id: UUID, answer_id: UUID) -> HttpResponse:
    """Of an answer in a conversation of one's own."""
    try:
        found = services.answer_details(caller(request), conversation_id, answer_id)
    except ChatError:
        raise Http404 from None
    return details_response(request, found, reader_of(request))


def details_response(request: HttpRequest, found: AnswerDetails, reader: Reader) -> HttpResponse:
    if is_scripted(request):
        return HttpResponse(details_html(found, reader))
    with reader.speaking():
        return render(request, "chat/details_page.html", details_context(found, reader))
