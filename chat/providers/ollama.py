"""Ollama's own wire: JSON by lines."""

import json
from collections.abc import Mapping
from typing import Any

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import Finish, ModelRequest, ProviderEvent, Usage
from chat.protocol.parts import Tokens
from chat.protocol.tool_state import JsonObject
from chat.providers.deltas import DeltaJoiner
from chat.providers.faults import failure, told_failure
from chat.providers.http import Http
from chat.providers.ollama_request import request_body
from chat.providers.openai_usage import count
from chat.providers.retry import RetryPolicy
from chat.providers.sse import Decoder, LineDecoder
from chat.providers.think_tags import ThinkSplitter, ThinkTags
from chat.providers.tool_calls import CallCollector
from chat.providers.wire_provider import AnswerReader, WireProvider

_REASONS = {"stop": "stop", "length": "length"}


class OllamaAnswer:
    """Reads lines; calls come whole, errors as plain text."""

    def __init__(self, think_tags: ThinkTags = "auto") -> None:
        self.done = False
        self.error: ProviderError | None = None
        self._out = DeltaJoiner()
        self._splitter = ThinkSplitter(think_tags)
        self._calls = CallCollector()
        self._last: dict[str, Any] = {}

    @property
    def finished(self) -> bool:
        return self.done

    def feed(self, payloads: list[str]) -> list[ProviderEvent]:
        for payload in payloads:
            try:
                line = json.loads(payload)
            except (ValueError, RecursionError):
                self.error = failure("bad_response", "a line is not JSON")
                break
            if not isinstance(line, dict):
                self.error = failure("bad_response", "a line is not an object")
                break
            if line.get("error"):
                self.error = told_failure(line)
                break
            self._line(line)
        return self._out.take()

    def tail(self) -> list[ProviderEvent]:
        for thinking, text in self._splitter.close():
            (self._out.thought if thinking else self._out.text)(text)
        return self._out.close()

    def finish(self) -> list[ProviderEvent]:
        reason = _REASONS.get(str(self._last.get("done_reason", "stop")), "other")
        tokens = Tokens(
            input=count(self._last, "prompt_eval_count"), output=count(self._last, "eval_count")
        )
        events = [*self.tail(), *self._calls.finish(), Usage(tokens)]
        return [*events, Finish("tool-calls" if self._calls else reason)]

    def _line(self, line: dict[str, Any]) -> None:
        message = line.get("message")
        if isinstance(message, dict):
            self._message(message)
        if line.get("done"):
            self.done = True
            self._last = line

    def _message(self, message: dict[str, Any]) -> None:
        thought, content = message.get("thinking"), message.get("content")
        if isinstance(thought, str) and thought:
            self._out.thought(thought)
        if isinstance(content, str) and content:
            for thinking, text in self._splitter.feed(content):
                (self._out.thought if thinking else self._out.text)(text)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            # Each is whole and new; their indexes are missing or always 0.
            for call in filter(lambda call: isinstance(call, dict), calls):
                fresh = {"function": call.get("function"), "id": call.get("id")}
                for event in self._calls.feed([fresh]):
                    self._out.event(event)


class Ollama(WireProvider):
    """`POST {base_url}/api/chat`, streamed."""

    path = "/api/chat"
    models_path = "/api/tags"

    def __init__(
        self,
        base_url: str,
        api_key: str = "",
        *,
        extra_headers: Mapping[str, str] | None = None,
        options: JsonObject | None = None,
        http: Http | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        super().__init__(base_url, api_key, extra_headers=extra_headers, http=http, retry=retry)
        self._options = dict(options or {})

    def _body(self, request: ModelRequest) -> JsonObject:
        return request_body(request, self._options)

    def _reader(self) -> AnswerReader:
        return OllamaAnswer()

    def _decoder(self) -> Decoder:
        return LineDecoder(self._http.settings.max_event)
