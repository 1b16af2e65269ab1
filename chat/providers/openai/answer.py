"""An answer on the OpenAI chat wire, read chunk by chunk."""

from typing import Any, Final

from chat.protocol.interfaces import Finish, ProviderEvent
from chat.providers.annotations import cited_in
from chat.providers.answer_reader import AnswerReader, BrokenAnswer, parse_object
from chat.providers.faults import error_failure, failure
from chat.providers.openai.thinking import FIELD, USUAL_FIELD
from chat.providers.openai.thought_details import ThoughtDetails
from chat.providers.openai.usage import usage_of
from chat.providers.think_tags import ThinkSplitter
from chat.providers.tool_calls import CallCollector

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
# What servers call thoughts.
_THOUGHTS: Final = (USUAL_FIELD, "reasoning", "thinking")


class OpenAIAnswer(AnswerReader):
    """Reads chunks."""

    def __init__(self, *, think_tags: bool = True) -> None:
        super().__init__()
        self._splitter = ThinkSplitter(expect_tags=think_tags)
        self._calls = CallCollector()
        self._details = ThoughtDetails()
        self._reason: str | None = None
        self._refused = False
        self._thought = False
        # How much text has come, and the sources that were named: some name all with every chunk.
        self._written = 0
        self._cited: set[tuple[str, int]] = set()

    @property
    def finished(self) -> bool:
        return self._reason is not None

    def break_off(self) -> list[ProviderEvent]:
        for is_reasoning, text in self._splitter.close():
            self._joiner.add(is_reasoning, text)
        events = self._joiner.close()
        return [*events, self._usage] if self._usage else events

    def finish(self) -> list[ProviderEvent]:
        reason = _REASONS.get(self._reason or "", "other")
        if self._refused:
            reason = "refusal"
        elif self._calls and reason != "content-filter":
            reason = "tool-calls"  # some servers say "stop" although they call
        usage = self._usage
        self._usage = None
        if kept := self._details.finish():
            self._joiner.add_reasoning("", kept)
        events = self.break_off()
        ended: list[ProviderEvent] = [*self._calls.finish(), *([usage] if usage else [])]
        return [*events, *ended, Finish(reason)]

    def _read_payload(self, payload: str) -> None:
        if payload.startswith("[DONE]"):
            self.done = True
        else:
            self._read_chunk(parse_object(payload))

    def _read_chunk(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error") or chunk.get("object") == "error":
            raise BrokenAnswer(error_failure(chunk))
        choices = chunk.get("choices")
        if isinstance(choices, list):
            for choice in choices:
                if isinstance(choice, dict) and not choice.get("index"):
                    self._read_choice(choice)
        elif choices is not None:
            raise BrokenAnswer(failure("bad_response", "the choices are not a list"))
        usage = chunk.get("usage")
        if usage is None and "x_groq" in chunk:
            groq = chunk["x_groq"]
            usage = groq.get("usage") if isinstance(groq, dict) else None
        if isinstance(usage, dict):
            self._usage = usage_of(usage)

    def _read_choice(self, choice: dict[str, Any]) -> None:
        # An answer that is not streamed has a `message`.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._read_delta(delta)
        elif delta is not None:
            raise BrokenAnswer(failure("bad_response", "a delta is not an object"))
        if choice.get("error"):
            raise BrokenAnswer(error_failure(choice))
        reason = choice.get("finish_reason")
        if reason == "error":
            raise BrokenAnswer(failure("server_error", "the provider ended with an error"))
        if reason:
            self._reason = str(reason)

    def _read_delta(self, delta: dict[str, Any]) -> None:
        named = next((name for name in _THOUGHTS if delta.get(name)), "")
        if named:
            # It is kept where they came, unless that is the usual place: they may go back there.
            told = {FIELD: named} if named != USUAL_FIELD and not self._thought else None
            self._thought = True
            self._joiner.add_reasoning(_text(delta[named]), told)
        if isinstance(details := delta.get("reasoning_details"), list):
            self._details.feed(details)
        content = delta.get("content")
        if content:
            if isinstance(content, list):  # Mistral's parts
                self._read_parts(content)
            else:
                self._add_content(_text(content))
        calls, old = delta.get("tool_calls"), delta.get("function_call")
        if calls is None and isinstance(old, dict):
            calls = [{"index": 0, "function": old}]
        if isinstance(calls, list):
            for event in self._calls.feed(calls):
                self._joiner.add_event(event)
        if isinstance(annotations := delta.get("annotations"), list):
            self._cite(annotations)
        refusal = delta.get("refusal")
        if refusal:
            self._refused = True
            self._joiner.add_text(_text(refusal))

    def _cite(self, annotations: list[Any]) -> None:
        for annotation in annotations:
            cited = cited_in(annotation, self._written)
            place = (cited.url, self._written - cited.before_end) if cited else None
            if cited is not None and place is not None and place not in self._cited:
                self._cited.add(place)
                self._joiner.add_event(cited)

    def _add_content(self, text: str) -> None:
        self._written += len(text)
        if self._splitter.only_text_follows:
            self._joiner.add_text(text)
            return
        for is_reasoning, piece in self._splitter.feed(text):
            self._joiner.add(is_reasoning, piece)

    def _read_parts(self, parts: list[Any]) -> None:
        for part in parts:
            match part:
                case {"type": "text", "text": str(text)}:
                    self._add_content(text)
                case {"type": "thinking", "thinking": list(inner)}:
                    for piece in inner:
                        if isinstance(piece, dict) and isinstance(piece.get("text"), str):
                            self._joiner.add_reasoning(piece["text"])


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise BrokenAnswer(failure("bad_response", "a text is not a text"))
