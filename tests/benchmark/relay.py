"""The least that streams a model into a tab: what Parley is compared with.

httpx reads lines, every token is one WebSocket message. No database, no log-in, no markdown.
"""

import json
import os
from typing import Any

import httpx

END = "\0"
PROVIDER = os.environ.get("BENCH_PROVIDER", "")


class Relay:
    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"ok\n"})
        elif scope["type"] == "websocket":
            await self._socket(receive, send)

    async def _socket(self, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            command = json.loads(message["text"])
            if command["command"] == "send":
                await self._answer(command["content"], send)

    async def _answer(self, content: str, send: Any) -> None:
        self._client = self._client or httpx.AsyncClient(
            # As many streams as there are readers: its own limit of a hundred would be measured.
            timeout=60, limits=httpx.Limits(max_connections=None)
        )  # fmt: skip
        body = {"stream": True, "messages": [{"role": "user", "content": content}]}
        async with self._client.stream("POST", f"{PROVIDER}/chat/completions", json=body) as said:
            async for line in said.aiter_lines():
                if line.startswith("data: {"):
                    delta = json.loads(line[6:])["choices"][0]["delta"]
                    if delta.get("content"):
                        await send({"type": "websocket.send", "text": delta["content"]})
        await send({"type": "websocket.send", "text": END})


application = Relay()
