"""An answer on the OpenAI chat wire, read chunk by chunk."""

import json
from typing import Any, Final

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import Finish, ProviderEvent, Usage
from chat.providers.deltas import DeltaJoiner
from chat.providers.faults import failure, told_failure
from chat.providers.openai_usage import usage_of
from chat.providers.think_tags import ThinkSplitter, ThinkTags
from chat.providers.tool_calls import CallCollector

_decode: Final = json.JSONDecoder().decode

_REASONS: Final[dict[str, str]] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "content_filter": "content-filter",
}


class _Broken(Exception):
    """The answer cannot be read on; what was read before still counts."""

    def __init__(self, error: ProviderError) -> None:
        self.error = error


class OpenAIAnswer:
    """Reads chunks; says when it is done, when the model had finished, and what went wrong."""

    def __init__(self, think_tags: ThinkTags = "auto") -> None:
        self.done = False
        self.error: ProviderError | None = None
        self._out = DeltaJoiner()
        self._splitter = ThinkSplitter(think_tags)
        self._calls = CallCollector()
        self._reason: str | None = None
        self._refused = False
        self._usage: Usage | None = None

    @property
    def finished(self) -> bool:
        return self._reason is not None

    def feed(self, payloads: list[str]) -> list[ProviderEvent]:
        """The events of these chunks, joined; a broken chunk sets `error`."""
        try:
            for payload in payloads:
                if payload.startswith("[DONE]"):
                    self.done = True
                    break
                self._chunk(self._parsed(payload))
        except _Broken as broken:
            self.error = broken.error
        return self._out.take()

    def tail(self) -> list[ProviderEvent]:
        """What was held back, and the tokens taken: also for an answer that was cut off."""
        for thinking, text in self._splitter.close():
            (self._out.thought if thinking else self._out.text)(text)
        events = self._out.close()
        return [*events, self._usage] if self._usage else events

    def finish(self) -> list[ProviderEvent]:
        """The end of a whole answer: its calls, its tokens, its reason."""
        reason = _REASONS.get(self._reason or "", "other")
        if self._refused:
            reason = "content-filter"
        elif self._calls and reason != "content-filter":
            reason = "tool-calls"  # some servers say "stop" although they call
        usage = self._usage
        self._usage = None
        events = self.tail()
        ended: list[ProviderEvent] = [*self._calls.finish(), *([usage] if usage else [])]
        return [*events, *ended, Finish(reason)]

    def _parsed(self, payload: str) -> dict[str, Any]:
        try:
            chunk = _decode(payload)
        except (ValueError, RecursionError):
            raise _Broken(failure("bad_response", "a chunk is not JSON")) from None
        if not isinstance(chunk, dict):
            raise _Broken(failure("bad_response", "a chunk is not an object"))
        return chunk

    def _chunk(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error") or chunk.get("object") == "error":
            raise _Broken(told_failure(chunk))
        choices = chunk.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict) and not choice.get("index"):
                    self._choice(choice)
        elif choices is not None:
            raise _Broken(failure("bad_response", "the choices are not a list"))
        usage = chunk.get("usage")
        if usage is None and "x_groq" in chunk:
            groq = chunk["x_groq"]
            usage = groq.get("usage") if isinstance(groq, dict) else None
        if isinstance(usage, dict):
            self._usage = usage_of(usage)

    def _choice(self, choice: dict[str, Any]) -> None:
        # A whole answer instead of a stream has a `message`.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta)
        elif delta is not None:
            raise _Broken(failure("bad_response", "a delta is not an object"))
        if choice.get("error"):
            raise _Broken(told_failure(choice))
        reason = choice.get("finish_reason")
        if reason == "error":
            raise _Broken(failure("server_error", "the provider ended with an error"))
        if reason:
            self._reason = str(reason)

    def _delta(self, delta: dict[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("thinking")
        if thought:
            self._out.thought(_text(thought))
        content = delta.get("content")
        if content:
            if isinstance(content, list):  # Mistral's parts
                self._parts(content)
            else:
                self._said(_text(content))
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            for event in self._calls.feed(calls):
                self._out.event(event)
        elif isinstance(old := delta.get("function_call"), dict):
            for event in self._calls.feed([{"index": 0, "function": old}]):
                self._out.event(event)
        refusal = delta.get("refusal")
        if refusal:
            self._refused = True
            self._out.text(_text(refusal))

    def _said(self, text: str) -> None:
        if self._splitter.saying:
            self._out.text(text)
            return
        for thinking, piece in self._splitter.feed(text):
            (self._out.thought if thinking else self._out.text)(piece)

    def _parts(self, parts: list[Any]) -> None:
        for part in parts:
            match part:
                case {"type": "text", "text": str(text)}:
                    self._said(text)
                case {"type": "thinking", "thinking": list(inner)}:
                    for piece in inner:
                        if isinstance(piece, dict) and isinstance(piece.get("text"), str):
                            self._out.thought(piece["text"])


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _Broken(failure("bad_response", "a text is not a text"))
