"""Streams captured from real servers give the same events however they are cut."""

import json
import random
from pathlib import Path

import pytest

from chat.protocol.interfaces import (
    ProviderEvent,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    Usage,
)
from chat.providers.anthropic import AnthropicMessages
from chat.providers.http import Http
from chat.providers.openai import OpenAIChat
from chat.providers.responses import OpenAIResponses
from tests.providers.asking import Answer, ask
from tests.support.model_server import Reply, ScriptedProvider, raw

FOLDER = Path(__file__).parent / "captured"

PARIS = [("get_weather", {"city": "Paris"})]
FRUIT = "The user asks for a fruit. I pick one.\n"
WELCOME = "Hello, welcome to my little corner of the world."
HELP = "Hello! I'm here to help with any creative writing project. What can I"
HERE = "Hello there, welcome to my world. I'm here to help you with whatever"
DOG = "The user asks for a dog. I pick one.\n"

# What each stream says: thinking, text, calls, why it ends, tokens (input, output, cached).
SAYS: dict[str, tuple[str, str, list[tuple[str, dict[str, str]]], str, tuple[int, ...]]] = {
    "llamacpp-openai-stream": ("", WELCOME, [], "stop", (36, 12, 0)),
    "llamacpp-openai-reasoning-stream": (FRUIT, "A banana.", [], "stop", ()),
    "llamacpp-openai-ping-stream": ("tirn>\n", "", [], "length", ()),
    "llamacpp-openai-tools-stream": ("", "", PARIS, "tool-calls", (211, 31, 1)),
    "llamacpppy-openai-tool-named-stream": ("", "", PARIS, "tool-calls", ()),
    "llamacpp-anthropic-stream": ("", HELP, [], "length", (17, 16, 3)),
    "llamacpp-anthropic-thinking-stream": (FRUIT, "A banana.", [], "stop", (1, 21, 93)),
    "llamacpp-anthropic-tools-stream": ("", "", PARIS, "tool-calls", (155, 31, 52)),
    "llamacpp-responses-stream": ("", HERE, [], "stop", (15, 16, 0)),
    "llamacpp-responses-thinking-stream": (DOG, "A cat.", [], "stop", (94, 21, 0)),
    "llamacpp-responses-tools-stream": ("", "", PARIS, "tool-calls", (231, 31, 0)),
}
WIRES = {"openai": OpenAIChat, "anthropic": AnthropicMessages, "responses": OpenAIResponses}


def body_of(name: str) -> bytes:
    data = (FOLDER / f"{name}.txt").read_bytes()
    if not data.startswith(b"# REQUEST"):
        return data
    response = data.partition(b"# RESPONSE (chunked decoded)\n")[2].replace(b"\r\n", b"\n")
    return response.partition(b"\n\n")[2]


def cuts(name: str, how: str) -> int | tuple[int, ...]:
    if how == "whole":
        return 0
    if how == "bytes":
        return 1
    at = random.Random(f"{name}/{how}")
    return tuple(at.randint(1, 400) for _ in range(500))


def plain(events: list[ProviderEvent]) -> list[object]:
    """The events without where deltas were cut, and without what was counted on the way."""
    joined: list[object] = []
    counted = [event for event in events if isinstance(event, Usage)]
    for event in events:
        if isinstance(event, Usage) and event is not counted[-1]:
            continue
        match event, joined[-1] if joined else None:
            case TextDelta(text), TextDelta(before):
                joined[-1] = TextDelta(before + text)
            case ReasoningDelta(text, None), ReasoningDelta(before, None):
                joined[-1] = ReasoningDelta(before + text)
            case ToolCallDelta(call_id, text), ToolCallDelta(same, before) if same == call_id:
                joined[-1] = ToolCallDelta(call_id, before + text)
            case _:
                joined.append(event)
    return joined


async def replayed(name: str, how: str, server: ScriptedProvider, http: Http) -> Answer:
    wire = WIRES[name.split("-")[1]]
    server.script(raw(body_of(name), cut=cuts(name, how)))
    return await ask(wire(server.base_url, http=http))


@pytest.mark.parametrize("how", ["whole", "bytes", "random a", "random b"])
@pytest.mark.parametrize("name", SAYS)
async def test_a_captured_stream_says_the_same_however_it_is_cut(
    name: str, how: str, scripted_provider: ScriptedProvider, http: Http
) -> None:
    """A3: byte for byte what llama.cpp and llama-cpp-python sent."""
    whole = await replayed(name, "whole", scripted_provider, http)
    answer = await replayed(name, how, scripted_provider, http)
    assert answer.error is None
    assert plain(answer.events) == plain(whole.events)
    kept = [event.metadata for event in answer.events if getattr(event, "metadata", None)]
    assert len(kept) == (name == "llamacpp-responses-thinking-stream")
    thought, text, calls, finish, tokens = SAYS[name]
    assert (answer.reasoning, answer.text, answer.finish) == (thought, text, finish)
    assert [(call.name, call.arguments) for call in answer.calls] == calls
    used = [answer.usage.tokens] if answer.usage else []
    assert [(one.input, one.output, one.cache.read) for one in used] == ([tokens] if tokens else [])


async def test_a_thought_that_ends_after_its_text_is_one_and_stands_in_front(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    answer = await replayed("llamacpp-responses-thinking-stream", "bytes", scripted_provider, http)
    kinds = [type(event) for event in answer.events]
    assert kinds.index(TextDelta) > max(
        place for place, kind in enumerate(kinds) if kind is ReasoningDelta
    )
    [item] = [
        event.metadata["item"]
        for event in answer.events
        if isinstance(event, ReasoningDelta) and event.metadata
    ]
    assert item["content"] == [{"type": "reasoning_text", "text": DOG}]
    assert "encrypted_content" not in item, "an empty one is none"


async def test_a_captured_refusal_is_recognised(
    scripted_provider: ScriptedProvider, http: Http
) -> None:
    body = body_of("llamacpp-err-ctx")
    json_type = {"content-type": "application/json; charset=utf-8"}
    scripted_provider.script(Reply(status=400, body=body, headers=json_type))
    answer = await ask(OpenAIChat(scripted_provider.base_url, http=http))
    assert answer.fault == "context_too_long"
    assert answer.error is not None
    assert answer.error.message == json.loads(body)["error"]["message"]


def test_every_captured_stream_is_replayed() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == {*SAYS, "llamacpp-err-ctx"}
