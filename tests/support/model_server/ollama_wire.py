"""Ollama's own wire: JSON by lines."""

import json
from collections.abc import Iterator
from typing import Any

from tests.support.model_server.replies import Call, Reply, Tally, Think


class OllamaWire:
    content_type = "application/x-ndjson"

    def __init__(self, body: dict[str, Any]) -> None:
        self._model = body.get("model", "")

    def _line(self, message: dict[str, Any], done: bool = False, **fields: Any) -> bytes:
        head = {"model": self._model, "created_at": "2026-11-16T00:00:00Z"}
        said = {"role": "assistant", "content": ""} | message
        return json.dumps(head | {"message": said, "done": done} | fields).encode() + b"\n"

    def opening(self, reply: Reply) -> Iterator[bytes]:
        yield from ()

    def say(self, token: str) -> bytes:
        return self._line({"content": token})

    def think(self, token: str) -> bytes:
        return self._line({"thinking": token})

    def thought(self, step: Think) -> Iterator[bytes]:
        yield from ()

    def call(self, step: Call) -> Iterator[bytes]:
        function = {"name": step.name, "arguments": step.arguments}
        yield self._line({"tool_calls": [{"function": function}]})

    def closing(self, finish: str | None, usage: Tally | None, done: bool) -> Iterator[bytes]:
        if finish is None:
            return
        counted = usage or Tally(0, 0)
        counts = {"prompt_eval_count": counted.input, "eval_count": counted.output}
        yield self._line({}, True, done_reason=finish or "stop", **counts)
