"""Spans: an answer (`invoke_agent`), each request to its model (`chat`), each of its tools
(`execute_tool`).

Nothing of OpenTelemetry is loaded, and nothing stands between the engine and what it is given,
unless an operator has switched it on. Parents are passed on by hand and not by the context of the
task: generators are taken up by whoever asks for their next piece.
"""

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from django.conf import settings

from chat.protocol.errors import ProviderError
from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import (
    CaughtUp,
    Finish,
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    Retrying,
    TextDelta,
    Toolbox,
    ToolCall,
    ToolContext,
    ToolResult,
    ToolSpec,
    Usage,
)
from chat.services.runs.spec import RunSpec
from chat.services.telemetry import genai

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

_tracer: "Tracer | None" = None


def use(provider: "TracerProvider | None") -> None:
    """Make spans by this from now on; with none, make none."""
    global _tracer
    _tracer = provider.get_tracer("parley", settings.VERSION) if provider else None


class RunSpans:
    """The span of one answer, below which those of its requests and tools are."""

    def __init__(self, tracer: "Tracer", spec: RunSpec) -> None:
        self._tracer = tracer
        self._with_content = settings.PARLEY_TRACE_CONTENT and spec.logged
        self.common = {
            genai.PROVIDER: genai.provider_of(spec.model.connection),
            genai.CONVERSATION: spec.info.session_id,
        }
        self._span = tracer.start_span(
            f"{genai.INVOKE_AGENT} {spec.info.agent}",
            attributes={
                **self.common,
                genai.OPERATION: genai.INVOKE_AGENT,
                genai.AGENT: spec.info.agent,
                genai.MODEL: spec.model.ref.model_id,
                "parley.run.id": spec.request_id,
            },
        )

    def provider(self, provider: ModelProvider, base_url: str) -> ModelProvider:
        return TracedProvider(provider, self._tracer, self._span, self.common, base_url,
                              with_content=self._with_content)  # fmt: skip

    def toolbox(self, toolbox: Toolbox) -> Toolbox:
        return TracedToolbox(toolbox, self._tracer, self._span, with_content=self._with_content)

    def end(self, status: str, error_key: str) -> None:
        self._span.set_attribute("parley.answer.status", status)
        if error_key:
            _fail(self._span, error_key)
        self._span.end()


def begin_spans(spec: RunSpec) -> RunSpans | None:
    """The spans of an answer that begins; nothing where nobody wants any."""
    return RunSpans(_tracer, spec) if _tracer else None


def traced_alone(provider: ModelProvider, spec: RunSpec) -> ModelProvider:
    """A model that is asked beside an answer, for a title say: a trace of its own."""
    if _tracer is None:
        return provider
    common = {
        genai.PROVIDER: genai.provider_of(spec.model.connection),
        genai.CONVERSATION: spec.info.session_id,
    }
    return TracedProvider(
        provider,
        _tracer,
        None,
        common,
        spec.model.connection.base_url,
        with_content=settings.PARLEY_TRACE_CONTENT and spec.logged,
    )


class TracedProvider:
    """Implements `ModelProvider`: one span for each request, its retries included."""

    def __init__(
        self,
        provider: ModelProvider,
        tracer: "Tracer",
        parent: "Span | None",
        common: dict[str, str],
        base_url: str,
        *,
        with_content: bool,
    ) -> None:
        self._provider = provider
        self._tracer = tracer
        self._parent = parent
        self._common = {**common, **genai.server_of(base_url)}
        self._with_content = with_content

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        from opentelemetry.trace import SpanKind

        span = self._tracer.start_span(
            f"{genai.CHAT} {request.model}",
            context=_below(self._parent),
            kind=SpanKind.CLIENT,
            attributes={**self._common, **_asked(request)},
        )
        answered = _Answered(span)
        try:
            async with aclosing(self._provider.stream(request)) as events:
                async for event in events:
                    answered.note(event)
                    yield event
        except BaseException as error:
            # Whoever stops an answer ends the generator in the middle: that is no fault.
            if isinstance(error, Exception):
                _fail(span, _key(error))
            raise
        finally:
            if self._with_content:
                span.set_attributes({**_said(request), **answered.said()})
            span.end()


