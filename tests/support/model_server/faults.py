"""Every fault a provider can have, by name: `provider.script(fault("reset mid chunk"))`.

Those of the connection suit every wire; those of the content are in the OpenAI chat wire.
"""

import gzip
import json
import time
from collections.abc import Callable
from email.utils import formatdate
from itertools import repeat
from typing import Any

from tests.support.model_server.replies import Call, Drop, Raw, Reply, Say, Wait, raw, refuse, reply

PING = b": ping\n\n"
DONE = b"data: [DONE]\n\n"
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}


def fault(name: str) -> Reply:
    return FAULTS[name]()


def chunk(content: Any = None, **fields: Any) -> dict[str, Any]:
    delta = {"content": content} | fields
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def sse(*chunks: Any, end: bytes = DONE) -> bytes:
    said = (one if isinstance(one, str) else json.dumps(one) for one in chunks)
    return b"".join(f"data: {one}\n\n".encode() for one in said) + end


def told(code: object, message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, **more}}


def _stream(*chunks: Any, **options: Any) -> Reply:
    return raw(sse(*chunks), **options)


def _dialect(change: Callable[[bytes], bytes], **options: Any) -> Reply:
    return raw(change(sse(chunk("Half "), chunk("中文🎉"), STOP)), **options)


def _call(arguments: str, **options: Any) -> Reply:
    return reply(Call("calculator", arguments, id="call_a", **options))


def _gzip(data: bytes) -> Reply:
    return raw(gzip.compress(data), headers={"content-encoding": "gzip"})


NESTED = '{"a":' * 20_000 + "1" + "}" * 20_000
SPLIT = '{"expression": "\\ud83c\\udf89 \\" \\\\ 1+1"}'

HALF = Say("Half an answer")

