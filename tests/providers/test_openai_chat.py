"""The happy path of the OpenAI chat wire, over a real connection."""

import asyncio

from chat.protocol.interfaces import CaughtUp, ReasoningDelta, TextDelta, ToolCallStart
from chat.protocol.parts import CacheTokens, Tokens
from chat.providers.http import Http
from chat.providers.openai import OpenAIChat
from tests.providers.asking import WEATHER, ask, request
from tests.support.model_server import Call, Gate, Say, ScriptedProvider, Tally, Think, Wait, reply

KEY = "sk-very-secret-0123456789"


def provider(server: ScriptedProvider, http: Http) -> OpenAIChat:
    return OpenAIChat(server.base_url, KEY, http=http)


async def test_text_thinking_calls_usage_and_reason_arrive_in_order(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """A3: text, thinking and tool calls are streamed."""
    scripted_provider.script(
        reply(
            Think("Let me see."),
            "It is sunny 中文 🎉.",
            Call("get_weather", {"city": "Paris"}, id="call_a"),
            Call("get_weather", {"city": "Rome"}, id="call_b"),
            usage=Tally(input=7, output=3, reasoning=2, cache_read=4),
        )
    )
    answer = await ask(provider(scripted_provider, http))
    assert answer.reasoning == "Let me see."
    assert answer.text == "It is sunny 中文 🎉."
    assert [(call.call_id, call.name, call.arguments) for call in answer.calls] == [
        ("call_a", "get_weather", {"city": "Paris"}),
        ("call_b", "get_weather", {"city": "Rome"}),
    ]
    assert answer.usage is not None
    assert answer.usage.tokens == Tokens(
        input=7, output=3, reasoning=2, cache=CacheTokens(read=4, write=0)
    )
    assert answer.finish == "tool-calls"
    kinds = [type(event) for event in answer.events]
    assert kinds.index(ReasoningDelta) < kinds.index(TextDelta) < kinds.index(ToolCallStart)


async def test_the_first_word_comes_before_the_last_is_said(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    gate = Gate()
    scripted_provider.script(reply("First", gate, " last"))
    events = provider(scripted_provider, http).stream(request())
    assert await anext(events) == TextDelta("First")
    assert await anext(events) == CaughtUp()
    gate.open()
    assert await anext(events) == TextDelta(" last")


async def test_the_request_asks_for_a_stream_with_usage_and_sends_the_key(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script("Hello.")
    extra = {"x-title": "Parley"}
    asked = OpenAIChat(scripted_provider.base_url + "/", KEY, extra_headers=extra, http=http)
    await ask(asked, request("Hi", system="Be kind.", tools=(WEATHER,)))
    received = scripted_provider.requests[0]
    assert received.path == "/v1/chat/completions"
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.headers["x-title"] == "Parley"
    assert received.json["stream"] is True
    assert received.json["stream_options"] == {"include_usage": True}
    assert [message["role"] for message in received.json["messages"]] == ["system", "user"]
    assert received.json["tools"][0]["function"]["name"] == "get_weather"
    assert not {"temperature", "max_tokens", "top_p"} & set(received.json)


async def test_closing_the_stream_closes_the_connection_at_once(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """A5: a stopped generation is not paid for any longer."""
    scripted_provider.script(reply("One", Wait()))
    events = provider(scripted_provider, http).stream(request())
    await anext(events)
    await events.aclose()
    await scripted_provider.until(lambda server: server.requests[0].disconnected_at)


async def test_cancelling_the_reader_closes_the_connection_at_once(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """A5: the same when the task is cancelled while it waits."""
    gate = Gate()
    scripted_provider.script(reply("One", gate))
    task = asyncio.create_task(ask(provider(scripted_provider, http)))
    await asyncio.to_thread(gate.reached.wait, 5)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    await scripted_provider.until(lambda server: server.requests[0].disconnected_at)


async def test_a_connection_is_used_again(scripted_provider: ScriptedProvider, http: Http) -> None:
    scripted_provider.script("One.", "Two.")
    for _ in range(2):
        await ask(provider(scripted_provider, http))
        assert len(scripted_provider.connections) == 1


async def test_a_hundred_streams_run_beside_each_other(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    """A4: conversations run in parallel."""
    scripted_provider.answer = reply(Say(["word "] * 10), ms=10)
    asked = provider(scripted_provider, http)
    answers = await asyncio.gather(*(ask(asked) for _ in range(100)))
    assert {answer.text for answer in answers} == {"word " * 10}


async def test_half_an_emoji_waits_for_its_other_half(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    scripted_provider.script(reply(Say(["a\ud83c", "\udf89b", "c\ud83c"])))
    answer = await ask(provider(scripted_provider, http))
    assert answer.text == "a🎉bc\ufffd"


def test_the_key_is_not_in_the_repr() -> None:
    assert KEY not in repr(OpenAIChat("https://example.org/v1", KEY, http=Http()))
