"""Every request is one that the official clients could have sent."""

import copy
from dataclasses import replace
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
from chat.providers.anthropic import request as anthropic_request
from chat.providers.ollama import request as ollama_request
from chat.providers.openai import Quirks
from chat.providers.openai import request as openai_request
from chat.providers.responses import request as responses_request
from tests.providers.asking import WEATHER
from tests.providers.sdk_types import (
    check_anthropic,
    check_openai,
    check_responses,
    marked,
    without_marks,
)

PNG = "data:image/png;base64,iVBORw0KGgo="
PDF = "data:application/pdf;base64,JVBERi0="
SIGNED = ReasoningBlock("Two cities.", {"signature": "sig"})
REDACTED = ReasoningBlock(
    "", {"signature": "", "block": {"type": "redacted_thinking", "data": "opaque"}}
)

ITEM = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Two cities."}],
    "encrypted_content": "opaque",
}
ENCRYPTED = ReasoningBlock("Two cities.", {"signature": "", "item": ITEM})
SEARCHED = ReasoningBlock(
    "",
    {
        "signature": "",
        "item": {
            "type": "web_search_call",
            "id": "ws_1",
            "status": "completed",
            "action": {"type": "search", "query": "weather"},
        },
    },
)
WORDLESS = ReasoningBlock(
    "Hm.", {"signature": "", "item": {"type": "reasoning", "id": "rs_2", "summary": []}}
)


def user(*blocks: Any) -> ModelMessage:
    return ModelMessage("user", tuple(TextBlock(b) if isinstance(b, str) else b for b in blocks))


def says(*blocks: Any) -> ModelMessage:
    content = tuple(TextBlock(b) if isinstance(b, str) else b for b in blocks)
    return ModelMessage("assistant", content)


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
    "encrypted thinking": (
        user("Weather?"),
        says(ENCRYPTED, CALL_A, CALL_B),
        results(RESULT_A, RESULT_B),
        says(ENCRYPTED, "Sunny in one of them."),
        user("Thanks"),
    ),
    "stopped while it thought": (user("Hello"), says("Well, ", ENCRYPTED), user("And?")),
    "stopped in a later thought": (
        user("Weather?"),
        says(SIGNED, ENCRYPTED, CALL_A),
        results(RESULT_A),
        says(SIGNED, REDACTED, ENCRYPTED),
        user("And?"),
    ),
    "stopped after a search": (user("Hello"), says(ENCRYPTED, SEARCHED, ENCRYPTED), user("And?")),
    "thinking without its words": (user("Hello"), says(WORDLESS, CALL_A), results(RESULT_A)),
    "unsigned thinking": (user("Hello"), says(ReasoningBlock("Hm"), "Hi."), user("And?")),
}


def asked(name: str, **options: Any) -> ModelRequest:
    return ModelRequest("m", TALKS[name], system="Be kind.", tools=(WEATHER,), **options)


@pytest.mark.parametrize("name", TALKS)
def test_openai_would_take_it(name: str) -> None:
    """A2, C2: every call answered, before anything else."""
    check_openai(openai_request.request_body(asked(name), Quirks()))
    body = openai_request.request_body(asked(name, temperature=0.2, output_limit=50), Quirks())
    check_openai(body)
    assert (body["temperature"], body["max_tokens"]) == (0.2, 50)


def test_who_speaks_twice_is_one_message() -> None:
    """Templates of many open models refuse it otherwise; what was sent stays the beginning."""
    talk = (
        user("Hello"),
        user("Are you there?", PICTURE),
        user("Well?"),
        says("Yes, "),
        says("I am.", CALL_A),
        results(RESULT_A),
        user("Fine."),
    )
    body = openai_request.request_body(ModelRequest("m", talk), Quirks())
    check_openai(body)
    asked, said, _, thanks = body["messages"]
    words = [each.get("text", each["type"]) for each in asked["content"]]
    assert words == ["Hello", "Are you there?", "image_url", "Well?"]
    assert said["content"] == "Yes, \n\nI am."
    assert [call["id"] for call in said["tool_calls"]] == ["call:a"]
    assert thanks["content"] == "Fine."
    items = responses_request.request_body(ModelRequest("m", talk))["input"]
    kinds = [item.get("role") or item["type"] for item in items]
    assert kinds == [
        "user", "assistant", "assistant", "function_call", "function_call_output", "user",
    ]  # fmt: skip
    types = [each["type"] for each in items[0]["content"]]
    assert types == ["input_text", "input_text", "input_image", "input_text"]


@pytest.mark.parametrize("name", TALKS)
def test_anthropic_would_take_it(name: str) -> None:
    """A2, C2: results first in the very next turn."""
    body = anthropic_request.request_body(asked(name))
    check_anthropic(body)


