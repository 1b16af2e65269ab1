"""Chunks of the OpenAI chat wire, written by hand, and somebody who asks for them."""

import json
from typing import Any

from chat.providers.http import Http
from chat.providers.openai import OpenAIChat
from chat.providers.openai.quirks import Quirks
from tests.providers.asking import Answer, ask
from tests.support.model_server import Reply, ScriptedProvider, raw

USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
STOP = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
DONE = b"data: [DONE]\n\n"


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {"name": fields.pop("name", None), "arguments": arguments}
    return fields | {
        "function": {key: value for key, value in function.items() if value is not None}
    }


def stream(*chunks: Any, done: bool = True) -> Reply:
    body = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)
    return raw(body + (DONE if done else b""))


class Asks:
    """Plays one reply and asks for it."""

    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http

    async def __call__(self, scripted: Reply, **quirks: Any) -> Answer:
        self.server.script(scripted)
        provider = OpenAIChat(self.server.base_url, quirks=Quirks(**quirks), http=self.http)
        return await ask(provider)
