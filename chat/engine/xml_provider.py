"""A model without native tools, made to look as if it had them (C1, C2).

Requests have calls and results as text; in the answer calls are read from the text and become
events again. So parts, cards and history are the same in both styles.
"""

from collections.abc import AsyncGenerator, Iterator, Sequence
from dataclasses import replace
from typing import Final, assert_never

from chat.engine.read_stream import read_stream
from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_dialects import CallDialects, value_without_tag
from chat.formats.xml_events import (
    CallEnded,
    CallGrew,
    CallStarted,
    MessageTooLong,
    TextShown,
    XmlEvent,
)
from chat.formats.xml_history import messages_in_xml, schemas_of
from chat.formats.xml_prompt import with_tools
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import parse_values
from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    Finish,
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    Retrying,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolSpec,
)
from chat.protocol.reasons import Reason, reason

ONE_AT_A_TIME: Final = (
    "Tool [{name}] was not executed because a tool has already been used in this message. "
    "Only one tool may be used per message. You must assess the first tool's result before "
    "proceeding to use the next tool."
)
NO_TAGS: Final = "Not run: no parameter was given. Write each one between tags of its own:\n{call}"


class XmlToolProvider:
    """Implements `ModelProvider` by another one, with the tools described in its prompt.

    `tools` are those of the conversation; a request may have none, as for a summary.
    """

    def __init__(self, provider: ModelProvider, tools: Sequence[ToolSpec]) -> None:
        self._provider = provider
        self._schemas = schemas_of(tools)

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        stream = self._provider.stream(self.request_in_xml(request))
        return read_stream(stream, _CallReader(request.tools))

    def request_in_xml(self, request: ModelRequest) -> ModelRequest:
        """The request in the XML style."""
        return replace(
            request,
            system=with_tools(request.system, request.tools),
            messages=messages_in_xml(request.messages, self._schemas),
            tools=(),
        )


class _CallReader:
    """Implements `CallReader`."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._schemas = schemas_of(tools)
        self._grammar = XmlGrammar.of(tools)
        self._start_over()

    def _start_over(self) -> None:
        self._parser = XmlToolParser(self._grammar)
        self._dialects = CallDialects(self._schemas)
        self._calls = 0
        self._is_closed = False

    def passes(self, event: ProviderEvent) -> bool:
        return False

    def read(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        match event:
            case TextDelta(text):
                yield from self._read_text(text)
            case Finish(reason=reason):
                yield from self.close()
                # The provider saw only text, so its reason is not the call.
                called = self._calls and reason in ("stop", "other")
                yield Finish("tool-calls") if called else event
            case Retrying():
                self._start_over()
                yield event
            case _:
                yield event

    def close(self) -> Iterator[ProviderEvent]:
        if not self._is_closed:
            self._is_closed = True
            yield from self._parsed(self._dialects.close())
            yield from self._events(self._parser.close())

    def break_off(self) -> Iterator[ProviderEvent]:
        return (found for found in self.close() if isinstance(found, TextDelta))

    def _read_text(self, text: str) -> Iterator[ProviderEvent]:
        yield from self._parsed(self._dialects.feed(text))

    def _parsed(self, text: str) -> Iterator[ProviderEvent]:
        try:
            events = self._parser.feed(text)
        except MessageTooLong as error:
            raise ProviderError("error.chat_output_limit", str(error)) from error
        yield from self._events(events)

    def _events(self, events: Sequence[XmlEvent]) -> Iterator[ProviderEvent]:
        for event in events:
            match event:
                case TextShown(text):
                    yield TextDelta(text)
                case CallStarted(call_id, name):
                    yield ToolCallStart(call_id, name)
                case CallGrew(call_id, raw):
                    yield ToolCallDelta(call_id, raw)
                case CallEnded():
                    yield self._call(event)
                case _:
                    assert_never(event)

    def _call(self, call: CallEnded) -> ToolCall:
        """The first call of a message runs; a model in this style must see its result first."""
        self._calls += 1
        schema = self._schemas.get(call.name)
        fault, values = call.fault, call.values
        if not values and not fault:
            found = value_without_tag(call.raw, call.name, schema)
            values = found or {}
            if found is None and (wanted := (schema or {}).get("required")):
                fault = NO_TAGS.format(call=_example(call.name, wanted))
        arguments = parse_values(values, schema)
        reasons: tuple[Reason, ...] = ()
        if self._calls > 1:
            fault, reasons = ONE_AT_A_TIME.format(name=call.name), (reason("one_at_a_time"),)
        return ToolCall(
            call.call_id, call.name, arguments, raw=call.raw, fault=fault, reasons=reasons
        )


def _example(name: str, params: Sequence[str]) -> str:
    inside = "".join(f"<{param}>…</{param}>" for param in params)
    return f"<{name}>{inside}</{name}>"
