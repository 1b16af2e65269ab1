"""A model without native tools, made to look as if it had them (C1, C2).

What it is asked has calls and results as text; what it says has calls as events again. So
parts, cards and history are the same in both styles.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, assert_never

from chat.formats.xml_call import XmlGrammar
from chat.formats.xml_events import (
    CallEnded,
    CallGrew,
    CallStarted,
    MessageTooLong,
    Shown,
    XmlEvent,
)
from chat.formats.xml_history import in_xml, schemas_of
from chat.formats.xml_prompt import with_tools
from chat.formats.xml_tools import XmlToolParser
from chat.formats.xml_values import typed
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

ONE_AT_A_TIME: Final = (
    "Tool [{name}] was not executed because a tool has already been used in this message. "
    "Only one tool may be used per message. You must assess the first tool's result before "
    "proceeding to use the next tool."
)


class XmlToolProvider:
    """Implements `ModelProvider` by another one that is told of the tools in its prompt.

    `tools` are those of the conversation; a request may go without, as for a summary.
    """

    def __init__(self, provider: ModelProvider, tools: Sequence[ToolSpec]) -> None:
        self._provider = provider
        self._schemas = schemas_of(tools)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        listener = _Listener(request.tools)
        async with aclosing(_closable(self._provider.stream(self.told(request)))) as events:
            try:
                async for event in events:
                    for heard in listener.hear(event):
                        yield heard
            except ProviderError:
                # What was said is kept; a call that was being written never was one.
                for heard in listener.close():
                    if isinstance(heard, TextDelta):
                        yield heard
                raise
        for heard in listener.close():
            yield heard

    def told(self, request: ModelRequest) -> ModelRequest:
        """The request in the XML style."""
        return replace(
            request,
            system=with_tools(request.system, request.tools),
            messages=in_xml(request.messages, self._schemas),
            tools=(),
        )


async def _closable(events: AsyncIterator[ProviderEvent]) -> AsyncGenerator[ProviderEvent, None]:
    """Closing this closes the connection, whatever kind of iterator the provider gave."""
    try:
        async for event in events:
            yield event
    finally:
        close = getattr(events, "aclose", None)
        if close is not None:
            await close()


class _Listener:
    """One answer: its text is read for calls, the rest passes."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._schemas = schemas_of(tools)
        self._grammar = XmlGrammar.of(tools)
        self._start_over()

    def _start_over(self) -> None:
        self._parser = XmlToolParser(self._grammar)
        self._calls = 0
        self._is_closed = False

    def hear(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        match event:
            case TextDelta(text):
                yield from self._said(text)
            case Finish(reason):
                yield from self.close()
                # On the wire it just stopped: the call was a text.
                called = self._calls and reason in ("stop", "other")
                yield Finish("tool-calls") if called else event
            case Retrying():
                self._start_over()
                yield event
            case _:
                yield event

    def close(self) -> Iterator[ProviderEvent]:
        """The end of the text; asked twice, it says nothing more."""
        if not self._is_closed:
            self._is_closed = True
            yield from self._events(self._parser.close())

    def _said(self, text: str) -> Iterator[ProviderEvent]:
        try:
            events = self._parser.feed(text)
        except MessageTooLong as error:
            raise ProviderError("error.chat_output_limit", str(error)) from error
        yield from self._events(events)

    def _events(self, events: Sequence[XmlEvent]) -> Iterator[ProviderEvent]:
        for event in events:
            match event:
                case Shown(text):
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
        fault = call.fault if self._calls == 1 else ONE_AT_A_TIME.format(name=call.name)
        arguments = typed(call.values, self._schemas.get(call.name))
        return ToolCall(call.call_id, call.name, arguments, raw=call.raw, fault=fault)
