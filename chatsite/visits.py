"""Where and when somebody was last here, for the list of their log-ins."""

from asgiref.sync import iscoroutinefunction
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from chat import services
from chat.views.addresses import address_of


@sync_and_async_middleware
def note_visits(get_response):  # type: ignore[no-untyped-def]
    """Once in a few minutes of each session; a request that does not look who asks says nothing."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)
            if visit := _due(request):
                await services.in_writer(services.note_visit, *visit)
            return response

        return answer

    def answer_now(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = get_response(request)
        if visit := _due(request):
            services.note_visit(*visit)
        return response

    return answer_now


def _due(request: HttpRequest) -> tuple[int, str, str, str] | None:
    """Who visits, in which session, with which browser and from where; nothing when it is known."""
    session = request.session
    key = session.session_key if session.accessed else None
    if not key or not services.is_visit_due(key):
        return None
    user_id = session.get(SESSION_KEY)
    if user_id is None:
        return None
    return int(user_id), key, request.headers.get("User-Agent", ""), address_of(request)
