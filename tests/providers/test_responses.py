"""The Responses wire, over a real connection."""

import json
from typing import Any

import pytest
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from chat.protocol.interfaces import ReasoningDelta, ToolCallStart
from chat.protocol.parts import CacheTokens, Tokens
from chat.providers.http import Http
from chat.providers.presets import PRESETS, Preset
from chat.providers.registry import Connection, connect_over_http, wire_of
from chat.providers.responses import OpenAIResponses
from chat.providers.responses.answer import ResponsesAnswer
from chat.providers.responses.items import MOST_ITEMS
from tests.providers.asking import WEATHER, Answer, Naps, ask, request
from tests.providers.responses_stream import added, delta, done, ended, stream
from tests.providers.sdk_types import check_responses
from tests.support.measuring import ratio
from tests.support.model_server import (
    Call,
    Reply,
    ScriptedProvider,
    Tally,
    Think,
    refuse,
    reply,
)
from tests.support.model_server.responses_wire import ResponsesWire

EVENTS: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


class Asks:
    def __init__(self, server: ScriptedProvider, http: Http) -> None:
        self.server, self.http = server, http
        self.naps = Naps()

    async def __call__(self, scripted: Reply) -> Answer:
        self.server.script(scripted)
        return await ask(self.provider(), request(tools=(WEATHER,)))

    def provider(self) -> OpenAIResponses:
        url = self.server.base_url
        return OpenAIResponses(url, "sk-secret", http=self.http, retry=self.naps.policy)


@pytest.fixture
def asks(scripted_provider: ScriptedProvider, http: Http) -> Asks:
    return Asks(scripted_provider, http)


async def test_thinking_text_calls_usage_and_reason_arrive(asks: Asks) -> None:
    """A2, A3: what was cached is in the input, the thinking in the output (BR-13)."""
    answer = await asks(
        reply(
            Think("Let me see.", signature="opaque"),
            "It is 晴 🎉.",
            Call("get_weather", {"city": "Paris"}, id="call_a"),
            Call("get_time", id="call_b"),
            usage=Tally(input=7, output=3, reasoning=5, cache_read=4, cache_write=2),
        )
    )
    assert (answer.reasoning, answer.text) == ("Let me see.", "It is 晴 🎉.")
    assert [(call.call_id, call.name, call.arguments) for call in answer.calls] == [
        ("call_a", "get_weather", {"city": "Paris"}), ("call_b", "get_time", {}),
    ]  # fmt: skip
    assert answer.usage is not None
    expected = Tokens(input=7, output=3, reasoning=5, cache=CacheTokens(read=4, write=2))
    assert answer.usage.tokens == expected
    assert answer.finish == "tool-calls"
    [kept] = [e.metadata for e in answer.events if isinstance(e, ReasoningDelta) and e.metadata]
    assert kept["item"]["encrypted_content"] == "opaque"
    assert "status" not in kept["item"]
    asked = asks.server.requests[-1]
    assert asked.path.endswith("/responses")
    assert asked.headers["authorization"] == "Bearer sk-secret"
    check_responses(asked.json)


def test_the_scripted_server_says_what_the_official_client_reads() -> None:
    """Whatever the tests play is what the real one would send."""
    wire = ResponsesWire({"model": "m"})
    scripted = reply()
    events = [
        *wire.opening(scripted), wire.think("Hm."), *wire.thought(Think("Hm.")), wire.say("Yes."),
        *wire.call(Call("get_weather", {"city": "Rome"})), *wire.closing("", scripted.usage, True),
    ]  # fmt: skip
    lines = b"".join(events).decode().splitlines()
    told = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    kinds = [EVENTS.validate_python(event).type for event in told]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert len(kinds) == 15


async def test_items_are_told_apart_by_their_place_not_by_their_id(asks: Asks) -> None:
    call = {"type": "function_call", "id": "fc_1", "arguments": ""}
    answer = await asks(
        stream(
            added(0, **call, call_id="a", name="get_weather"),
            added(1, **call, call_id="b", name="get_weather"),
            delta(1, "function_call_arguments", '{"city": "Rome"}'),
            delta(0, "function_call_arguments", '{"city": "Paris"}'),
            ended(),
        )
    )
    assert [call.arguments for call in answer.calls] == [{"city": "Paris"}, {"city": "Rome"}]
    starts = [event.call_id for event in answer.events if isinstance(event, ToolCallStart)]
    assert starts == ["a", "b"]


def unnumbered(event: dict[str, Any], item_id: str = "") -> dict[str, Any]:
    """As llama.cpp says it, which names items and does not count them."""
    without = {name: value for name, value in event.items() if name != "output_index"}
    return without | ({"item_id": item_id} if item_id else {})


