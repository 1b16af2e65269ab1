"""Answers for supervisors, load balancers and Prometheus, who ask by address.

They are given before Django looks at the host name, which in production must be one of ours.
"""

import contextlib

from asgiref.sync import async_to_sync, iscoroutinefunction
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.utils.decorators import sync_and_async_middleware

from chat import services
from chatsite.lifespan import CannotStart


@sync_and_async_middleware
def answer_probes(get_response):  # type: ignore[no-untyped-def]
    """`/healthz`: it answers. `/readyz`: it can serve pages. `/metrics`: what it counts."""
    if iscoroutinefunction(get_response):

        async def answer(request: HttpRequest) -> HttpResponse:
            match request.path_info:
                case "/healthz":
                    return _said("ok")
                case "/readyz":
                    return await services.in_pool(_readiness)
                case "/metrics" if settings.PARLEY_METRICS_TOKEN:
                    return await _metrics(request)
            return await get_response(request)  # type: ignore[no-any-return]

        return answer

    def answer_now(request: HttpRequest) -> HttpResponse:
        match request.path_info:
            case "/healthz":
                return _said("ok")
            case "/readyz":
                return _readiness()
            case "/metrics" if settings.PARLEY_METRICS_TOKEN:
                return async_to_sync(_metrics)(request)
        return get_response(request)  # type: ignore[no-any-return]

    return answer_now


async def refuse_unfit_database() -> None:
    """Not one that is away or behind: it may come back, or be brought up to date."""
    with contextlib.suppress(DatabaseError):
        if not await services.in_pool(services.pending_migrations):
            for look in (services.schema_fault, services.foreign_keys_or_files):
                if fault := await services.in_pool(look):
                    raise CannotStart(fault)


def _readiness() -> HttpResponse:
    """Its database answers and has all it needs, and the process is not about to end."""
    if services.is_closing():
        return _said("going down", 503)
    try:
        pending = services.pending_migrations()
        fault = "migrations are pending" if pending else services.schema_fault()
    except DatabaseError:
        fault = "no database"
    return _said(fault, 503) if fault else _said("ready")


async def _metrics(request: HttpRequest) -> HttpResponse:
    """What this process counts, for whoever has the operator's token."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(
        token.strip(), settings.PARLEY_METRICS_TOKEN
    ):
        refused = _said("a bearer token is needed: PARLEY_METRICS_TOKEN", 401)
        refused["WWW-Authenticate"] = "Bearer"
        return refused
    return HttpResponse(
        await services.read_metrics(),
        content_type=services.METRICS_TYPE,
        headers={"Cache-Control": "no-store"},
    )


def _said(words: str, status: int = 200) -> HttpResponse:
    return HttpResponse(f"{words}\n", status=status, content_type="text/plain; charset=utf-8")
