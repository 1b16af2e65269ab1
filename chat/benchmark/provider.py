"""A model provider on loopback: says what the request asks for, and remembers when it did.

`python -m chat.benchmark.provider` prints its port. The last user message is a plan in JSON.
"""

import asyncio
import json
import time
from collections.abc import Iterator

from chat.benchmark.plan import Plan

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
    b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n"
)
BATCH = 16_384


class Log:
    """When each token of a stream was written, and how many characters were out by then."""

    def __init__(self) -> None:
        self.streams: dict[str, list[tuple[float, int]]] = {}

    def take(self, names: list[str]) -> dict[str, list[tuple[float, int]]]:
        return {name: self.streams.pop(name, []) for name in names}


class Provider:
    def __init__(self) -> None:
        self.log = Log()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            path, body = await _request(reader)
            if path == "/log":
                _answer(writer, json.dumps(self.log.take(json.loads(body))).encode())
            else:
                await self._stream(Plan.of_request(json.loads(body)), writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the other end has left, which is its right
        finally:
            writer.close()

    async def _stream(self, plan: Plan, writer: asyncio.StreamWriter) -> None:
        said = plan.tokens()
        log = self.log.streams.setdefault(plan.name, [])
        # Head, role and first token leave together: the first byte is the first token's.
        opening = HEAD + _chunk(_event({"role": "assistant", "content": ""}))
        if plan.ms:
            await _paced(plan, said, opening, log, writer)
        else:
            await _flat_out(said, opening, log, writer)
        last = _chunk(_event({}, "stop")) + _chunk(b"data: [DONE]\n\n")
        writer.write(last + b"0\r\n\r\n")


async def _paced(
    plan: Plan,
    said: list[str],
    opening: bytes,
    log: list[tuple[float, int]],
    writer: asyncio.StreamWriter,
) -> None:
    """Each write is one TCP segment of its own; who is late catches up."""
    loop = asyncio.get_running_loop()
    due, out = loop.time(), 0
    for at in range(0, len(said), plan.burst):
        tokens = said[at : at + plan.burst]
        for token in tokens:
            out += len(token)
            log.append((time.monotonic(), out))
        writer.write(opening + _chunk(_event({"content": "".join(tokens)})))
        opening = b""
        due += plan.ms / 1000
        await asyncio.sleep(max(0.0, due - loop.time()))


async def _flat_out(
    said: list[str], opening: bytes, log: list[tuple[float, int]], writer: asyncio.StreamWriter
) -> None:
    """As fast as the other end reads."""
    out = 0
    for batch in _batches(said):
        now = time.monotonic()
        for token in batch:
            out += len(token)
            log.append((now, out))
        writer.write(opening + b"".join(_chunk(_event({"content": token})) for token in batch))
        opening = b""
        await writer.drain()


def _batches(said: list[str]) -> Iterator[list[str]]:
    size = BATCH // 200
    for at in range(0, len(said), size):
        yield said[at : at + size]


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


async def _request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return first.split(" ")[1], body


def _answer(writer: asyncio.StreamWriter, body: bytes) -> None:
    head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    writer.write(head.encode() + body)


async def main() -> None:
    server = await asyncio.start_server(Provider().serve, "127.0.0.1", 0, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