async def test_items_without_a_place_are_told_apart_by_their_names(asks: Asks) -> None:
    """llama.cpp, in older versions: a call has no id, pieces name it by its `call_id`, and all
    items end after all words."""
    call = {"type": "function_call", "name": "get_weather"}
    said = {"type": "message", "id": "msg_1", "role": "assistant"}
    text = {"type": "output_text", "text": "Let me see."}
    arguments = {"fc_a": '{"city": "Paris"}', "fc_b": '{"city": "Rome"}'}
    events = [added(0, **said, content=[]), delta(0, "output_text", "Let me see.")]
    events = [unnumbered(event, "msg_1") for event in events]
    for call_id, whole in arguments.items():
        events.append(unnumbered(added(0, **call, call_id=call_id, arguments="")))
        for piece in (whole[:5], whole[5:]):
            events.append(unnumbered(delta(0, "function_call_arguments", piece), call_id))
    events.append(unnumbered(done(0, **said, content=[text])))
    for call_id, whole in arguments.items():
        events.append(unnumbered(done(0, **call, call_id=call_id, arguments=whole)))
    answer = await asks(stream(*events, ended()))
    assert answer.text == "Let me see."
    assert [(each.call_id, each.arguments) for each in answer.calls] == [
        (call_id, json.loads(whole)) for call_id, whole in arguments.items()
    ]
    assert answer.finish == "tool-calls"


async def test_items_with_the_same_place_are_told_apart_by_their_names(asks: Asks) -> None:
    """Ollama counts its thoughts only: a text, and each call that is sent by itself, is the
    next."""
    call = {"type": "function_call", "name": "get_weather"}
    said = {"type": "message", "id": "msg_1", "role": "assistant"}
    events = [added(1, **said, content=[]), delta(1, "output_text", "Hm.") | {"item_id": "msg_1"}]
    for name, city in (("a", "Paris"), ("b", "Rome")):
        whole = json.dumps({"city": city})
        one = call | {"id": f"fc_{name}", "call_id": name}
        events += [
            added(1, **one, arguments=""),
            delta(1, "function_call_arguments", whole) | {"item_id": one["id"]},
            done(1, **one, arguments=whole),
        ]
    text = {"type": "output_text", "text": "Hm."}
    answer = await asks(stream(*events, done(1, **said, content=[text]), ended()))
    assert answer.text == "Hm."
    assert [each.arguments["city"] for each in answer.calls] == ["Paris", "Rome"]


async def test_an_item_whose_id_changes_on_the_way_is_one(asks: Asks) -> None:
    """As behind gateways that encrypt the ids anew in every event."""
    text = {"type": "output_text", "text": "Yes."}
    answer = await asks(
        stream(
            added(0, type="message", id="x1", content=[]),
            delta(0, "output_text", "Yes.") | {"item_id": "x2"},
            done(0, type="message", id="x3", content=[text]),
            ended(),
        )
    )
    assert answer.text == "Yes."