class TracedToolbox:
    """Implements `Toolbox`: one span for each call."""

    def __init__(
        self, toolbox: Toolbox, tracer: "Tracer", parent: "Span", *, with_content: bool
    ) -> None:
        self._toolbox = toolbox
        self._tracer = tracer
        self._parent = parent
        self._with_content = with_content

    def specs(self) -> Sequence[ToolSpec]:
        return self._toolbox.specs()

    async def run(self, name: str, arguments: JsonObject, context: ToolContext) -> ToolResult:
        span = self._tracer.start_span(
            f"{genai.EXECUTE_TOOL} {name}",
            context=_below(self._parent),
            attributes={
                genai.OPERATION: genai.EXECUTE_TOOL,
                genai.TOOL: name,
                genai.TOOL_CALL: context.call_id,
                genai.TOOL_TYPE: genai.FUNCTION,
                genai.CONVERSATION: context.conversation_id,
            },
        )
        try:
            result = await self._toolbox.run(name, arguments, context)
            if result.is_error:
                _fail(span, result.reasons[0].key if result.reasons else "tool_error")
            if self._with_content:
                span.set_attribute(genai.ARGUMENTS, _json(arguments))
                span.set_attribute(genai.RESULT, result.text)
            return result
        finally:
            span.end()


class _Answered:
    """What is noted of an answer while it passes by."""

    def __init__(self, span: "Span") -> None:
        self._span = span
        self._asked_at = time.monotonic()
        self._begun = False
        self._finish = ""
        self._parts: list[JsonObject] = []

    def note(self, event: ProviderEvent) -> None:
        match event:
            case Retrying():
                self._span.add_event("parley.retry", {genai.ERROR: event.key})
                return
            case Usage():
                self._span.set_attributes(genai.usage_of(event))
                return
            case CaughtUp():
                return
            case Finish(reason=reason):
                self._finish = reason
                self._span.set_attribute(genai.FINISH, [reason])
            case TextDelta(text=text):
                self._write(text)
            case ToolCall():
                call = {"id": event.call_id, "name": event.name, "arguments": event.arguments}
                self._parts.append({"type": "tool_call", **call})
        if not self._begun:
            self._begun = True
            waited = time.monotonic() - self._asked_at
            self._span.set_attribute(genai.FIRST_CHUNK, round(waited, 3))

    def _write(self, text: str) -> None:
        if self._parts and self._parts[-1]["type"] == "text":
            self._parts[-1] = genai.text_part(self._parts[-1]["content"] + text)
        else:
            self._parts.append(genai.text_part(text))

    def said(self) -> dict[str, str]:
        answer = {"role": "assistant", "parts": self._parts, "finish_reason": self._finish}
        return {genai.OUTPUT: _json([answer])}


def _asked(request: ModelRequest) -> dict[str, Any]:
    wanted = {
        genai.OPERATION: genai.CHAT,
        genai.MODEL: request.model,
        genai.STREAM: True,
        genai.TEMPERATURE: request.temperature,
        genai.MAX_TOKENS: request.output_limit,
    }
    return {name: value for name, value in wanted.items() if value is not None}


def _said(request: ModelRequest) -> dict[str, str]:
    return {
        genai.INSTRUCTIONS: _json([genai.text_part(request.system)]),
        genai.INPUT: _json([genai.message(each) for each in request.messages]),
    }


def _below(parent: "Span | None") -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace import set_span_in_context

    # Not the context of the task, which may be that of a request that has long been answered.
    return set_span_in_context(parent, Context()) if parent else Context()


def _fail(span: "Span", key: str) -> None:
    """The kind of a fault, and none of its words: those may be somebody's."""
    from opentelemetry.trace import StatusCode

    span.set_attribute(genai.ERROR, key)
    span.set_status(StatusCode.ERROR)


def _key(error: Exception) -> str:
    return error.key if isinstance(error, ProviderError) else type(error).__name__


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