@pytest.mark.parametrize("name", TALKS)
@pytest.mark.parametrize("model", ["gpt-5.6-sol", "gpt-4o"])
def test_responses_would_take_it(name: str, model: str) -> None:
    """A2, C2: the same rules as on the chat wire, and no thought without what it led to."""
    request = asked(name, temperature=0.2, output_limit=50, cache_key="talk")
    body = responses_request.request_body(replace(request, model=model))
    check_responses(body)
    assert (body["max_output_tokens"], body["prompt_cache_key"]) == (50, "talk")
    assert body["store"] is False
    # Models that think are asked for it and not for a temperature; the others refuse the first.
    assert ("reasoning" in body, "temperature" in body) == (
        (True, False) if model == "gpt-5.6-sol" else (False, True)
    )


def test_encrypted_thoughts_go_back_as_they_came_in_front_of_what_they_led_to() -> None:
    body = responses_request.request_body(asked("encrypted thinking"))
    kinds = [item.get("role") or item["type"] for item in body["input"]]
    assert kinds == [
        "user", "reasoning", "function_call", "function_call", "function_call_output",
        "function_call_output", "reasoning", "assistant", "user",
    ]  # fmt: skip
    assert body["input"][1] == ITEM
    stopped = responses_request.request_body(asked("stopped while it thought"))
    assert [item["role"] for item in stopped["input"]] == ["user", "assistant", "user"]


def test_a_search_of_the_provider_goes_back_with_the_thought_that_led_to_it() -> None:
    """OpenAI refuses it otherwise, and so every turn after one that was stopped."""
    body = responses_request.request_body(asked("stopped after a search"))
    assert body["input"][1:-1] == [ITEM, SEARCHED.metadata["item"]]


def test_a_thought_without_its_words_stays_away() -> None:
    """Nothing was stored, so OpenAI would look for its id in vain."""
    body = responses_request.request_body(asked("thinking without its words"))
    assert [item.get("type") for item in body["input"]] == [
        None, "function_call", "function_call_output",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("model", "adaptive"),
    [
        ("claude-opus-4-7", True), ("claude-opus-4-6-20260205", True), ("claude-sonnet-5", True),
        ("anthropic/claude-opus-4.8", True), ("claude-sonnet-4-5-20250929", False),
        ("claude-3-5-sonnet-latest", False), ("claude-opus-4-20250514", False), ("m", False),
    ],
)  # fmt: skip
def test_claude_is_asked_to_show_its_thoughts_from_4_6_on(model: str, adaptive: bool) -> None:
    """A3: newer models send empty thoughts unless they are asked for a summary."""
    request = replace(asked("two calls at once"), model=model)
    body = anthropic_request.request_body(request)
    check_anthropic(body)
    asked_for = {"type": "adaptive", "display": "summarized"} if adaptive else None
    assert body.get("thinking") == asked_for


def test_results_come_first_even_when_something_was_said_before_them() -> None:
    talk = (user("W?"), says(CALL_A), user("Wait"), results(RESULT_A))
    request = ModelRequest("m", talk)
    body = anthropic_request.request_body(request)
    check_anthropic(body)


def test_thinking_goes_back_to_anthropic_as_it_came() -> None:
    body = anthropic_request.request_body(asked("two calls at once"))
    thinking, redacted, *_ = body["messages"][1]["content"]
    assert thinking == {"type": "thinking", "thinking": "Two cities.", "signature": "sig"}
    assert redacted == {"type": "redacted_thinking", "data": "opaque"}


def test_thinking_goes_back_to_others_only_where_it_is_required() -> None:
    """DeepSeek's own server refuses a turn with calls that comes without its thinking."""
    plain = openai_request.request_body(asked("two calls at once"), Quirks())
    assert "reasoning_content" not in plain["messages"][2]
    deepseek = Quirks(echo_reasoning="reasoning_content")
    body = openai_request.request_body(asked("two calls at once"), deepseek)
    assert body["messages"][2]["reasoning_content"] == "Two cities."
    check_openai(body, extra="ignore")


@pytest.mark.parametrize(
    ("model", "field", "expected"),
    [
        ("moonshotai/Kimi-K2-Thinking", "", "reasoning_content"),
        ("kimi-k2.6", "reasoning", "reasoning"),
        ("deepseek-ai/DeepSeek-V3.2", "", "reasoning_content"),
        ("accounts/fireworks/models/deepseek-v4-pro", "", "reasoning_content"),
        ("minimax-m2", "", "reasoning_content"),
        ("z-ai/glm-4.7", "", "reasoning_content"),
        ("openai/gpt-oss-120b", "reasoning", "reasoning"),
        ("qwen3.8-max", "", "reasoning_content"),
        # These were not trained to read what they thought before.
        ("deepseek-r1", "", None),
        ("kimi-k2-0905", "", None),
        ("llama-3.3-70b", "", None),
        ("magistral-medium", "thinking", None),
    ],
)
def test_what_led_to_a_call_is_read_again_by_models_that_think_on(
    model: str, field: str, expected: str | None
) -> None:
    """Whoever serves them: the model decides, not its address. In the field in which it came."""
    thought = ReasoningBlock("Rome, then.", {"field": field} if field else {})
    call = ToolCallBlock("a", "f", {})
    talk = (
        user("Hi"),
        says(thought, call),
        results(ToolResultBlock("a", "f", "x")),
        says(thought, "Sunny."),
    )
    body = openai_request.request_body(ModelRequest(model, talk), Quirks())
    check_openai(body, extra="ignore")
    _, called, _, answered = body["messages"]
    told = {name: called[name] for name in called if name not in ("role", "content", "tool_calls")}
    assert told == ({expected: "Rome, then."} if expected else {})
    assert set(answered) == {"role", "content"}, "without a call it is not needed"


