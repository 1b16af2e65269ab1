"""How hard a model thinks, in the words of each wire, checked by the official clients' types."""

from dataclasses import replace
from typing import Any

import pytest

from chat.protocol.effort import STEPS, Thinking
from chat.protocol.interfaces import ModelRequest
from chat.providers.anthropic import request as anthropic_request
from chat.providers.ollama import request as ollama_request
from chat.providers.openai import Quirks
from chat.providers.openai import request as openai_request
from chat.providers.presets import PRESETS
from chat.providers.responses import request as responses_request
from tests.providers.asking import WEATHER
from tests.providers.sdk_types import check_anthropic, check_openai, check_responses
from tests.providers.test_requests import TALKS

GPT = Thinking(("none", "low", "medium", "high", "xhigh"))
CLAUDE = Thinking(("none", "low", "medium", "high", "max"), "adaptive")
BETWEEN = Thinking(("none", "low", "medium", "high", "max"), "between")
OLDER = Thinking(("none", "low", "medium", "high"), "budget")
SWITCH = Thinking(("none", "on"))
SHOWN = {"type": "adaptive", "display": "summarized"}


def asked(thinking: Thinking, effort: str, **options: Any) -> ModelRequest:
    talk = TALKS["two calls at once"]
    request = ModelRequest("m", talk, system="Be kind.", tools=(WEATHER,), thinks=True)
    return replace(request, thinking=thinking, effort=effort, **options)


def quirks_of(slug: str) -> Quirks:
    return next(preset.quirks for preset in PRESETS if preset.slug == slug)


@pytest.mark.parametrize(
    ("effort", "said"),
    [
        ("", {"summary": "auto"}),
        ("none", {"effort": "none"}),
        ("xhigh", {"effort": "xhigh", "summary": "auto"}),
    ],
)
def test_responses(effort: str, said: dict[str, str]) -> None:
    body = responses_request.request_body(asked(GPT, effort, temperature=0.5))
    check_responses(body)
    assert body["reasoning"] == said
    assert body["include"] == ["reasoning.encrypted_content"]
    assert "temperature" not in body


@pytest.mark.parametrize(("effort", "said"), [("", None), ("none", "none"), ("high", "high")])
def test_chat_completions(effort: str, said: str | None) -> None:
    body = openai_request.request_body(asked(GPT, effort), quirks_of("openai"))
    check_openai(body)
    assert body.get("reasoning_effort") == said
    # OpenAI's models that think refuse any other temperature than their own.
    warm = asked(GPT, effort, temperature=0.2, thinks=False)
    assert "temperature" not in openai_request.request_body(warm, quirks_of("openai"))
    assert openai_request.request_body(warm, Quirks())["temperature"] == 0.2


@pytest.mark.parametrize("effort", ["", "none", "high"])
def test_newest_gpt_does_not_think_on_chat_completions_while_it_has_tools(effort: str) -> None:
    """It refuses the request otherwise, also one that says nothing of thinking."""
    newest = Thinking(GPT.efforts, "toolless")
    body = openai_request.request_body(asked(newest, effort), Quirks())
    check_openai(body)
    assert body["reasoning_effort"] == "none"
    without = openai_request.request_body(asked(newest, effort, tools=()), Quirks())
    assert without.get("reasoning_effort") == (effort or None)
    assert responses_request.request_body(asked(newest, "high"))["reasoning"]["effort"] == "high"


@pytest.mark.parametrize(
    ("slug", "model", "effort", "said"),
    [
        ("qwen", SWITCH, "none", {"enable_thinking": False}),
        ("qwen", SWITCH, "on", {"enable_thinking": True}),
        (
            "qwen",
            Thinking(("none", "low", "xhigh")),
            "low",
            {"enable_thinking": True, "reasoning_effort": "low"},
        ),
        ("groq", SWITCH, "none", {"reasoning_effort": "none"}),
        ("groq", SWITCH, "on", {"reasoning_effort": "default"}),
        ("deepseek", SWITCH, "none", {"thinking": {"type": "disabled"}}),
        ("deepseek", SWITCH, "on", {"thinking": {"type": "enabled"}}),
        (
            "deepseek",
            Thinking(("none", "high", "max")),
            "max",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "max"},
        ),
        ("openrouter", GPT, "none", {"reasoning": {"effort": "none"}}),
        ("openrouter", GPT, "high", {"reasoning": {"effort": "high"}}),
        ("openrouter", SWITCH, "none", {"reasoning": {"enabled": False}}),
        ("gemini", GPT, "low", {"reasoning_effort": "low"}),
        ("vllm", SWITCH, "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("custom", SWITCH, "on", {"chat_template_kwargs": {"enable_thinking": True}}),
        ("custom", GPT, "none", {"reasoning_effort": "none"}),
        ("custom", GPT, "", {}),
    ],
)
def test_other_servers_have_words_of_their_own(
    slug: str, model: Thinking, effort: str, said: dict[str, Any]
) -> None:
    plain = openai_request.request_body(asked(model, ""), quirks_of(slug))
    body = openai_request.request_body(asked(model, effort), quirks_of(slug))
    # "default" is a word of Groq's.
    check_openai({n: v for n, v in body.items() if v != "default"}, extra="ignore")
    assert body == plain | said


