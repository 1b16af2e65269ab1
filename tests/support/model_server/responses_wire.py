"""The Responses wire: named events, items by their place in the output, no `[DONE]`."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from tests.support.model_server.replies import Call, Reply, Tally, Think
from tests.support.model_server.wires import now, pieces

_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


class ResponsesWire:
    content_type = "text/event-stream"

    def __init__(self, body: dict[str, Any]) -> None:
        self._head = {
            "id": "resp_scripted",
            "object": "response",
            "created_at": now(),
            "model": body.get("model", ""),
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
        }
        self._number = 0
        self._index = -1
        self._open: dict[str, Any] | None = None
        self._text = ""
        self._output: list[dict[str, Any]] = []

    def _event(self, type_: str, **fields: Any) -> bytes:
        data = {"type": type_, "sequence_number": self._number, **fields}
        self._number += 1
        return f"event: {type_}\ndata: {json.dumps(data)}\n\n".encode()

    def _response(self, status: str, **more: Any) -> dict[str, Any]:
        return {**self._head, "status": status, "output": self._output, **more}

    def opening(self, reply: Reply) -> Iterator[bytes]:
        for kind in ("created", "in_progress"):
            yield self._event(f"response.{kind}", response=self._response("in_progress"))

    def _begin(self, item: dict[str, Any]) -> bytes:
        before = self._end()
        self._index += 1
        self._open, self._text = item, ""
        added = self._event("response.output_item.added", output_index=self._index, item=item)
        return before + added + self._begin_part(item)

    def _begin_part(self, item: dict[str, Any]) -> bytes:
        place = {"item_id": item["id"], "output_index": self._index}
        match item["type"]:
            case "message":
                part = {"type": "output_text", "text": "", "annotations": []}
                return self._event(
                    "response.content_part.added", **place, content_index=0, part=part
                )
            case "reasoning":
                part = {"type": "summary_text", "text": ""}
                kind = "response.reasoning_summary_part.added"
                return self._event(kind, **place, summary_index=0, part=part)
            case _:
                return b""

    def _end(self) -> bytes:
        if self._open is None:
            return b""
        item, self._open = self._open, None
        match item["type"]:
            case "message":
                text = {"type": "output_text", "text": self._text, "annotations": []}
                item |= {"status": "completed", "content": [text]}
            case "reasoning":
                item["summary"] = [{"type": "summary_text", "text": self._text}]
            case "function_call":
                item |= {"status": "completed", "arguments": self._text}
        self._output.append(item)
        return self._event("response.output_item.done", output_index=self._index, item=item)

    def _within(self, kind: str, item: dict[str, Any], delta: str, **fields: Any) -> bytes:
        """A delta of an item of this type, which is begun if it is not the open one."""
        before = b""
        if self._open is None or self._open["type"] != item["type"]:
            before = self._begin({"id": f"{item['type'][:2]}_{uuid4().hex[:8]}", **item})
        assert self._open is not None
        self._text += delta
        place = {"item_id": self._open["id"], "output_index": self._index, **fields}
        return before + self._event(kind, **place, delta=delta)

    def say(self, token: str) -> bytes:
        item = {"type": "message", "role": "assistant", "status": "in_progress", "content": []}
        return self._within("response.output_text.delta", item, token, content_index=0, logprobs=[])

    def think(self, token: str) -> bytes:
        item: dict[str, Any] = {"type": "reasoning", "summary": []}
        kind = "response.reasoning_summary_text.delta"
        return self._within(kind, item, token, summary_index=0)

    def thought(self, step: Think) -> Iterator[bytes]:
        assert self._open is not None
        self._open["encrypted_content"] = step.signature or "encrypted"
        yield self._end()

    def call(self, step: Call) -> Iterator[bytes]:
        item = {
            "id": f"fc_{uuid4().hex[:8]}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": step.id or f"call_{uuid4().hex[:12]}",
            "name": step.name,
            "arguments": "",
        }
        yield self._begin(item)
        for piece in pieces(step.json, step.pieces):
            self._text += piece
            kind = "response.function_call_arguments.delta"
            yield self._event(kind, item_id=item["id"], output_index=self._index, delta=piece)
        yield self._end()

    def closing(self, finish: str | None, usage: Tally | None, done: bool) -> Iterator[bytes]:
        yield self._end()
        if finish is None:
            return
        counted = {"usage": usage_json(usage)} if usage else {}
        if why := _INCOMPLETE.get(finish):
            response = self._response("incomplete", incomplete_details={"reason": why}, **counted)
            yield self._event("response.incomplete", response=response)
        else:
            yield self._event("response.completed", response=self._response("completed", **counted))


def usage_json(usage: Tally) -> dict[str, Any]:
    """What was cached is in the input, and the thinking in the output."""
    given = usage.input + usage.cache_read + usage.cache_write
    made = usage.output + usage.reasoning
    return {
        "input_tokens": given,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": given + made,
    }
