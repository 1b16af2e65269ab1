"""Who of the administrators read one's conversations or did something to them, and why."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from chat import services
from chat.views.responses import caller, reader_of


@require_GET
@never_cache
def readings(request: HttpRequest) -> HttpResponse:
    """The latest first; whoever has opened this has seen them."""
    listed = services.readings_of(caller(request))
    services.note_readings_seen(caller(request))
    reader = reader_of(request)
    with reader.speaking():
        return render(request, "chat/readings.html", {"reader": reader, "listed": listed})
