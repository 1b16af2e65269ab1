"""WhiteNoise for an asynchronous server.

WhiteNoise's own middleware is synchronous: under ASGI it would send every request through a thread
and back, and stream files through a blocking iterator. Ours are small and few: they are read whole.
"""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.templatetags.static import static
from whitenoise.middleware import WhiteNoiseMiddleware

Answer = HttpResponseBase | Awaitable[HttpResponseBase]


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves what collectstatic gathered, without a thread for all other requests."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        super().__init__(get_response)
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer:
        if self.is_async:
            return self._answer(request)
        file = self._find(request)
        return self.get_response(request) if file is None else self.serve(file, request)

    async def _answer(self, request: HttpRequest) -> HttpResponseBase:
        # Only a file is worth a thread (it is read from disk); pages pass straight through.
        if request.path_info.startswith(self.static_prefix):
            file = await sync_to_async(self._find, thread_sensitive=False)(request)
            if file is not None:
                return await sync_to_async(self.serve, thread_sensitive=False)(file, request)
        response: HttpResponseBase = await self.get_response(request)
        return response

    def _find(self, request: HttpRequest) -> Any:
        path = request.path_info
        return self.find_file(path) if self.autorefresh else self.files.get(path)

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = b""
        if found.file is not None:
            with found.file:
                content = found.file.read()
        response = HttpResponse(content, status=int(found.status))
        del response["content-type"]
        for key, value in found.headers:
            response[key] = value
        if "immutable" in response.headers.get("Cache-Control", ""):
            # Nobody asks whether it is still the same.
            del response.headers["ETag"], response.headers["Last-Modified"]
        return response


@login_not_required
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for this name on pages that name no icon, such as a picture's own."""
    return redirect(static("icon.svg"))
