"""Ollama's own wire, over a real connection."""

import json
from typing import Any

import pytest

from chat.providers.http import Http
from chat.providers.ollama import Ollama
from tests.providers.asking import WEATHER, Answer, Naps, ask, request
from tests.support.model_server import (
    Call,
    Reply,
    ScriptedProvider,
    Tally,
    Think,
    raw,
    refuse,
    reply,
)


class Asks:
    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http

    async def __call__(self, scripted: Reply) -> Answer:
        self.server.script(scripted)
        return await ask(self.provider())

    def provider(self, **options: Any) -> Ollama:
        return Ollama(self.server.root, http=self.http, retry=Naps().policy, **options)


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


def lines(*objects: dict[str, Any]) -> Reply:
    return raw("".join(json.dumps(one) + "\n" for one in objects).encode())


async def test_thinking_text_calls_usage_and_reason_arrive(asks: Asks) -> None:
    """A3: two calls without ids or indexes stay two."""
    answer = await asks(
        reply(
            Think("Let me see."),
            "It is sunny.",
            Call("get_weather", {"city": "Paris"}),
            Call("get_weather", {"city": "Rome"}),
            usage=Tally(9, 4),
        )
    )
    assert (answer.reasoning, answer.text) == ("Let me see.", "It is sunny.")
    assert [call.arguments for call in answer.calls] == [{"city": "Paris"}, {"city": "Rome"}]
    assert len({call.call_id for call in answer.calls}) == 2
    assert answer.usage is not None
    assert (answer.usage.tokens.input, answer.usage.tokens.output) == (9, 4)
    assert answer.finish == "tool-calls"


async def test_limits_and_sampling_are_options(asks: Asks) -> None:
    asks.server.script("Hello.")
    asked = request(system="Be kind.", tools=(WEATHER,), temperature=0.5, output_limit=99)
    await ask(asks.provider(), asked)
    received = asks.server.requests[0]
    assert received.path == "/api/chat"
    assert received.json["options"] == {
        "temperature": 0.5,
        "num_predict": 99,
        "num_ctx": 8192,
    }
    assert received.json["tools"][0]["function"]["name"] == "get_weather"
    assert "authorization" not in received.headers


@pytest.mark.parametrize(
    ("words", "window", "room"),
    [
        ("Hello", None, 8192),
        ("word " * 12_000, None, 32_768),
        ("word " * 12_000, 16_384, 16_384),
        ("word " * 12_000, 131_072, 32_768),
        ("汉" * 12_000, 131_072, 16_384),
        ("Hello", 4096, 4096),
    ],
)
async def test_it_makes_room_for_what_is_sent_as_far_as_the_model_goes(
    words: str, window: int | None, room: int, asks: Asks
) -> None:
    """Without it, it takes a few thousand tokens and forgets the beginning of what is longer."""
    asks.server.script("Hello.")
    await ask(asks.provider(), request(words, window=window))
    assert asks.server.requests[0].json["options"]["num_ctx"] == room


async def test_an_error_in_plain_text_ends_the_answer_with_its_text_kept(asks: Asks) -> None:
    line = {"message": {"content": "Yes"}, "done": False}
    answer = await asks(lines(line, {"error": "model runner has unexpectedly stopped"}))
    assert (answer.text, answer.fault) == ("Yes", "server_error")


async def test_a_missing_model_is_named(asks: Asks) -> None:
    answer = await asks(refuse(404, {"error": "model 'x' not found, try pulling it first"}))
    assert answer.fault == "model_not_found"
    assert answer.error is not None
    assert "try pulling it" in answer.error.message


async def test_no_last_line_is_an_interruption(asks: Asks) -> None:
    answer = await asks(lines({"message": {"content": "Yes"}, "done": False}))
    assert (answer.text, answer.fault) == ("Yes", "cut_off")


async def test_inline_thinking_is_split_off(asks: Asks) -> None:
    pieces = [{"message": {"content": piece}} for piece in ("<thi", "nk>Hm</th", "ink>Yes")]
    answer = await asks(lines(*pieces, {"done": True, "done_reason": "length"}))
    assert (answer.reasoning, answer.text, answer.finish) == ("Hm", "Yes", "length")
