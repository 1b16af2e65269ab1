"""A refusal is repaired and the answer arrives, or it is explained and nobody is asked again."""

import logging
import time
from dataclasses import replace

import pytest
from django.utils import translation

from chat.engine.adjusting_provider import AdjustingProvider
from chat.engine.files import AcceptedFiles
from chat.engine.xml_provider import XmlToolProvider
from chat.protocol.adjustments import Adjustment, Adjustments, has
from chat.protocol.interfaces import (
    Adjusted,
    FileBlock,
    ModelMessage,
    ModelProvider,
    ModelRequest,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
)
from chat.providers.http import Http
from chat.providers.refusals import find_adjustment
from chat.providers.registry import Connection, connect
from chat.rendering.adjustments import adjustment_text
from chat.rendering.errors import error_text
from tests.providers.asking import WEATHER, Answer, Naps, ask
from tests.providers.recorded_refusals import EXPLAINED, GPT_TOOLS, REPAIRED, Refusal, openai
from tests.support.model_server import Received, Reply, ScriptedProvider, refuse, reply

MODELS = {"anthropic": "claude-opus-4-8", "responses": "gpt-5.6-sol"}
CALL = ToolCallBlock("call_1", "get_weather", {"city": "Rome"})
PICTURE = FileBlock("image/png", "data:image/png;base64,iVBORw0KGgo=", "view.png")
PAPER = FileBlock("application/pdf", "data:application/pdf;base64,JVBERi0=", "paper.pdf")
THOUGHT = ReasoningBlock("Rome.", {"signature": "s"})


def asked(wire: str) -> ModelRequest:
    """A request with all that a server could dislike."""
    question = ModelMessage("user", (TextBlock("What is there?"), PICTURE, PAPER))
    return ModelRequest(
        model=MODELS.get(wire, "scripted-small"),
        messages=(
            question,
            ModelMessage("assistant", (THOUGHT, CALL)),
            ModelMessage("tool", (ToolResultBlock("call_1", "get_weather", "Sunny"),)),
        ),
        system="Be brief.",
        tools=(WEATHER,),
        temperature=0.3,
        max_output=9000,
    )


def opened(
    server: ScriptedProvider, http: Http, wire: str, naps: Naps, pinned: bool = False
) -> AdjustingProvider:
    kind = "openai" if wire == "responses" else wire
    base = server.root if wire == "ollama" else server.base_url
    set_wire = "responses" if wire == "responses" else "chat" if pinned else "auto"
    first = Connection(kind, base, wire=set_wire)

    def connected(adjustments: Adjustments) -> ModelProvider:
        provider = connect(replace(first, adjustments=adjustments), http, naps.policy)
        return XmlToolProvider(provider, [WEATHER]) if has(adjustments, "tools") else provider

    accepted = AcceptedFiles(images=("image/png",), pdf=True)
    return AdjustingProvider(connected, accepted=accepted, can_change_wire=first.can_change_wire)


def learnt(answer: Answer) -> list[Adjustment]:
    return [event.adjustment for event in answer.events if isinstance(event, Adjusted)]


def stubborn(refusal: Refusal) -> Reply:
    return refuse(refusal.status, refusal.body)


@pytest.mark.parametrize("name", REPAIRED)
async def test_a_refusal_is_repaired_by_changing_just_what_it_names(
    name: str, scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    """The answer arrives at the second request, with all else as it was; nobody has waited."""
    refusal = REPAIRED[name]
    assert refusal.to_change is not None

    def answer(request: Received) -> Reply:
        assert refusal.to_change is not None
        return stubborn(refusal) if refusal.to_change(request.json) else reply("Repaired.")

    scripted_provider.answer = answer
    given = await ask(opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire))
    assert given.error is None, given.error
    assert given.text == "Repaired."
    assert learnt(given) == [refusal.adjustment]
    assert len(scripted_provider.requests) == 2
    assert naps.taken == []
    before, after = (set(request.json) for request in scripted_provider.requests)
    if refusal.adjustment and refusal.adjustment.kind == "drop":
        assert before - after <= {refusal.adjustment.name.split(".")[0]}
        assert after <= before


