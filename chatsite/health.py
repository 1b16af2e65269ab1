"""Answers for supervisors and load balancers."""

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse


@login_not_required
async def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


@login_not_required
def readyz(request: HttpRequest) -> HttpResponse:
    """The process can serve pages: its database answers and has all tables."""
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        return _not_ready("no database")
    return _not_ready("migrations are pending") if pending else _ready()


def _ready() -> HttpResponse:
    return HttpResponse("ready\n", content_type="text/plain")


def _not_ready(why: str) -> HttpResponse:
    return HttpResponse(f"{why}\n", status=503, content_type="text/plain")
