"""Every request is one that the official clients could have sent."""

import copy
from typing import Any

import pytest
from pydantic_core import ValidationError

from chat.protocol.interfaces import (
    FileBlock,
    ModelMessage,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.providers import anthropic_request, ollama_request, openai_request
from chat.providers.quirks import Quirks
from tests.providers.asking import WEATHER
from tests.providers.sdk_types import check_anthropic, check_openai

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="
SIGNED = ReasoningBlock("Two cities.", {"signature": "sig"})
REDACTED = ReasoningBlock(
    "", {"signature": "", "block": {"type": "redacted_thinking", "data": "opaque"}}
)


def user(*blocks: Any) -> ModelMessage:
    return ModelMessage("user", tuple(TextBlock(b) if isinstance(b, str) else b for b in blocks))


def says(*blocks: Any) -> ModelMessage:
    said = tuple(TextBlock(b) if isinstance(b, str) else b for b in blocks)
    return ModelMessage("assistant", said)


def results(*blocks: ToolResultBlock) -> ModelMessage:
    return ModelMessage("tool", blocks)


CALL_A = ToolCallBlock("call:a", "get_weather", {"city": "Paris"})
CALL_B = ToolCallBlock("call_b", "get_weather", {"city": "罗马"})
RESULT_A = ToolResultBlock("call:a", "get_weather", "sunny")
RESULT_B = ToolResultBlock("call_b", "get_weather", "no such city", is_error=True)
PICTURE = FileBlock("image/png", PNG, "map.png")

TALKS: dict[str, tuple[ModelMessage, ...]] = {
    "one question": (user("Hello"),),
    "question, answer, question": (user("Hello"), says("Hi."), user("And?")),
    "two calls at once": (
        user("Weather?"),
        says(SIGNED, REDACTED, "Let me see.", CALL_A, CALL_B),
        results(RESULT_A, RESULT_B),
    ),
    "call, answer, question": (
        user("Weather?"),
        says(CALL_A),
        results(RESULT_A),
        says("Sunny."),
        user("Thanks"),
    ),
    "a question right after results": (user("W?"), says(CALL_A), results(RESULT_A), user("Stop")),
    "one call after the other": (
        user("W?"),
        says(CALL_A),
        results(RESULT_A),
        says(CALL_B),
        results(RESULT_B),
    ),
    "two questions in a row": (user("Hello"), user("Are you there?")),
    "an image, a PDF and a file": (
        user("What is it?", PICTURE, FileBlock("application/pdf", PDF, "a.pdf")),
        says("A map."),
        user(FileBlock("image/svg+xml", "data:image/svg+xml;base64,AAAA", "a.svg"), "and this?"),
    ),
    "a result with an image": (
        user("Draw"),
        says(CALL_A, CALL_B),
        results(
            ToolResultBlock("call:a", "draw", "done", files=(PICTURE,)),
            ToolResultBlock("call_b", "draw", "done"),
        ),
    ),
    "unsigned thinking": (user("Hello"), says(ReasoningBlock("Hm"), "Hi."), user("And?")),
}


def asked(name: str, **options: Any) -> ModelRequest:
    return ModelRequest("m", TALKS[name], system="Be kind.", tools=(WEATHER,), **options)


@pytest.mark.parametrize("name", TALKS)
def test_openai_would_take_it(name: str) -> None:
    """A2, C2: every call answered, before anything else."""
    check_openai(openai_request.request_body(asked(name), Quirks()))
    body = openai_request.request_body(asked(name, temperature=0.2, max_output=50), Quirks())
    check_openai(body)
    assert (body["temperature"], body["max_tokens"]) == (0.2, 50)


@pytest.mark.parametrize("name", TALKS)
def test_anthropic_would_take_it(name: str) -> None:
    """A2, C2: results first in the very next turn."""
    body = anthropic_request.request_body(asked(name), max_tokens=99, sampling=False, cache=True)
    check_anthropic(body)


def test_results_come_first_even_when_something_was_said_before_them() -> None:
    talk = (user("W?"), says(CALL_A), user("Wait"), results(RESULT_A))
    request = ModelRequest("m", talk)
    body = anthropic_request.request_body(request, max_tokens=9, sampling=False, cache=False)
    check_anthropic(body)


def test_thinking_goes_back_to_anthropic_as_it_came() -> None:
    body = anthropic_request.request_body(
        asked("two calls at once"), max_tokens=99, sampling=False, cache=False
    )
    thinking, redacted, *_ = body["messages"][1]["content"]
    assert thinking == {"type": "thinking", "thinking": "Two cities.", "signature": "sig"}
    assert redacted == {"type": "redacted_thinking", "data": "opaque"}


def test_thinking_goes_back_to_others_only_where_it_is_required() -> None:
    """DeepSeek refuses a turn with calls that comes without its thinking."""
    plain = openai_request.request_body(asked("two calls at once"), Quirks())
    assert "reasoning_content" not in plain["messages"][2]
    deepseek = Quirks(echo_reasoning="reasoning_content")
    body = openai_request.request_body(asked("two calls at once"), deepseek)
    assert body["messages"][2]["reasoning_content"] == "Two cities."
    check_openai(body, extra="ignore")


def test_geminis_signature_goes_back_with_its_call() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    call = ToolCallBlock("a", "f", {}, {"extra_content": extra})
    request = ModelRequest("m", (user("Hi"), says(call), results(ToolResultBlock("a", "f", "x"))))
    gemini = openai_request.request_body(request, Quirks(echo_extra_content=True))
    assert gemini["messages"][1]["tool_calls"][0]["extra_content"] == extra
    check_openai(openai_request.request_body(request, Quirks()))


@pytest.mark.parametrize("name", TALKS)
def test_a_longer_talk_begins_with_the_shorter(name: str) -> None:
    """Prompt caches hit only when what was sent before is sent again, element by element."""
    longer = (*TALKS[name], says("Good."), user("More"))
    request = ModelRequest("m", longer, system="Be kind.", tools=(WEATHER,))
    before = openai_request.request_body(asked(name), Quirks())["messages"]
    after = openai_request.request_body(request, Quirks())["messages"]
    assert after[: len(before)] == before
    before = ollama_request.request_body(asked(name), {})["messages"]
    assert ollama_request.request_body(request, {})["messages"][: len(before)] == before
    options: Any = {"max_tokens": 9, "sampling": False, "cache": True}
    before = anthropic_request.request_body(asked(name), **options)["messages"]
    after = anthropic_request.request_body(request, **options)["messages"]
    assert after[: len(before)] == before


def test_ollama_takes_arguments_as_objects_and_images_as_bare_base64() -> None:
    body = ollama_request.request_body(asked("two calls at once"), {})
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"city": "Paris"}
    assert body["messages"][3] == {"role": "tool", "tool_name": "get_weather", "content": "sunny"}
    body = ollama_request.request_body(asked("an image, a PDF and a file"), {})
    assert body["messages"][1]["images"] == ["iVBORw0KGgo="]


def _broken(path: list[Any], value: Any) -> dict[str, Any]:
    body = copy.deepcopy(openai_request.request_body(asked("two calls at once"), Quirks()))
    at: Any = body
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return body


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["messages", 0, "role"], "robot"),
        (["messages", 1, "content"], 7),
        (["messages", 2, "tool_calls", 0, "function", "arguments"], {"city": "Paris"}),
        (["messages", 2, "tool_calls", 0, "function", "arguments"], "not json"),
        (["messages", 2, "tool_calls"], []),
        (["messages", 3, "tool_call_id"], "another"),
        (["messages", 3], {"role": "user", "content": "in between"}),
        (["unknown"], 1),
    ],
)
def test_the_judge_is_awake(path: list[Any], value: Any) -> None:
    with pytest.raises((ValidationError, AssertionError, ValueError)):
        check_openai(_broken(path, value))
