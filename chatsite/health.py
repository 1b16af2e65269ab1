"""Answers for supervisors and load balancers."""

from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse


@login_not_required
async def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """The process can serve pages: its database answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        return HttpResponse("no database\n", status=503, content_type="text/plain")
    return HttpResponse("ready\n", content_type="text/plain")