@pytest.mark.parametrize("name", EXPLAINED)
async def test_a_refusal_that_cannot_be_repaired_is_explained_and_not_asked_again(
    name: str,
    scripted_provider: ScriptedProvider,
    http: Http,
    naps: Naps,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A12: one clear sentence in both languages."""
    refusal = EXPLAINED[name]
    scripted_provider.answer = stubborn(refusal)
    with caplog.at_level(logging.ERROR):
        given = await ask(opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire))
    assert given.fault == refusal.fault
    assert given.error is not None
    assert len(scripted_provider.requests) == 1
    sentences = set()
    for language in ("en", "zh-hans"):
        with translation.override(language):
            sentences.add(error_text(given.error.key, given.error.data))
    assert len(sentences) == 2
    assert "…" not in "".join(sentences)
    # What breaks the rules of a wire is our own fault.
    assert bool(caplog.records) == (refusal.fault == "malformed_request")


def test_so_many_refusals_are_known() -> None:
    assert len(REPAIRED) + len(EXPLAINED) >= 60


async def test_several_dislikes_are_repaired_one_after_the_other(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    names = ["the limit has another name", "only one temperature", "no system role"]

    def answer(request: Received) -> Reply:
        for refusal in (REPAIRED[name] for name in names):
            if refusal.to_change and refusal.to_change(request.json):
                return stubborn(refusal)
        return reply("At last.")

    scripted_provider.answer = answer
    provider = opened(scripted_provider, http, "openai", naps)
    given = await ask(provider, asked("openai"))
    assert given.text == "At last."
    assert learnt(given) == [REPAIRED[name].adjustment for name in names]
    # From then on it is asked in the right way at once.
    assert (await ask(provider, asked("openai"))).text == "At last."
    assert len(scripted_provider.requests) == 5


@pytest.mark.parametrize("name", REPAIRED)
async def test_a_repair_that_does_not_help_is_tried_once_and_not_kept(
    name: str, scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    refusal = REPAIRED[name]
    scripted_provider.answer = stubborn(refusal)
    given = await ask(opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire))
    assert given.error is not None
    assert learnt(given) == []
    # Another wire, and what is done instead, are two things to try.
    tried = 3 if refusal.adjustment and refusal.adjustment.kind == "wire" else 1
    assert len(scripted_provider.requests) <= 1 + tried


async def test_where_there_is_no_other_wire_thinking_is_given_up_for_tools(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    """GPT-5.6 behind a gateway that knows Chat Completions alone."""

    def answer(request: Received) -> Reply:
        if request.path.endswith("/responses"):
            return refuse(404, {"detail": "Not Found"})
        if request.json.get("reasoning_effort") != "none":
            return refuse(400, openai(GPT_TOOLS, "reasoning_effort"))
        return reply("Without thinking.")

    scripted_provider.answer = answer
    given = await ask(opened(scripted_provider, http, "openai", naps), asked("openai"))
    assert given.text == "Without thinking."
    assert learnt(given) == [Adjustment("set", "reasoning_effort", "none")]


async def test_a_wire_that_somebody_has_set_is_kept(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    def answer(request: Received) -> Reply:
        if request.json.get("reasoning_effort") != "none":
            return refuse(400, openai(GPT_TOOLS, "reasoning_effort"))
        return reply("On chat.")

    scripted_provider.answer = answer
    provider = opened(scripted_provider, http, "openai", naps, pinned=True)
    assert (await ask(provider, asked("openai"))).text == "On chat."
    assert {request.path for request in scripted_provider.requests} == {"/v1/chat/completions"}


async def test_nothing_is_repaired_once_the_answer_has_begun(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    said = {"error": {"message": "Unsupported parameter: 'temperature'"}}
    scripted_provider.script(reply("Half", finish=None, done=False), refuse(400, said))
    given = await ask(opened(scripted_provider, http, "openai", naps), asked("openai"))
    assert (given.text, given.fault) == ("Half", "cut_off")
    assert len(scripted_provider.requests) == 1


EFFORTS = "Supported values are: 'none', 'low', 'medium', 'high', and 'xhigh'."
NAMED: list[tuple[str, dict[str, object], Adjustment | None]] = [
    (
        f"Unsupported value: 'minimal' is not supported with the 'gpt-5.6' model. {EFFORTS}",
        {"reasoning": {"effort": "minimal", "summary": "auto"}},
        Adjustment("choices", "reasoning.effort", ("none", "low", "medium", "high", "xhigh")),
    ),
    (
        "Model grok-4-latest does not support parameter reasoningEffort.",
        {"reasoning_effort": "high"},
        Adjustment("drop", "reasoning_effort"),
    ),
    (
        "This model does not support the effort parameter.",
        {"output_config": {"effort": "high"}},
        Adjustment("drop", "output_config.effort"),
    ),
    (
        "'messages.1' : property 'reasoning_content' is unsupported",
        {"messages": [{"role": "user"}, {"role": "assistant", "reasoning_content": "x"}]},
        Adjustment("drop", "messages.reasoning_content"),
    ),
    (
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive"',
        {"thinking": {"type": "enabled", "budget_tokens": 4096}},
        Adjustment("thinking", value="adaptive"),
    ),
    (
        "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
        {"temperature": 0.3, "thinking": {"type": "adaptive"}},
        Adjustment("drop", "temperature"),
    ),
    (
        "'temperature' is deprecated for this model.",
        {"temperature": 0.3},
        Adjustment("drop", "temperature"),
    ),
    ('"qwen2.5:7b" does not support thinking', {"think": "high"}, Adjustment("drop", "think")),
    (
        "Extra inputs are not permitted",  # what is not permitted is not said
        {"temperature": 0.3},
        None,
    ),
    (
        "system.0.cache_control: Extra inputs are not permitted",
        {"system": [{"type": "text", "cache_control": {"type": "ephemeral"}}]},
        Adjustment("drop", "*.cache_control"),
    ),
    ("Unsupported parameter: 'model'", {"model": "x"}, None),
    ("The weather is not supported with sunshine", {"temperature": 0.3}, None),
]


@pytest.mark.parametrize(("words", "body", "expected"), NAMED)
def test_what_a_refusal_names_is_found(
    words: str, body: dict[str, object], expected: Adjustment | None
) -> None:
    assert find_adjustment(words.lower(), body) == expected


def test_every_adjustment_is_told_to_administrators() -> None:
    found = [each.adjustment for each in REPAIRED.values() if each.adjustment]
    for adjustment in [*found, Adjustment("window", value=8192)]:
        texts = set()
        for language in ("en", "zh-hans"):
            with translation.override(language):
                texts.add(adjustment_text(adjustment))
        assert len(texts) == 2, adjustment


@pytest.mark.parametrize(
    "words",
    [
        '"loc": ["body", ' + "a" * 400 + " ",
        '"loc": ["body", ' + '"a", ' * 300,
        "maximum context length is , tokens",
        "max_tokens" + " at most" * 200,
        "'" * 1900,
        "[" * 1900 + " is not supported",
        "a." * 900 + " is not supported",
    ],
)
def test_no_words_of_a_server_hold_everybody(words: str) -> None:
    """They are looked through on the event loop: in a moment, whatever they are."""
    start = time.process_time()
    find_adjustment(words[:2000], {"messages": []})
    assert time.process_time() - start < 1
