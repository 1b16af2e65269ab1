"""The OpenAI chat wire: `data:` lines of chunks, then `[DONE]`."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from uuid import uuid4

from tests.support.model_server.replies import Call, Reply, Tally, Think
from tests.support.model_server.wires import now, pieces


@lru_cache(maxsize=4096)
def _quoted(token: str) -> bytes:
    return json.dumps(token).encode()


class OpenAIWire:
    content_type = "text/event-stream"

    def __init__(self, body: dict[str, Any]) -> None:
        self._calls = 0
        options = body.get("stream_options") or {}
        self._wants_usage = bool(options.get("include_usage"))
        head = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": now(),
            "model": body.get("model", ""),
        }
        # Prepared once, so that a token costs no more than joining four byte strings.
        self._head = b"data: " + json.dumps(head).encode()[:-1] + b', "choices": '
        self._say = self._head + b'[{"index": 0, "delta": {"content": '
        self._think = self._head + b'[{"index": 0, "delta": {"reasoning_content": '
        self._tail = b'}, "finish_reason": null}]}\n\n'

    def _chunk(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        rest = "".join(f", {json.dumps(key)}: {json.dumps(value)}" for key, value in more.items())
        return self._head + json.dumps(choices).encode() + rest.encode() + b"}\n\n"

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return self._chunk([{"index": 0, "delta": delta, "finish_reason": finish}])

    def opening(self, reply: Reply) -> Iterator[bytes]:
        yield self._delta({"role": "assistant", "content": ""})

    def say(self, token: str) -> bytes:
        return self._say + _quoted(token) + self._tail

    def think(self, token: str) -> bytes:
        return self._think + _quoted(token) + self._tail

    def thought(self, step: Think) -> Iterator[bytes]:
        yield from ()

    def call(self, step: Call) -> Iterator[bytes]:
        index, self._calls = self._calls, self._calls + 1
        function = {"name": step.name, "arguments": ""}
        start = {
            "index": index,
            "id": step.id or f"call_{uuid4().hex[:12]}",
            "type": "function",
            "function": function,
        }
        yield self._delta({"tool_calls": [start]})
        for piece in pieces(step.json, step.pieces):
            yield self._delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def closing(self, finish: str | None, usage: Tally | None, done: bool) -> Iterator[bytes]:
        if finish is not None:
            yield self._delta({}, finish or ("tool_calls" if self._calls else "stop"))
        if usage is not None and self._wants_usage:
            yield self._chunk([], usage=usage_json(usage))
        if done:
            yield b"data: [DONE]\n\n"


def usage_json(usage: Tally) -> dict[str, Any]:
    """OpenAI counts what was cached in the prompt, and the thinking in the completion."""
    prompt = usage.input + usage.cache_read + usage.cache_write
    completion = usage.output + usage.reasoning
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
