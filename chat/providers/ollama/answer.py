"""An answer on Ollama's own wire, read line by line."""

from typing import Any, Final

from chat.protocol.interfaces import Finish, ProviderEvent, Usage
from chat.providers.answer_reader import AnswerReader, BrokenAnswer, parse_object
from chat.providers.faults import error_failure
from chat.providers.think_tags import ThinkSplitter
from chat.providers.token_counts import count_tokens, read_count
from chat.providers.tool_calls import CallCollector

_REASONS: Final = {"stop": "stop", "length": "length"}


class OllamaAnswer(AnswerReader):
    """Reads lines; calls come complete, errors as plain text."""

    def __init__(self) -> None:
        super().__init__()
        self._splitter = ThinkSplitter()
        self._calls = CallCollector()
        self._last: dict[str, Any] = {}

    @property
    def finished(self) -> bool:
        return self.done

    def break_off(self) -> list[ProviderEvent]:
        for is_reasoning, text in self._splitter.close():
            self._joiner.add(is_reasoning, text)
        return self._joiner.close()

    def finish(self) -> list[ProviderEvent]:
        reason = _REASONS.get(str(self._last.get("done_reason", "stop")), "other")
        tokens = count_tokens(
            input=read_count(self._last, "prompt_eval_count"),
            output=read_count(self._last, "eval_count"),
        )
        events = [*self.break_off(), *self._calls.finish(), Usage(tokens)]
        return [*events, Finish("tool-calls" if self._calls else reason)]

    def _read_payload(self, payload: str) -> None:
        line = parse_object(payload)
        if line.get("error"):
            raise BrokenAnswer(error_failure(line))
        message = line.get("message")
        if isinstance(message, dict):
            self._read_message(message)
        if line.get("done"):
            self.done = True
            self._last = line

    def _read_message(self, message: dict[str, Any]) -> None:
        reasoning, content = message.get("thinking"), message.get("content")
        if isinstance(reasoning, str) and reasoning:
            self._joiner.add_reasoning(reasoning)
        if isinstance(content, str) and content:
            for is_reasoning, text in self._splitter.feed(content):
                self._joiner.add(is_reasoning, text)
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            # Each is complete and new; their indexes are missing or always 0.
            for call in filter(lambda call: isinstance(call, dict), calls):
                without_index = {"function": call.get("function"), "id": call.get("id")}
                for event in self._calls.feed([without_index]):
                    self._joiner.add_event(event)
