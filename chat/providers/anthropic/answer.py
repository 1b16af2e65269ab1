"""An answer on the Anthropic messages wire: blocks by index, each with its own deltas."""

import json
from dataclasses import dataclass, field
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
from chat.providers.answer_reader import AnswerReader, BrokenAnswer, parse_object
from chat.providers.anthropic.citations import citation_of
from chat.providers.anthropic.server_tools import is_result, result_of
from chat.providers.faults import error_failure
from chat.providers.json_fields import text_in
from chat.providers.token_counts import count_tokens, read_count
from chat.providers.tool_calls import complete_call

_REASONS: Final[dict[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "pause_turn": "pause",
    "refusal": "refusal",
}


@dataclass(slots=True)
class _Block:
    start: dict[str, Any]
    pieces: list[str] = field(default_factory=list)
    # Of a text: how long it is, and the sources that are named for it.
    length: int = 0
    citations: list[Any] = field(default_factory=list)

    @property
    def type(self) -> object:
        return self.start.get("type")


class AnthropicAnswer(AnswerReader):
    """Reads events; unknown events are passed over, unknown blocks are kept as they are."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, _Block] = {}
        self._counts: dict[str, Any] = {}
        self._reason: str | None = None
        # Why the model refused to go on.
        self._details: dict[str, Any] = {}

    @property
    def finished(self) -> bool:
        return self._reason is not None

    def break_off(self) -> list[ProviderEvent]:
        events = self._joiner.close()
        return [*events, self._usage] if self._usage else events

    def finish(self) -> list[ProviderEvent]:
        calls = [
            complete_call(block.start["id"], block.start["name"], "".join(block.pieces))
            for _, block in sorted(self._blocks.items())
            if block.type == "tool_use"
        ]
        reason = _REASONS.get(self._reason or "", "other")
        if calls and reason in ("stop", "other"):
            reason = "tool-calls"
        usage = [self._usage] if self._usage else []
        refusal = (text_in(self._details, "category"), text_in(self._details, "explanation"))
        return [*self._joiner.close(), *calls, *usage, Finish(reason, *refusal)]

    def _read_payload(self, payload: str) -> None:
        event = parse_object(payload)
        if event.get("type") == "error" or event.get("error"):
            raise BrokenAnswer(error_failure(event))
        self._read_event(event)

    def _read_event(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                self._read_delta(index, delta)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._start_block(index, block)
            case {"type": "content_block_stop", "index": int(index)}:
                self._end_block(index)
            case {"type": "message_start", "message": dict(message)}:
                self._add_usage(message.get("usage"))
            case {"type": "message_delta", "delta": dict(delta)}:
                self._read_stop(delta)
                self._add_usage(event.get("usage"))
            case {"type": "message_stop"}:
                self.done = True
            case {"type": "message", "content": list(blocks)}:
                self._read_message(event, blocks)

    def _read_message(self, message: dict[str, Any], blocks: list[Any]) -> None:
        """A message that was not streamed, as if its blocks had come one after the other."""
        for index, block in enumerate(blocks):
            if isinstance(block, dict):
                self._start_block(index, block)
                self._end_block(index)
        self._add_usage(message.get("usage"))
        self._read_stop(message)

    def _read_stop(self, message: dict[str, Any]) -> None:
        if reason := message.get("stop_reason"):
            self._reason = str(reason)
        if isinstance(details := message.get("stop_details"), dict):
            self._details = details

    def _start_block(self, index: int, block: dict[str, Any]) -> None:
        kept = _Block(block)
        self._blocks[index] = kept
        match block:
            case {"type": "text"}:
                kept.citations = list(block.get("citations") or ())
                self._add_text(index, text_in(block, "text"))
            case {"type": "thinking"}:
                self._joiner.add_reasoning(text_in(block, "thinking"))
                self._add_signature(text_in(block, "signature"))
            case {"type": "tool_use", "id": str(id_), "name": str(name)}:
                kept.start = {"type": "tool_use", "id": clean_text(id_), "name": clean_text(name)}
                self._joiner.add_event(ToolCallStart(kept.start["id"], kept.start["name"]))
                if block.get("input"):
                    kept.pieces.append(json.dumps(block["input"], ensure_ascii=False))
            case {"type": "server_tool_use", "id": str(id_), "name": str(name)}:
                start = ToolCallStart(clean_text(id_), clean_text(name), in_answer=True)
                self._joiner.add_event(start)
            case {"type": "tool_use"}:
                kept.start = {"type": "unnamed call"}

    def _read_delta(self, index: int, delta: dict[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._add_text(index, text_in(delta, "text"))
            case "citations_delta" if index in self._blocks:
                self._blocks[index].citations.append(delta.get("citation"))
            case "thinking_delta":
                self._joiner.add_reasoning(text_in(delta, "thinking"))
            case "signature_delta":
                self._add_signature(text_in(delta, "signature"))
            case "input_json_delta" if index in self._blocks:
                self._add_arguments(self._blocks[index], text_in(delta, "partial_json"))

    def _add_text(self, index: int, piece: str) -> None:
        self._joiner.add_text(piece)
        if index in self._blocks:
            self._blocks[index].length += len(piece)

    def _cite(self, block: _Block) -> None:
        """The sources of a text, told at its end: they come before or after its words."""
        for citation in block.citations:
            if isinstance(citation, dict):
                self._joiner.add_event(citation_of(citation, block.length))

    def _add_arguments(self, block: _Block, piece: str) -> None:
        if piece:
            block.pieces.append(piece)
            if block.type == "tool_use":
                self._joiner.add_event(ToolCallDelta(block.start["id"], clean_text(piece)))

    def _add_signature(self, signature: str) -> None:
        # llama.cpp sends empty signatures after the text has begun: they mean nothing.
        if signature:
            self._joiner.add_reasoning("", {"signature": signature})

    def _end_block(self, index: int) -> None:
        """A block that is none of ours is kept as it is, to be sent back unchanged; what the
        provider does itself is shown besides."""
        block = self._blocks.get(index)
        if block is not None and block.type == "text":
            self._cite(block)
        if block is None or block.type in ("text", "thinking", "tool_use", "unnamed call"):
            return
        kept = dict(block.start)
        if block.pieces:
            kept["input"] = complete_call("", "", "".join(block.pieces)).arguments
        self._show(kept)
        # The empty signature says that nothing more belongs to this reasoning.
        self._joiner.add_reasoning("", {"signature": "", "block": clean_json(kept)})

    def _show(self, block: dict[str, Any]) -> None:
        match block:
            case {"type": "server_tool_use", "id": str(id_), "name": str(name)}:
                arguments = block.get("input")
                called = clean_json(arguments) if isinstance(arguments, dict) else {}
                call = ToolCall(clean_text(id_), clean_text(name), called, in_answer=True)
                self._joiner.add_event(call)
            case {"tool_use_id": str(id_)} if is_result(block):
                self._joiner.add_event(ToolOutput(clean_text(id_), result_of(block)))

    def _add_usage(self, usage: object) -> None:
        """Usage is cumulative: what comes later replaces what came before."""
        if not isinstance(usage, dict):
            return
        self._counts |= {name: value for name, value in usage.items() if value is not None}
        if self._counts:
            self._usage = _usage_of(self._counts)


def _usage_of(counts: dict[str, Any]) -> Usage:
    """The output counts the thinking, which newer servers also count by itself."""
    tokens = count_tokens(
        input=read_count(counts, "input_tokens"),
        output=read_count(counts, "output_tokens"),
        reasoning=read_count(counts.get("output_tokens_details"), "thinking_tokens"),
        cache_read=read_count(counts, "cache_read_input_tokens"),
        cache_write=read_count(counts, "cache_creation_input_tokens"),
        input_has_cache=False,
    )
    return Usage(tokens)
