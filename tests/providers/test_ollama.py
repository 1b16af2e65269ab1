"""Ollama's own wire, over a real connection."""

import json
from typing import Any

import pytest

from chat.providers.http import Http
from chat.providers.ollama import Ollama
from tests.provider import Call, Reply, ScriptedProvider, Tally, Think, raw, refuse, reply
from tests.providers.asking import WEATHER, Heard, Naps, ask, request


class Asks:
    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http

    async def __call__(self, answer: Reply) -> Heard:
        self.server.script(answer)
        return await ask(self.provider())

    def provider(self, **options: Any) -> Ollama:
        return Ollama(self.server.root, http=self.http, retry=Naps().policy, **options)


@pytest.fixture
def hear(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


def lines(*objects: dict[str, Any]) -> Reply:
    return raw("".join(json.dumps(one) + "\n" for one in objects).encode())


async def test_thinking_text_calls_usage_and_reason_arrive(hear: Asks) -> None:
    """A3: two calls without ids or indexes stay two."""
    heard = await hear(
        reply(
            Think("Let me see."),
            "It is sunny.",
            Call("get_weather", {"city": "Paris"}),
            Call("get_weather", {"city": "Rome"}),
            usage=Tally(9, 4),
        )
    )
    assert (heard.thought, heard.text) == ("Let me see.", "It is sunny.")
    assert [call.arguments for call in heard.calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert len({call.call_id for call in heard.calls}) == 2
    assert heard.usage is not None
    assert (heard.usage.tokens.input, heard.usage.tokens.output) == (9, 4)
    assert heard.finish == "tool-calls"


async def test_limits_and_sampling_are_options(hear: Asks) -> None:
    hear.server.script("Hello.")
    asked = request(system="Be kind.", tools=(WEATHER,), temperature=0.5, max_output=99)
    await ask(hear.provider(options={"num_ctx": 8192}), asked)
    received = hear.server.requests[0]
    assert received.path == "/api/chat"
    assert received.json["options"] == {"num_ctx": 8192, "temperature": 0.5, "num_predict": 99}
    assert received.json["tools"][0]["function"]["name"] == "get_weather"
    assert "authorization" not in received.headers


async def test_an_error_in_plain_text_ends_the_answer_with_its_text_kept(hear: Asks) -> None:
    said = {"message": {"content": "Yes"}, "done": False}
    heard = await hear(lines(said, {"error": "model runner has unexpectedly stopped"}))
    assert (heard.text, heard.fault) == ("Yes", "server_error")


async def test_a_missing_model_is_named(hear: Asks) -> None:
    heard = await hear(refuse(404, {"error": "model 'x' not found, try pulling it first"}))
    assert heard.fault == "model_not_found"
    assert heard.error is not None
    assert "try pulling it" in heard.error.message


async def test_no_last_line_is_an_interruption(hear: Asks) -> None:
    heard = await hear(lines({"message": {"content": "Yes"}, "done": False}))
    assert (heard.text, heard.fault) == ("Yes", "cut_off")


async def test_inline_thinking_is_split_off(hear: Asks) -> None:
    said = [{"message": {"content": piece}} for piece in ("<thi", "nk>Hm</th", "ink>Yes")]
    heard = await hear(lines(*said, {"done": True, "done_reason": "length"}))
    assert (heard.thought, heard.text, heard.finish) == ("Hm", "Yes", "length")
