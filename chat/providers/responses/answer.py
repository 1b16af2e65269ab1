"""An answer on the Responses wire: items, each with its deltas."""

from typing import Any, Final

from chat.protocol.interfaces import (
    Finish,
    ProviderEvent,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    Usage,
)
from chat.protocol.text import clean_json, clean_text
from chat.providers.annotations import cited_in
from chat.providers.answer_reader import AnswerReader, BrokenAnswer, parse_object
from chat.providers.faults import error_failure
from chat.providers.responses.items import Item, Items
from chat.providers.responses.request import ITEM, PHASE
from chat.providers.responses.server_tools import arguments_of, name_of, result_of
from chat.providers.token_counts import count_tokens, read_count
from chat.providers.tool_calls import complete_call

_REASONS: Final[dict[str, str]] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
}


class ResponsesAnswer(AnswerReader):
    """Reads events; unknown events are passed over, unknown items are kept as they are."""

    def __init__(self) -> None:
        super().__init__()
        self._items = Items()
        # Those with words of their own of which nothing that goes back was told yet.
        self._thoughts: list[Item] = []
        self._reason: str | None = None
        self._refused = False

    @property
    def finished(self) -> bool:
        return self._reason is not None

    def break_off(self) -> list[ProviderEvent]:
        events = self._joiner.close()
        return [*events, self._usage] if self._usage else events

    def finish(self) -> list[ProviderEvent]:
        calls = [
            complete_call(item.call_id, item.name, "".join(item.pieces))
            for item in self._items.all
            if item.call_id
        ]
        reason = self._reason or "other"
        if self._refused:
            reason = "refusal"
        elif calls and reason == "stop":
            reason = "tool-calls"
        usage = [self._usage] if self._usage else []
        return [*self._joiner.close(), *calls, *usage, Finish(reason)]

    def _read_payload(self, payload: str) -> None:
        if payload.startswith("[DONE]"):
            # Not of this wire, but of gateways that end every stream in the same way.
            self.done = True
            return
        event = parse_object(payload)
        kind = event.get("type")
        if kind == "error" or (kind is None and event.get("error")):
            raise BrokenAnswer(error_failure(event if event.get("error") else {"error": event}))
        if event.get("object") == "response":
            self._read_whole(event)
        else:
            self._read_event(event)

    def _read_event(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "response.output_text.delta", "delta": str(piece)}:
                self._add_text(self._items.of_delta(event), piece)
            case {"type": "response.refusal.delta", "delta": str(piece)}:
                self._items.of_delta(event).has_text = True
                self._refused = True
                self._joiner.add_text(piece)
            case {
                "type": "response.reasoning_summary_text.delta" | "response.reasoning_text.delta",
                "delta": str(piece),
            }:
                self._add_thought(event, piece)
            case {
                "type": "response.reasoning_summary_part.added"
                | "response.output_text.annotation.added"
            }:
                self._read_addition(event)
            case {"type": "response.function_call_arguments.delta", "delta": str(piece)}:
                self._add_arguments(self._items.of_delta(event), piece)
            case {"type": "response.output_item.added", "item": dict(item)}:
                self._begin(self._items.of_item(event, item, begins=True), item)
            case {"type": "response.output_item.done", "item": dict(item)}:
                self._end(self._items.of_item(event, item, begins=False), item)
            case {"type": str(kind), "response": dict(response)}:
                self._read_response(kind, response)

    def _read_addition(self, event: dict[str, Any]) -> None:
        item = self._items.of_delta(event)
        if "annotation" in event:
            self._cite(item, event["annotation"])
        elif item.has_text:
            # A summary has several parts, each a paragraph.
            self._joiner.add_reasoning("\n\n")

    def _read_response(self, kind: str, response: dict[str, Any]) -> None:
        """The response as a whole, with which the server begins and ends."""
        if isinstance(usage := response.get("usage"), dict):
            self._usage = _usage_of(usage)
        match kind:
            case "response.completed":
                self._reason = "stop"
            case "response.incomplete":
                details = response.get("incomplete_details")
                why = details.get("reason") if isinstance(details, dict) else ""
                self._reason = _REASONS.get(str(why), "other")
            case "response.failed":
                error = response.get("error") or {"message": "the response failed"}
                raise BrokenAnswer(error_failure({"error": error}))
            case _:
                return
        self.done = True

    def _read_whole(self, response: dict[str, Any]) -> None:
        """A response that was not streamed, as if its items had come one after the other."""
        output = response.get("output")
        for index, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                place = {"output_index": index}
                self._end(self._items.of_item(place, item, begins=True), item)
        status = response.get("status")
        ended = status if status in ("failed", "incomplete") else "completed"
        self._read_response(f"response.{ended}", response)

    # --- items --------------------------------------------------------------------

    def _add_text(self, item: Item, piece: str) -> None:
        begins = item.phase and not item.has_text
        self._joiner.add_text(piece, {PHASE: item.phase} if begins else None)
        item.has_text = item.has_text or bool(piece)
        item.written += len(piece)

    def _add_thought(self, event: dict[str, Any], piece: str) -> None:
        item = self._items.of_delta(event)
        item.has_text = True
        if event["type"] == "response.reasoning_text.delta":
            if not item.pieces:
                self._thoughts.append(item)
            item.pieces.append(piece)
        self._joiner.add_reasoning(piece)

    def _cite(self, item: Item, annotation: Any) -> None:
        if cited := cited_in(annotation, item.written):
            self._joiner.add_event(cited)
        item.cited += 1

    def _begin(self, begun: Item, item: dict[str, Any]) -> None:
        if begun.start:
            return
        self._keep_words()
        begun.start = item
        match item:
            case {"type": "function_call", "call_id": str(call_id), "name": str(name)}:
                begun.call_id, begun.name = clean_text(call_id), clean_text(name)
                self._joiner.add_event(ToolCallStart(begun.call_id, begun.name))
            case {"type": "message", "phase": str(phase)}:
                begun.phase = clean_text(phase)
            case {"id": str(id_)} if name := name_of(item):
                start = ToolCallStart(clean_text(id_), clean_text(name), in_answer=True)
                self._joiner.add_event(start)

    def _end(self, begun: Item, item: dict[str, Any]) -> None:
        if begun.is_done:
            return
        self._begin(begun, item)
        begun.is_done = True
        match begun.type:
            case "message":
                self._end_message(begun, item)
            case "function_call":
                if not begun.pieces and isinstance(arguments := item.get("arguments"), str):
                    self._add_arguments(begun, arguments)
            case "reasoning":
                self._end_thought(begun, item)
            case _:
                self._show(item)
                self._keep(item)

    def _end_thought(self, begun: Item, item: dict[str, Any]) -> None:
        if not begun.has_text:
            self._joiner.add_reasoning(_texts(item, "summary") or _texts(item, "content"))
        # Told after what it led to, it would be a second thought behind it.
        is_late = begun.has_text and begun is not self._items.all[-1]
        if not begun.is_kept and (item.get("encrypted_content") or not is_late):
            self._keep(item)

    def _keep_words(self) -> None:
        """What goes back of thoughts that end only after what they led to: it belongs in front."""
        # What has words and was not begun yet may still become a thought.
        thoughts, self._thoughts = self._thoughts, [t for t in self._thoughts if not t.start]
        for thought in thoughts:
            if thought.type == "reasoning" and not thought.is_done:
                thought.is_kept = True
                words = {"type": "reasoning_text", "text": "".join(thought.pieces)}
                self._keep({**thought.start, "content": [words]})

    def _show(self, item: dict[str, Any]) -> None:
        """What the provider did itself: the item is the call and its result."""
        name, id_ = clean_text(name_of(item)), item.get("id")
        if name and isinstance(id_, str):
            call_id, arguments = clean_text(id_), clean_json(arguments_of(item))
            self._joiner.add_event(ToolCall(call_id, name, arguments, in_answer=True))
            self._joiner.add_event(ToolOutput(call_id, result_of(item)))

    def _end_message(self, begun: Item, item: dict[str, Any]) -> None:
        """What of a message came in no delta: its words, its sources."""
        known, begun_with_text = begun.cited, begun.has_text
        for part in item.get("content") or ():
            match part:
                case {"type": "output_text", "text": str(text)}:
                    if not begun_with_text:
                        self._add_text(begun, text)
                    for annotation in (part.get("annotations") or [])[known:]:
                        self._cite(begun, annotation)
                case {"type": "refusal", "refusal": str(text)} if not begun_with_text:
                    self._refused = True
                    self._joiner.add_text(text)

    def _add_arguments(self, item: Item, piece: str) -> None:
        if item.call_id and piece:
            item.pieces.append(piece)
            self._joiner.add_event(ToolCallDelta(item.call_id, clean_text(piece)))

    def _keep(self, item: dict[str, Any]) -> None:
        """An item that goes back as it came. Of a thought some servers refuse the state, and of all
        items empty fields; the calls of their own they want whole."""
        kept = {name: value for name, value in item.items() if value is not None}
        if item.get("type") == "reasoning":
            kept.pop("status", None)
            if not kept.get("encrypted_content"):
                kept.pop("encrypted_content", None)
        # The empty signature says that nothing more belongs to this thought.
        self._joiner.add_reasoning("", {"signature": "", ITEM: clean_json(kept)})


def _texts(item: dict[str, Any], name: str) -> str:
    parts = item.get(name)
    texts = [part.get("text") for part in parts or () if isinstance(part, dict)]
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _usage_of(usage: dict[str, Any]) -> Usage:
    """The input counts what was cached, and the output counts the thinking."""
    cached = usage.get("input_tokens_details")
    return Usage(
        count_tokens(
            input=read_count(usage, "input_tokens"),
            output=read_count(usage, "output_tokens"),
            reasoning=read_count(usage.get("output_tokens_details"), "reasoning_tokens"),
            cache_read=read_count(cached, "cached_tokens"),
            cache_write=read_count(cached, "cache_write_tokens"),
        )
    )