async def test_items_that_were_never_begun_are_read_once(asks: Asks) -> None:
    text = {"type": "output_text", "text": "Yes."}
    call = {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{}"}
    answer = await asks(
        stream(
            delta(0, "output_text", "Yes."),
            done(0, type="message", id="msg_1", content=[text]),
            done(1, **call),
            ended(),
        )
    )
    assert (answer.text, len(answer.calls)) == ("Yes.", 1)


async def test_a_thought_that_ends_late_goes_back_in_front_of_its_call(asks: Asks) -> None:
    """llama.cpp tells the end of all items at the end."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": ""}
    words = {"type": "reasoning_text", "text": "Look."}
    call = {"type": "function_call", "call_id": "fc_a", "name": "get_weather"}
    answer = await asks(
        stream(
            unnumbered(added(0, **thought, content=[], status="in_progress")),
            unnumbered(delta(0, "reasoning_text", "Look."), "rs_1"),
            unnumbered(added(0, **call, arguments="")),
            unnumbered(delta(0, "function_call_arguments", "{}"), "fc_a"),
            unnumbered(done(0, **thought, content=[words])),
            unnumbered(done(0, **call, arguments="{}")),
            ended(),
        )
    )
    kinds = [type(event).__name__ for event in answer.events[:3]]
    assert kinds == ["ReasoningDelta", "ReasoningDelta", "ToolCallStart"]
    kept = [e.metadata for e in answer.events if isinstance(e, ReasoningDelta) and e.metadata]
    expected = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [words]}
    assert [each["item"] for each in kept] == [expected]


async def test_parts_of_a_summary_are_paragraphs(asks: Asks) -> None:
    part = {"type": "response.reasoning_summary_part.added", "output_index": 0}
    answer = await asks(
        stream(
            added(0, type="reasoning", id="rs", summary=[]),
            {**part, "summary_index": 0},
            delta(0, "reasoning_summary_text", "First."),
            {**part, "summary_index": 1},
            delta(0, "reasoning_summary_text", "Second."),
            done(0, type="reasoning", id="rs", summary=[], encrypted_content=None),
            ended(),
        )
    )
    assert answer.reasoning == "First.\n\nSecond."
    assert answer.finish == "stop"


async def test_what_is_not_known_is_kept_and_the_rest_is_read(asks: Asks) -> None:
    search = {"type": "web_search_call", "id": "ws_1", "action": {"type": "search", "query": "x"}}
    answer = await asks(
        stream(
            {"type": "response.queued", "response": {}},
            added(0, **search, status="in_progress"),
            {"type": "response.web_search_call.searching", "output_index": 0},
            done(0, **search, status="completed"),
            delta(1, "output_text", "Found."),
            ended(),
        )
    )
    assert answer.text == "Found."
    [kept] = [e.metadata for e in answer.events if isinstance(e, ReasoningDelta) and e.metadata]
    assert kept["item"] == search | {"status": "completed"}


async def test_words_that_came_only_with_their_item_are_read(asks: Asks) -> None:
    whole = {
        "object": "response",
        "status": "completed",
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Hello."}]},
            {"type": "function_call", "call_id": "a", "name": "get_weather", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    body = json.dumps(whole).encode()
    answer = await asks(Reply(body=body, headers={"content-type": "application/json"}))
    assert (answer.text, answer.finish) == ("Hello.", "tool-calls")
    assert answer.calls[0].call_id == "a"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "length"), ("content_filter", "content-filter"), ("new", "other")],
)
async def test_an_incomplete_answer_says_why(asks: Asks, reason: str, finish: str) -> None:
    incomplete = ended("incomplete", incomplete_details={"reason": reason})
    answer = await asks(stream(delta(0, "output_text", "Half"), incomplete))
    assert (answer.text, answer.finish) == ("Half", finish)


async def test_a_refusal_is_read_and_told(asks: Asks) -> None:
    answer = await asks(stream(delta(0, "refusal", "I will not."), ended()))
    assert (answer.text, answer.finish) == ("I will not.", "refusal")


FAILED = {"code": "rate_limit_exceeded", "message": "Slow down"}


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        (ended("failed", error=FAILED), "rate_limited"),
        (ended("failed", error=None), "server_error"),
        ({"type": "error", "code": "server_error", "message": "Oh"}, "server_error"),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "No"}},
         "request_refused"),
    ],
)  # fmt: skip
async def test_a_failure_in_the_stream_keeps_what_came_before(
    asks: Asks, end: dict[str, Any], fault: str
) -> None:
    answer = await asks(stream(delta(0, "output_text", "Half"), end))
    assert (answer.text, answer.fault) == ("Half", fault)


async def test_a_stream_without_its_end_is_cut_off(asks: Asks) -> None:
    answer = await asks(stream(delta(0, "output_text", "Half")))
    assert (answer.text, answer.fault) == ("Half", "cut_off")


async def test_a_refused_request_says_what_the_provider_said(asks: Asks) -> None:
    answer = await asks(refuse(400, {"error": {"message": "Unknown parameter: 'x'."}}))
    assert answer.fault == "request_refused"
    assert answer.error is not None
    assert "Unknown parameter" in answer.error.message


def told(items: int) -> list[str]:
    """A stream of so many short thoughts, as the server sends it."""
    thought = {"type": "reasoning", "summary": []}
    events = (
        each
        for place in range(items)
        for each in (added(place, **thought), delta(place, "reasoning_text", "Hm."))
    )
    return [json.dumps(event) for event in events]


def test_many_items_take_no_longer_than_they_are_many() -> None:
    many, few = told(MOST_ITEMS), told(MOST_ITEMS // 10)
    assert ratio(lambda: ResponsesAnswer().feed(many), lambda: ResponsesAnswer().feed(few), 20) < 20


def test_items_without_an_end_are_not_read_on() -> None:
    """What came before is kept."""
    answer = ResponsesAnswer()
    events = answer.feed(told(MOST_ITEMS))
    assert answer.error is None
    assert sum(isinstance(each, ReasoningDelta) for each in events) > MOST_ITEMS
    assert answer.feed([json.dumps(added(MOST_ITEMS, type="message"))]) == []
    assert answer.error is not None
    assert answer.error.key == "error.chat_provider_bad_response"


def test_who_prefers_it_is_asked_on_it_and_a_setting_wins(http: Http) -> None:
    """Of the known ones OpenAI and xAI; a local server speaks chat unless it is set."""
    preferring = [preset.slug for preset in PRESETS if wire_of(_connection(preset)) == "responses"]
    assert preferring == ["openai", "xai"]
    for wire, path in (("responses", "/responses"), ("chat", "/chat/completions")):
        for preset in PRESETS:
            if preset.wire == "openai":
                chosen = connect_over_http(_connection(preset, wire), http)
                assert chosen.path == path


def _connection(preset: Preset, wire: str = "auto") -> Connection:
    return Connection(preset.wire, preset.base_url, wire=wire)
