"""Each request has an id: in the lines that are logged for it, and in the header of its answer."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from chat.protocol.ids import new_id
from chat.protocol.trail import follow_request, trail

HEADER = "X-Request-ID"
# What a proxy may call it: nothing that could be taken for something else in a line of the log.
_ID = re.compile(r"[\w.-]{8,64}", re.ASCII)
_CONVERSATION = re.compile(r"/c/([0-9a-f-]{36})/")


@sync_and_async_middleware
def name_requests(get_response):  # type: ignore[no-untyped-def]
    """Give a request its id, and name it in the answer."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponse:
            with _named(request) as name:
                response: HttpResponse = await get_response(request)
            return _with_name(response, name)

        return answer

    def answer_now(request: HttpRequest) -> HttpResponse:
        with _named(request) as name:
            response: HttpResponse = get_response(request)
        return _with_name(response, name)

    return answer_now


def _with_name(response: HttpResponse, name: str) -> HttpResponse:
    # Of files that never change nothing is logged, and there are many of them.
    if "immutable" not in response.headers.get("Cache-Control", ""):
        response[HEADER] = name
    return response


@contextmanager
def _named(request: HttpRequest) -> Iterator[str]:
    given = request.headers.get(HEADER, "") if settings.TRUST_PROXY else ""
    name = given if _ID.fullmatch(given) else new_id()
    found = _CONVERSATION.match(request.path_info)
    before = trail.get()
    follow_request(name, found[1] if found else "")
    try:
        yield name
    finally:
        # In tests, many requests are made by one task.
        trail.set(before)
