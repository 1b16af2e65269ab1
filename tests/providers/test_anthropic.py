"""The Anthropic messages wire, over a real connection."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chat.protocol.interfaces import ReasoningDelta, ToolCallStart
from chat.protocol.parts import CacheTokens, Tokens
from chat.providers.anthropic import AnthropicMessages
from chat.providers.http import Http
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

KEY = "sk-ant-very-secret-0123456789"


class Asks:
    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http
        self.naps = Naps()

    async def __call__(self, scripted: Reply, **options: Any) -> Answer:
        self.server.script(scripted)
        return await ask(self.provider(**options))

    def provider(self, **options: Any) -> AnthropicMessages:
        return AnthropicMessages(
            self.server.base_url, KEY, http=self.http, retry=self.naps.policy, **options
        )


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


def stream(*events: dict[str, Any]) -> Reply:
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    return raw("".join(lines).encode())


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def end(reason: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    ended = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}
    return [ended, {"type": "message_stop"}]


async def test_thinking_text_calls_usage_and_reason_arrive(asks: Asks) -> None:
    """A3: the cached tokens are beside the input, not in it (BR-13)."""
    answer = await asks(
        reply(
            Think("Let me see.", signature="sig-1"),
            "It is 晴 🎉.",
            Call("get_weather", {"city": "Paris"}, id="toolu_a"),
            Call("get_time", id="toolu_b"),
            usage=Tally(input=7, output=3, cache_read=4, cache_write=2),
        )
    )
    assert (answer.reasoning, answer.text) == ("Let me see.", "It is 晴 🎉.")
    assert ReasoningDelta("", {"signature": "sig-1"}) in answer.events
    assert [(call.call_id, call.arguments, call.fault) for call in answer.calls] == [
        ("toolu_a", {"city": "Paris"}, ""),
        ("toolu_b", {}, ""),
    ]
    assert answer.usage is not None
    assert answer.usage.tokens == Tokens(input=7, output=3, cache=CacheTokens(read=4, write=2))
    assert answer.finish == "tool-calls"


async def test_the_request_has_its_headers_and_always_a_limit(asks: Asks) -> None:
    asks.server.script("Hello.")
    asked = request("Hi", system="Be kind.", tools=(WEATHER,), temperature=0.5)
    await ask(asks.provider(), asked)
    received = asks.server.requests[0]
    assert received.path == "/v1/messages"
    assert received.headers["x-api-key"] == KEY
    assert received.headers["anthropic-version"] == "2023-06-01"
    assert received.json["max_tokens"] == 8192
    [instructions] = received.json["system"]
    assert instructions["text"] == "Be kind."
    assert received.json["tools"][0]["input_schema"] == WEATHER.parameters
    assert received.json["temperature"] == 0.5


async def test_a_temperature_is_not_for_models_that_think(asks: Asks) -> None:
    asks.server.script("Hello.", "Hello.")
    for effort in ("", "none"):
        asked = replace(request(temperature=1.5, effort=effort), model="claude-opus-4-8")
        await ask(asks.provider(), asked)
    thinking, quiet = (received.json for received in asks.server.requests)
    assert "temperature" not in thinking
    assert quiet["temperature"] == 1.0


async def test_no_more_output_is_asked_for_than_the_model_can_write(asks: Asks) -> None:
    asks.server.script("Hello.", "Hello.")
    await ask(asks.provider(), request(longest_output=4096))
    await ask(asks.provider(), request(longest_output=128_000))
    assert [each.json["max_tokens"] for each in asks.server.requests] == [4096, 32_000]


async def test_the_length_of_an_answer_is_limited_where_that_is_set(asks: Asks) -> None:
    asks.server.script("Hello.")
    await ask(asks.provider(), request(output_limit=99))
    assert asks.server.requests[0].json["max_tokens"] == 99


async def test_blocks_we_do_not_draw_are_kept_as_they_came(asks: Asks) -> None:
    redacted = {"type": "redacted_thinking", "data": "opaque"}
    search = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}}
    answer = await asks(
        stream(
            start(0, **redacted),
            stop(0),
            start(1, **search),
            delta(1, "input_json_delta", partial_json='{"query": "x"}'),
            stop(1),
            {"type": "something_new", "index": 9},
            *end("pause_turn"),
        )
    )
    kept = [event.metadata for event in answer.events if isinstance(event, ReasoningDelta)]
    assert [data and data["block"] for data in kept] == [
        redacted,
        search | {"input": {"query": "x"}},
    ]
    assert (answer.finish, answer.error) == ("pause", None)


async def test_interleaved_blocks_are_told_apart_by_index(asks: Asks) -> None:
    answer = await asks(
        stream(
            start(0, type="tool_use", id="a", name="f", input={}),
            start(1, type="tool_use", id="b", name="g", input={}),
            delta(1, "input_json_delta", partial_json='{"b":'),
            delta(0, "input_json_delta", partial_json='{"a":'),
            delta(1, "input_json_delta", partial_json="2}"),
            delta(0, "input_json_delta", partial_json="1}"),
            stop(1),
            stop(0),
            *end("tool_use"),
        )
    )
    assert [(call.name, call.arguments) for call in answer.calls] == [
        ("f", {"a": 1}),
        ("g", {"b": 2}),
    ]
    assert [event.name for event in answer.events if isinstance(event, ToolCallStart)] == ["f", "g"]


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("pause_turn", "pause"),
        ("refusal", "refusal"),
        ("something_new", "other"),
    ],
)
async def test_reasons_are_translated(sent: str, reason: str, asks: Asks) -> None:
    answer = await asks(reply("Yes", finish=sent))
    assert (answer.text, answer.finish) == ("Yes", reason)


async def test_usage_is_cumulative(asks: Asks) -> None:
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}
    answer = await asks(stream(begun, *end(output_tokens=20)))
    assert answer.usage is not None
    assert (answer.usage.tokens.input, answer.usage.tokens.output) == (9, 20)


def error(kind: str, message: str, **more: object) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}}


OVERLOADED = error("overloaded_error", "Overloaded")
YES = [start(0, type="text", text=""), delta(0, "text_delta", text="Yes")]


async def test_an_error_event_ends_the_answer_with_its_text_kept(asks: Asks) -> None:
    begun = {"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}
    answer = await asks(stream(begun, *YES, OVERLOADED))
    assert (answer.text, answer.fault) == ("Yes", "overloaded")
    assert answer.usage is not None
    assert answer.usage.tokens.input == 9
    assert len(asks.server.requests) == 1


async def test_an_error_as_the_first_event_is_tried_again(asks: Asks) -> None:
    asks.server.script(stream(OVERLOADED))
    answer = await asks(reply("Here."))
    assert (answer.text, len(answer.retries), asks.naps.taken) == ("Here.", 2, [2])


@pytest.mark.parametrize(
    ("status", "body", "fault"),
    [
        (529, OVERLOADED, "overloaded"),
        (400, error("invalid_request_error", "prompt is too long: 9 > 8"), "context_too_long"),
        (400, error("exceed_context_size_error", "too much", code=400), "context_too_long"),
        (400, error("invalid_request_error", "Your credit balance is low"), "quota_exceeded"),
        (404, error("not_found_error", "model: x"), "model_not_found"),
        (401, error("authentication_error", f"bad {KEY}"), "auth_failed"),
    ],
)
async def test_refusals_in_both_shapes_are_recognised_and_hold_no_key(
    status: int, body: dict[str, Any], fault: str, asks: Asks
) -> None:
    asks.server.script(*[refuse(status, body)] * 4)
    answer = await asks(refuse(status, body))
    assert answer.error is not None
    assert (answer.fault, answer.error.status) == (fault, status)
    assert KEY not in str(answer.error)


async def test_no_end_of_the_message_is_an_interruption(asks: Asks) -> None:
    answer = await asks(stream(*YES))
    assert (answer.text, answer.fault) == ("Yes", "cut_off")


async def test_a_whole_message_instead_of_a_stream_is_read(asks: Asks) -> None:
    content = [
        {"type": "text", "text": "Yes"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ]
    whole = {
        "type": "message",
        "content": content,
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3},
    }
    headers = {"content-type": "application/json"}
    answer = await asks(Reply(body=json.dumps(whole).encode(), headers=headers))
    assert (answer.text, answer.calls[0].arguments, answer.finish) == (
        "Yes",
        {"x": 1},
        "tool-calls",
    )


async def test_thinking_tokens_are_counted_apart(asks: Asks) -> None:
    usage = {"input_tokens": 7, "output_tokens": 100}
    usage["output_tokens_details"] = {"thinking_tokens": 60}  # type: ignore[assignment]
    message = {
        "type": "message",
        "content": [{"type": "text", "text": "Yes."}],
        "stop_reason": "end_turn",
        "usage": usage,
    }
    asks.server.script(_whole(message))
    answer = await ask(asks.provider())
    assert answer.usage is not None
    tokens = answer.usage.tokens
    assert (tokens.input, tokens.output, tokens.reasoning) == (7, 40, 60)


def _whole(message: dict[str, Any]) -> Reply:
    """A message that is not streamed."""
    body = json.dumps(message).encode()
    return Reply(body=body, headers={"content-type": "application/json"})
