"""The Anthropic messages wire: named events, blocks by index."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.support.model_server.replies import Call, Reply, Tally, Think
from tests.support.model_server.wires import pieces

_REASONS = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}


class AnthropicWire:
    content_type = "text/event-stream"

    def __init__(self, body: dict[str, Any]) -> None:
        self._model = body.get("model", "")
        self._index = -1
        self._open = ""
        self._called = False

    def _event(self, type_: str, **fields: Any) -> bytes:
        data = json.dumps({"type": type_, **fields})
        return f"event: {type_}\ndata: {data}\n\n".encode()

    def opening(self, reply: Reply) -> Iterator[bytes]:
        tally = reply.usage or Tally(0, 0)
        usage = {
            "input_tokens": tally.input,
            "output_tokens": 1,
            "cache_read_input_tokens": tally.cache_read,
            "cache_creation_input_tokens": tally.cache_write,
        }
        message = {"id": "msg_scripted", "type": "message", "role": "assistant", "content": []}
        more = {"model": self._model, "stop_reason": None, "stop_sequence": None, "usage": usage}
        yield self._event("message_start", message=message | more)
        yield self._event("ping")

    def _within(self, kind: str, block: dict[str, Any], delta: dict[str, Any]) -> bytes:
        """A delta of a block of this kind, which is begun if it is not the open one."""
        before = b"" if self._open == kind else self._begin(kind, block)
        return before + self._event("content_block_delta", index=self._index, delta=delta)

    def _begin(self, kind: str, block: dict[str, Any]) -> bytes:
        before = self._end()
        self._index += 1
        self._open = kind
        return before + self._event("content_block_start", index=self._index, content_block=block)

    def _end(self) -> bytes:
        if not self._open:
            return b""
        self._open = ""
        return self._event("content_block_stop", index=self._index)

    def say(self, token: str) -> bytes:
        delta = {"type": "text_delta", "text": token}
        return self._within("text", {"type": "text", "text": ""}, delta)

    def think(self, token: str) -> bytes:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        return self._within("thinking", block, {"type": "thinking_delta", "thinking": token})

    def thought(self, step: Think) -> Iterator[bytes]:
        delta = {"type": "signature_delta", "signature": step.signature or "signed"}
        yield self._event("content_block_delta", index=self._index, delta=delta) + self._end()

    def call(self, step: Call) -> Iterator[bytes]:
        self._called = True
        id_ = step.id or f"toolu_{uuid4().hex[:12]}"
        yield self._begin("call", {"type": "tool_use", "id": id_, "name": step.name, "input": {}})
        for piece in pieces(step.json, step.pieces) if step.arguments else ():
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield self._event("content_block_delta", index=self._index, delta=delta)
        yield self._end()

    def closing(self, finish: str | None, usage: Tally | None, done: bool) -> Iterator[bytes]:
        yield self._end()
        if finish is not None:
            reason = finish or ("tool_use" if self._called else "end_turn")
            delta = {"stop_reason": _REASONS.get(reason, reason), "stop_sequence": None}
            counted = {"output_tokens": usage.output + usage.reasoning} if usage else {}
            yield self._event("message_delta", delta=delta, usage=counted)
        if done:
            yield self._event("message_stop")
