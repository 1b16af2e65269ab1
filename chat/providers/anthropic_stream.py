"""An answer on the Anthropic messages wire: blocks by index, each with its own deltas."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from chat.protocol.errors import ProviderError
from chat.protocol.interfaces import (
    Finish,
    ProviderEvent,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from chat.protocol.parts import CacheTokens, Tokens
from chat.protocol.text import clean_json, clean_text
from chat.providers.deltas import DeltaJoiner
from chat.providers.faults import failure, told_failure
from chat.providers.openai_usage import count
from chat.providers.tool_calls import whole_call

_REASONS: Final[dict[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "pause_turn": "pause",
    "refusal": "content-filter",
}


@dataclass(slots=True)
class _Block:
    start: dict[str, Any]
    pieces: list[str] = field(default_factory=list)

    @property
    def type(self) -> object:
        return self.start.get("type")


class AnthropicAnswer:
    """Reads events; unknown events are passed over, unknown blocks are kept as they are."""

    def __init__(self) -> None:
        self.done = False
        self.error: ProviderError | None = None
        self._out = DeltaJoiner()
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._reason: str | None = None

    @property
    def finished(self) -> bool:
        return self._reason is not None

    def feed(self, payloads: list[str]) -> list[ProviderEvent]:
        """The events of these payloads, joined; a broken one sets `error`."""
        for payload in payloads:
            try:
                event = json.loads(payload)
            except (ValueError, RecursionError):
                self.error = failure("bad_response", "an event is not JSON")
                break
            if not isinstance(event, dict):
                self.error = failure("bad_response", "an event is not an object")
                break
            if event.get("type") == "error" or event.get("error"):
                self.error = told_failure(event)
                break
            self._event(event)
        return self._out.take()

    def tail(self) -> list[ProviderEvent]:
        events = self._out.close()
        return [*events, self._tokens()] if self._usage else events

    def finish(self) -> list[ProviderEvent]:
        """The end of a whole answer: its calls in the order of their blocks, then the reason."""
        calls = [
            whole_call(block.start["id"], block.start["name"], "".join(block.pieces))
            for _, block in sorted(self._blocks.items())
            if block.type == "tool_use"
        ]
        reason = _REASONS.get(self._reason or "", "other")
        if calls and reason in ("stop", "other"):
            reason = "tool-calls"
        usage = [self._tokens()] if self._usage else []
        return [*self._out.close(), *calls, *usage, Finish(reason)]

    def _event(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                self._delta(index, delta)
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                self._start(index, block)
            case {"type": "content_block_stop", "index": int(index)}:
                self._stop(index)
            case {"type": "message_start", "message": dict(message)}:
                self._count(message.get("usage"))
            case {"type": "message_delta", "delta": dict(delta)}:
                self._reason = _said_reason(delta) or self._reason
                self._count(event.get("usage"))
            case {"type": "message_stop"}:
                self.done = True
            case {"type": "message", "content": list(blocks)}:
                self._whole(event, blocks)

    def _whole(self, message: dict[str, Any], blocks: list[Any]) -> None:
        """A whole message instead of a stream."""
        for index, block in enumerate(blocks):
            if isinstance(block, dict):
                self._start(index, block)
                self._stop(index)
        self._count(message.get("usage"))
        self._reason = _said_reason(message)

    def _start(self, index: int, block: dict[str, Any]) -> None:
        kept = _Block(block)
        self._blocks[index] = kept
        match block:
            case {"type": "text"}:
                self._out.text(_text(block, "text"))
            case {"type": "thinking"}:
                self._out.thought(_text(block, "thinking"))
                self._sign(_text(block, "signature"))
            case {"type": "tool_use", "id": str(id_), "name": str(name)}:
                kept.start = {"type": "tool_use", "id": clean_text(id_), "name": clean_text(name)}
                self._out.event(ToolCallStart(kept.start["id"], kept.start["name"]))
                if block.get("input"):
                    kept.pieces.append(json.dumps(block["input"], ensure_ascii=False))
            case {"type": "tool_use"}:
                kept.start = {"type": "unnamed call"}

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        match delta.get("type"):
            case "text_delta":
                self._out.text(_text(delta, "text"))
            case "thinking_delta":
                self._out.thought(_text(delta, "thinking"))
            case "signature_delta":
                self._sign(_text(delta, "signature"))
            case "input_json_delta" if index in self._blocks:
                self._arguments(self._blocks[index], _text(delta, "partial_json"))

    def _arguments(self, block: _Block, piece: str) -> None:
        if piece:
            block.pieces.append(piece)
            if block.type == "tool_use":
                self._out.event(ToolCallDelta(block.start["id"], clean_text(piece)))

    def _sign(self, signature: str) -> None:
        # llama.cpp signs with nothing, and after the text has begun: not worth a thought.
        if signature:
            self._out.thought("", {"signature": signature})

    def _stop(self, index: int) -> None:
        """A block of a kind we do not draw is kept whole, to be sent back unchanged."""
        block = self._blocks.get(index)
        if block is None or block.type in ("text", "thinking", "tool_use", "unnamed call"):
            return
        kept = dict(block.start)
        if block.pieces:
            kept["input"] = whole_call("", "", "".join(block.pieces)).arguments
        # The empty signature says that no more belongs to this thought.
        self._out.thought("", {"signature": "", "block": clean_json(kept)})

    def _count(self, usage: object) -> None:
        """Usage is cumulative: what comes later replaces what came before."""
        if isinstance(usage, dict):
            self._usage |= {name: value for name, value in usage.items() if value is not None}

    def _tokens(self) -> Usage:
        # Input does not hold the cached tokens on this wire, and thinking is output.
        cache = CacheTokens(
            read=count(self._usage, "cache_read_input_tokens"),
            write=count(self._usage, "cache_creation_input_tokens"),
        )
        tokens = Tokens(
            input=count(self._usage, "input_tokens"),
            output=count(self._usage, "output_tokens"),
            cache=cache,
        )
        return Usage(tokens)


def _said_reason(found: dict[str, Any]) -> str | None:
    reason = found.get("stop_reason")
    return str(reason) if reason else None


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