def test_a_step_that_only_the_model_knows_is_sent_by_its_name() -> None:
    request = asked(Thinking(("none", "default")), "default")
    assert openai_request.request_body(request, Quirks())["reasoning_effort"] == "default"


@pytest.mark.parametrize(
    ("effort", "thinking", "output"),
    [
        ("", SHOWN, None),
        ("none", {"type": "disabled"}, None),
        ("low", SHOWN, {"effort": "low"}),
        ("max", SHOWN, {"effort": "max"}),
    ],
)
def test_claude(effort: str, thinking: object, output: object) -> None:
    body = anthropic_request.request_body(asked(CLAUDE, effort))
    check_anthropic(body)
    assert (body["thinking"], body.get("output_config")) == (thinking, output)


def test_claude_that_cannot_be_kept_from_thinking_between_its_tools() -> None:
    """Sonnet 5.5 refuses that thinking is disabled."""
    off = anthropic_request.request_body(asked(BETWEEN, "none"))
    check_anthropic(off)
    assert (off["thinking"], "output_config" in off) == ({"type": "between_tools"}, False)
    low = anthropic_request.request_body(asked(BETWEEN, "low"))
    assert (low["thinking"], low["output_config"]) == (SHOWN, {"effort": "low"})


@pytest.mark.parametrize("limit", [None, 1000, 2048, 8192, 64_000])
@pytest.mark.parametrize("effort", STEPS)
def test_older_claude_is_given_a_budget_that_leaves_room_for_an_answer(
    effort: str, limit: int | None
) -> None:
    body = anthropic_request.request_body(asked(OLDER, effort, output_limit=limit))
    check_anthropic(body)
    assert limit is None or body["max_tokens"] == limit
    assert "output_config" not in body
    if effort == "none" or limit == 1000:
        assert "thinking" not in body
    else:
        assert body["thinking"]["type"] == "enabled"
        assert 1024 <= body["thinking"]["budget_tokens"] <= body["max_tokens"] // 2


def test_more_effort_is_a_larger_budget() -> None:
    bodies = [
        anthropic_request.request_body(asked(OLDER, step)) for step in ("low", "medium", "high")
    ]
    budgets = [body["thinking"]["budget_tokens"] for body in bodies]
    assert budgets == sorted(set(budgets))


def test_older_claude_does_not_begin_to_think_in_the_middle_of_its_tools() -> None:
    """It refuses results of calls that it made without a thought, when it is asked to think now."""
    made = {name: asked(OLDER, "high", messages=TALKS[name]) for name in TALKS}
    thinks = {
        name: "thinking" in anthropic_request.request_body(request)
        for name, request in made.items()
    }
    assert thinks["two calls at once"]
    assert not thinks["one call after the other"]
    assert thinks["call, answer, question"]
    assert thinks["a question right after results"]
    newer = replace(made["one call after the other"], thinking=CLAUDE)
    assert anthropic_request.request_body(newer)["thinking"] == SHOWN


def test_a_claude_that_nobody_has_described_is_known_by_its_name() -> None:
    request = replace(asked(Thinking(), ""), model="claude-opus-4-7")
    assert anthropic_request.request_body(request)["thinking"] == SHOWN
    described = replace(request, thinking=OLDER)
    assert "thinking" not in anthropic_request.request_body(described)


@pytest.mark.parametrize(
    ("effort", "said"), [("", None), ("none", False), ("on", True), ("high", "high")]
)
def test_ollama(effort: str, said: object) -> None:
    body = ollama_request.request_body(asked(Thinking(("none", "on", "high")), effort))
    assert body.get("think") == said


BODIES = {
    "chat": lambda request: openai_request.request_body(request, quirks_of("deepseek")),
    "responses": responses_request.request_body,
    "anthropic": anthropic_request.request_body,
    "ollama": ollama_request.request_body,
}


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("talk", ["two calls at once", "encrypted thinking"])
def test_another_effort_leaves_what_was_said_as_it_was(wire: str, talk: str) -> None:
    """Signed and encrypted thoughts go back as they came, and prompt caches hit."""
    body_of = BODIES[wire]
    before = body_of(asked(CLAUDE, "low", messages=TALKS[talk]))
    for effort in ("", "none", "high"):
        after = body_of(asked(CLAUDE, effort, messages=TALKS[talk]))
        for said in ("messages", "input", "tools", "system", "instructions"):
            assert after.get(said) == before.get(said)