def test_ollama_reads_what_led_to_a_call() -> None:
    talk = (
        user("Hi"),
        says(ReasoningBlock("Rome, then."), ToolCallBlock("a", "f", {})),
        results(ToolResultBlock("a", "f", "x")),
        says(ReasoningBlock("Done."), "Sunny."),
    )
    _, called, _, answered = ollama_request.request_body(ModelRequest("m", talk))["messages"]
    assert called["thinking"] == "Rome, then."
    assert "thinking" not in answered


def test_geminis_signature_goes_back_with_its_call() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    call = ToolCallBlock("a", "f", {}, {"extra_content": extra})
    request = ModelRequest("m", (user("Hi"), says(call), results(ToolResultBlock("a", "f", "x"))))
    body = openai_request.request_body(request, Quirks())
    assert body["messages"][1]["tool_calls"][0]["extra_content"] == extra


@pytest.mark.parametrize("name", TALKS)
def test_a_longer_talk_begins_with_the_shorter(name: str) -> None:
    """Prompt caches hit only when what was sent before is sent again, element by element."""
    longer = (*TALKS[name], says("Good."), user("More"))
    request = ModelRequest("m", longer, system="Be kind.", tools=(WEATHER,))
    before = openai_request.request_body(asked(name), Quirks())["messages"]
    after = openai_request.request_body(request, Quirks())["messages"]
    assert after[: len(before)] == before
    before = ollama_request.request_body(asked(name))["messages"]
    assert ollama_request.request_body(request)["messages"][: len(before)] == before
    before = responses_request.request_body(asked(name))["input"]
    assert responses_request.request_body(request)["input"][: len(before)] == before
    before = without_marks(anthropic_request.request_body(asked(name)))["messages"]
    after = without_marks(anthropic_request.request_body(request))["messages"]
    assert after[: len(before)] == before


def test_ollama_takes_arguments_as_objects_and_images_as_bare_base64() -> None:
    body = ollama_request.request_body(asked("two calls at once"))
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == {"city": "Paris"}
    assert body["messages"][3] == {"role": "tool", "tool_name": "get_weather", "content": "sunny"}
    body = ollama_request.request_body(asked("an image, a PDF and a file"))
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


def test_claude_keeps_the_tools_the_instructions_and_the_last_two_turns() -> None:
    """Four marks are allowed. The earlier turn is where the request before had its last one."""
    body = anthropic_request.request_body(asked("one call after the other", cache_key="a talk"))
    check_anthropic(body)
    assert marked(body) == ["tools", "system", "messages 2", "messages 4"]
    short = anthropic_request.request_body(asked("one question", cache_key="a talk"))
    assert marked(short) == ["tools", "system", "messages 0"]
    bare = ModelRequest("m", (user("Hi"),), cache_key="a talk")
    assert marked(anthropic_request.request_body(bare)) == ["messages 0"]


@pytest.mark.parametrize("model", ["m", "claude-sonnet-5"])
def test_what_nothing_follows_writes_nothing_to_the_cache(model: str) -> None:
    """As for a title: to write costs a quarter more."""
    request = replace(asked("one question"), model=model)
    assert "cache_control" not in str(anthropic_request.request_body(request))
    assert "cache_control" not in str(openai_request.request_body(request, Quirks()))


@pytest.mark.parametrize("model", ["anthropic/claude-opus-4.8", "claude-sonnet-5"])
@pytest.mark.parametrize("name", TALKS)
def test_claude_behind_a_gateway_keeps_as_much(name: str, model: str) -> None:
    """On the chat wire too it caches only what is marked; all else stays as it is."""
    request = replace(asked(name, cache_key="a talk"), model=model)
    body = openai_request.request_body(request, Quirks())
    check_openai(body, extra="ignore")
    plain = openai_request.request_body(asked(name), Quirks())
    assert "cache_control" not in str(plain)
    users = [n for n, message in enumerate(plain["messages"]) if message["role"] == "user"]
    for n, (message, before) in enumerate(zip(body["messages"], plain["messages"], strict=True)):
        if n in (0, *users[-2:]):
            assert str(message).count("cache_control") == 1
            content = without_marks(message["content"])
            said = before["content"]
            assert content == ([{"type": "text", "text": said}] if isinstance(said, str) else said)
        else:
            assert message == before
