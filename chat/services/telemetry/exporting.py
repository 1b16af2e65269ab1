"""Where spans go: to where the variables of OpenTelemetry say, by its own packages.

They are an extra (`traces` in pyproject.toml), loaded only where `PARLEY_TRACES` is on;
`chat/checks.py` refuses a start without them.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from chat.services.pool import in_worker
from chat.services.telemetry import spans

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

_OTLP: Final = "opentelemetry.exporter.otlp.proto.http.trace_exporter"

_ours: "TracerProvider | None" = None


def begin_tracing() -> None:
    """Make spans, if that is wanted. A provider of spans that the operator has set up before, as
    `opentelemetry-instrument` does, is taken as it is."""
    global _ours
    if not settings.PARLEY_TRACES:
        return
    from opentelemetry import trace
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    known = trace.get_tracer_provider()
    if isinstance(known, TracerProvider):
        spans.use(known)
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "parley")
    resource = Resource.create({SERVICE_NAME: name, SERVICE_VERSION: settings.VERSION})
    _ours = TracerProvider(resource=resource)
    _ours.add_span_processor(BatchSpanProcessor(_open_exporter()))
    spans.use(_ours)


async def end_tracing() -> None:
    """Send what has gathered, before the process goes."""
    global _ours
    ours, _ours = _ours, None
    spans.use(None)
    if ours is not None:
        await in_worker(ours.shutdown)


def _exporter() -> str:
    return os.environ.get("OTEL_TRACES_EXPORTER", "").strip() or "otlp"


def _open_exporter() -> "SpanExporter":
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter

    if _exporter() == "console":
        return ConsoleSpanExporter()
    # It is no package of ours: whoever wants it has installed it.
    otlp: Any = import_module(_OTLP)
    exporter: SpanExporter = otlp.OTLPSpanExporter()
    return exporter
