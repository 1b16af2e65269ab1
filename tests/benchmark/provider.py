"""A model provider on loopback: says what the request asks for, and remembers when it did. As those
of the world do, it keeps a connection for the next request.

`python -m tests.benchmark.provider` prints its port. The last user message is a plan in JSON.
Everything a stream will say is made before its first token, so that two hundred of them leave
the machine to the server that is measured.
"""

import asyncio
import json
import time
from dataclasses import dataclass, field
from functools import lru_cache

from tests.benchmark.plan import Plan

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
# Tokens that are written at once when nobody waits between them.
BATCH = 80


@dataclass(slots=True)
class Written:
    """When a stream was asked for, and when each of its events was written."""

    asked: float
    at: list[float] = field(default_factory=list)


class Provider:
    def __init__(self) -> None:
        self.streams: dict[str, Written] = {}

    def take(self, names: list[str]) -> dict[str, tuple[float, list[float]]]:
        found = {name: self.streams.pop(name) for name in names if name in self.streams}
        return {name: (written.asked, written.at) for name, written in found.items()}


class Connection(asyncio.Protocol):
    """One request after the other, and their answers."""

    transport: asyncio.Transport

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._loop = asyncio.get_running_loop()
        self._asked = 0.0
        self._received = b""
        self._events: list[bytes] = []
        self._written = Written(0.0)
        self._is_full = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._asked = self._asked or time.monotonic()
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if found and len(body) >= _length(head):
            self._answer(head, json.loads(body))

    def _answer(self, head: bytes, body: object) -> None:
        if head.startswith(b"POST /log "):
            assert isinstance(body, list)
            log = json.dumps(self._provider.take(body)).encode()
            answer = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b"
            self.transport.write(answer % (len(log), log))
            self.transport.close()
            return
        assert isinstance(body, dict)
        self._received = b""
        plan = Plan.of_request(body)
        self._written = Written(self._asked)
        self._asked = 0.0
        self._provider.streams[plan.name] = self._written
        if plan.ms:
            self._events = _events(plan.shape, plan.count, plan.burst)
            self._say(0, plan.ms / 1000, self._loop.time())
        else:
            self._events = _batches(plan.shape, plan.count)
            self._flood()

    def _say(self, at: int, gap: float, due: float) -> None:
        """Each write is one TCP segment of its own; who is late catches up."""
        if self.transport.is_closing():
            return
        if at == len(self._events) - 1:
            self.transport.write(self._events[-1])
            return
        self._written.at.append(time.monotonic())
        self.transport.write(self._events[at])
        self._loop.call_at(due + gap, self._say, at + 1, gap, due + gap)

    def _flood(self) -> None:
        """As fast as the other end reads, and one batch at a time, for others flood as well."""
        if self.transport.is_closing() or not self._events:
            return
        at = len(self._written.at)
        if at == len(self._events) - 1:
            last, self._events = self._events[-1], []
            self.transport.write(last)
            return
        self._written.at.append(time.monotonic())
        self.transport.write(self._events[at])
        if not self._is_full:
            self._loop.call_soon(self._flood)

    def pause_writing(self) -> None:
        self._is_full = True

    def resume_writing(self) -> None:
        self._is_full = False
        self._loop.call_soon(self._flood)


@lru_cache(maxsize=32)
def _events(shape: str, count: int, burst: int) -> list[bytes]:
    """What is written, one after the other; the last is the end.

    Head, role and first token leave together: the first byte is the first token's.
    """
    said = Plan("", shape, count, ms=0).tokens()
    texts = ["".join(said[at : at + burst]) for at in range(0, count, burst)]
    opening = HEAD + _chunk(_event({"role": "assistant", "content": ""}))
    first, *others = (_chunk(_event({"content": text})) for text in texts)
    last = _chunk(_event({}, "stop")) + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    return [opening + first, *others, last]


@lru_cache(maxsize=32)
def _batches(shape: str, count: int) -> list[bytes]:
    *events, last = _events(shape, count, 1)
    return [*(b"".join(events[at : at + BATCH]) for at in range(0, count, BATCH)), last]


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    chunk = {
        "id": "chatcmpl-bench",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "bench",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


async def main() -> None:
    loop = asyncio.get_running_loop()
    provider = Provider()
    server = await loop.create_server(lambda: Connection(provider), "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
