"""What every answer tells the browser, whatever it is: what the site needs of it, and of whom it
may be a part. (What scripts and pictures may be is said by the content security policy.)"""

from collections.abc import Awaitable, Callable
from typing import Final

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

# Of nothing that a browser can do for a page does Parley need these.
UNUSED: Final = (
    *("accelerometer", "ambient-light-sensor", "bluetooth", "browsing-topics", "camera"),
    *("display-capture", "encrypted-media", "geolocation", "gyroscope", "hid", "idle-detection"),
    *("interest-cohort", "magnetometer", "microphone", "midi", "payment"),
    *("publickey-credentials-get", "screen-wake-lock", "serial", "usb", "xr-spatial-tracking"),
)
PERMISSIONS: Final = ", ".join(f"{name}=()" for name in UNUSED)
# These are never a document, and what only documents are told is longer than many of them.
NO_DOCUMENTS: Final = ("text/css", "text/javascript")

Answer = HttpResponseBase | Awaitable[HttpResponseBase]


@sync_and_async_middleware
def say_what_is_needed(get_response: Callable[[HttpRequest], Answer]):  # type: ignore[no-untyped-def]
    """Adds the headers to every response."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponseBase:
            return _with_headers(await get_response(request))

        return answer

    def answer_now(request: HttpRequest) -> HttpResponseBase:
        return _with_headers(get_response(request))  # type: ignore[arg-type]

    return answer_now


def _with_headers(response: HttpResponseBase) -> HttpResponseBase:
    # Nothing of ours is loaded into another site's page: not a file, not a picture, not an answer.
    response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
    if response.headers.get("Content-Type", "").startswith(NO_DOCUMENTS):
        del response.headers["Cross-Origin-Opener-Policy"]
    else:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
    return response
