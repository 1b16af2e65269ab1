"""A model whose server was to read its calls and sometimes does not: then they are read here.

Servers that run models on somebody's own machine look for calls with a parser for each family of
models. Where that misses, the call comes as text, and the answer would end with it.
"""

from collections.abc import AsyncGenerator, Iterator
from uuid import uuid4

from chat.engine.read_stream import read_stream
from chat.formats.text_calls import TextCalls
from chat.formats.xml_history import schemas_of
from chat.protocol.interfaces import (
    CaughtUp,
    Finish,
    ModelProvider,
    ModelRequest,
    ProviderEvent,
    Retrying,
    TextDelta,
    ToolCall,
    ToolCallStart,
    ToolResultBlock,
)


class TextCallProvider:
    """Implements `ModelProvider` by another one, to which tools are told natively."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider

    def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        return read_stream(self._provider.stream(request), _Reader(request))


class _Reader:
    """Implements `CallReader`."""

    def __init__(self, request: ModelRequest) -> None:
        self._names = frozenset(schemas_of(request.tools))
        self._results = tuple(_results(request))
        self._start_over()

    def _start_over(self) -> None:
        self._calls = TextCalls(self._names, self._results)
        # Nothing is looked for where there are no tools, or once its server has read a call.
        self._looks = bool(self._names)

    def passes(self, event: ProviderEvent) -> bool:
        if not isinstance(event, TextDelta):
            return False
        return not self._looks or self._calls.is_plain(event.text)

    def read(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        match event:
            case TextDelta(text):
                shown = self._calls.feed(text)
                if shown or event.metadata:
                    yield event if shown == text else TextDelta(shown, event.metadata)
            case ToolCallStart() | ToolCall() if self._looks:
                self._looks = False
                yield from _text(self._calls.release())
                yield event
            case Finish(reason):
                found = list(self.close())
                yield from found
                called = any(isinstance(each, ToolCall) for each in found)
                yield Finish("tool-calls") if called and reason in ("stop", "other") else event
            case Retrying():
                self._start_over()
                yield event
            case CaughtUp() if self._calls.holds:
                pass  # whoever rests then and is cancelled would never be given what is held
            case _:
                yield event

    def close(self) -> Iterator[ProviderEvent]:
        text, calls = self._calls.close()
        yield from _text(text)
        for call in calls:
            call_id = f"call_{uuid4().hex}"
            yield ToolCallStart(call_id, call.name)
            yield ToolCall(call_id, call.name, call.arguments, raw=call.raw)

    def break_off(self) -> Iterator[ProviderEvent]:
        yield from _text(self._calls.break_off())


def _results(request: ModelRequest) -> Iterator[str]:
    """What tools have returned in this conversation, as the model was sent it."""
    for message in request.messages:
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                yield block.text


def _text(text: str) -> Iterator[TextDelta]:
    if text:
        yield TextDelta(text)