FAULTS: dict[str, Callable[[], Reply]] = {
    # before an answer
    "silence after accept": lambda: Reply(before=(Wait(),)),
    "close after accept": lambda: Reply(before=(Drop(),)),
    "reset after accept": lambda: Reply(before=(Drop("reset"),)),
    "not http": lambda: Reply(before=(Raw(b"220 smtp ready\r\n\r\n", framed=False), Drop())),
    "401": lambda: refuse(401, told("invalid_api_key", "Incorrect API key provided")),
    "403": lambda: refuse(403, told(None, "Country not supported")),
    "404 model": lambda: refuse(404, told("model_not_found", "The model `x` does not exist")),
    "404 page": lambda: refuse(404, b"<html>Not Found</html>"),
    "400": lambda: refuse(400, told(None, "Unknown parameter")),
    "400 context": lambda: refuse(
        400, told("context_length_exceeded", "maximum context length is 8")
    ),
    "400 filtered": lambda: refuse(400, told("content_filter", "The response was filtered")),
    "413": lambda: refuse(413, b"Payload Too Large"),
    "429 seconds": lambda: refuse(429, told("429", "Slow down"), retry_after="7"),
    "429 date": lambda: refuse(429, b"", retry_after=formatdate(time.time() + 60, usegmt=True)),
    "429 spend limit": lambda: refuse(429, told("enforced_spend_limit_reached", "Spend limit")),
    "429 quota": lambda: refuse(429, told("insufficient_quota", "You exceeded your quota")),
    "500": lambda: refuse(500, told(500, "Internal error")),
    "502 html": lambda: refuse(502, b"<html><body>Bad Gateway</body></html>"),
    "503": lambda: refuse(503, "Service Unavailable"),
    "529": lambda: refuse(529, told(None, "Overloaded", type="overloaded_error")),
    "redirect": lambda: refuse(302, b"", location="http://127.0.0.1:9/v1/chat/completions"),
    "web page": lambda: Reply(body=b"<html>Login</html>", headers={"content-type": "text/html"}),
    "empty body": lambda: raw(b""),
    "no content": lambda: refuse(204),
    # inside a stream
    "error first": lambda: _stream(told(529, "Overloaded")),
    "error as text": lambda: _stream({"error": "it broke"}),
    "error later": lambda: _stream(*repeat(chunk("Half "), 49), told(None, "upstream died")),
    "stall": lambda: reply(HALF, Wait()),
    "stall before the first word": lambda: reply(Wait()),
    "slow with pings": lambda: reply(HALF, Wait(0.6, PING), Say(" and the rest")),
    "close early": lambda: reply(HALF, Drop()),
    "close without an end": lambda: reply(HALF, finish=None, done=False),
    "close without done": lambda: reply(HALF, done=False),
    "length too long": lambda: reply(
        HALF, framing="length", headers={"content-length": "99999"}, finish=None, done=False
    ),
    "reset mid chunk": lambda: reply(HALF, Raw(b"fff\r\ndata: {", framed=False), Drop("reset")),
    "endless": lambda: reply(Say(repeat("word " * 200))),
    # how a stream is written
    "one byte at a time": lambda: _dialect(lambda data: data, cut=1),
    "cut inside characters": lambda: _dialect(lambda data: data, cut=(7, 3, 2)),
    "CRLF": lambda: _dialect(lambda data: data.replace(b"\n", b"\r\n"), cut=(5, 1)),
    "CR": lambda: _dialect(lambda data: data.replace(b"\n", b"\r")),
    "no space": lambda: _dialect(lambda data: data.replace(b"data: ", b"data:")),
    "several lines": lambda: _dialect(lambda data: data.replace(b', "', b',\ndata: "')),
    "BOM": lambda: _dialect(lambda data: b"\xef\xbb\xbf" + data, cut=1),
    "comments": lambda: _dialect(lambda data: data.replace(b"data: {", PING + b":x\ndata: {")),
    "gzip": lambda: _gzip(sse(chunk("Half "), chunk("中文🎉"), STOP)),
    "gzip bomb": lambda: _gzip(b"data: " + b" " * 80_000_000),
    "broken gzip": lambda: raw(b"not gzip", headers={"content-encoding": "gzip"}),
    "unknown encoding": lambda: raw(b"x", headers={"content-encoding": "zstd"}),
    "5 MB event": lambda: _stream(chunk("x" * 5_000_000), STOP),
    "9 MB event": lambda: _stream(chunk("x" * 9_000_000), STOP),
    # what a stream says
    "garbage": lambda: _stream(chunk("Half "), "{not json", STOP),
    "chunk is a list": lambda: _stream(chunk("Half "), [1, 2], STOP),
    "choices are a text": lambda: _stream(chunk("Half "), {"choices": "no"}, STOP),
    "content is a number": lambda: _stream(chunk("Half "), chunk(42), STOP),
    "too deep": lambda: _stream(chunk("Half "), NESTED, STOP),
    "null deltas": lambda: _stream(
        chunk(None), {"choices": [{"delta": None}]}, chunk("Half "), STOP
    ),
    "no usage": lambda: reply(HALF, usage=None),
    "unknown reason": lambda: reply(HALF, finish="because"),
    "NUL": lambda: _stream(chunk("Ha\x00lf "), STOP),
    "lone surrogate": lambda: _stream(chunk("Half \ud83d"), chunk("!"), STOP),
    "bidi and zero width": lambda: _stream(chunk("Half \u202e\u200b"), STOP),
    # what is called
    "arguments split mid escape": lambda: _call(SPLIT, pieces=len(SPLIT)),
    "arguments not json": lambda: _call('{"expression": '),
    "arguments of 2 MB": lambda: _call(json.dumps({"x": "y" * 2_000_000}), pieces=100),
    "arguments too deep": lambda: _call(NESTED),
    "200 calls": lambda: reply(*(Call("calculator", {"n": n}) for n in range(200))),
    "same index": lambda: _stream(
        *(
            chunk(
                tool_calls=[{"index": 0, "id": id_, "function": {"name": "f", "arguments": "{}"}}]
            )
            for id_ in ("a", "b")
        ),
        STOP,
    ),
    "unknown tool": lambda: reply(Call("no_such_tool", {}, id="call_a")),
}
