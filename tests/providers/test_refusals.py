"""A refusal is repaired and the answer arrives, or it is explained and nobody is asked again."""

import json
import logging
import time
from copy import deepcopy
from dataclasses import replace

import pytest
from django.utils import translation

from chat.engine.adjusting_provider import AdjustingProvider
from chat.engine.files import AcceptedFiles
from chat.engine.refused import ReadDocument
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
from chat.providers.adjusting import adjust_body
from chat.providers.http import Http
from chat.providers.refusals import find_adjustment
from chat.providers.registry import Connection, connect
from chat.rendering.adjustments import adjustment_text
from chat.rendering.errors import error_text
from tests.providers.asking import WEATHER, Answer, Naps, ask
from tests.providers.recorded_refusals import (
    EXPLAINED,
    GPT_TOOLS,
    OF_THOUGHTS,
    PIXELS,
    REPAIRED,
    Refusal,
    openai,
)
from tests.support.model_server import Received, Reply, ScriptedProvider, refuse, reply

MODELS = {"anthropic": "claude-opus-4-8", "responses": "gpt-5.6-sol"}
CALL = ToolCallBlock("call_1", "get_weather", {"city": "Rome"})
PICTURE = FileBlock("image/png", PIXELS, "view.png")
PAPER = FileBlock("application/pdf", "data:application/pdf;base64,JVBERi0=", "paper.pdf")
THOUGHT = ReasoningBlock("Rome.", {"signature": "s"})


def asked(wire: str, refusal: Refusal | None = None) -> ModelRequest:
    """A request with all that a server could dislike."""
    question = ModelMessage("user", (TextBlock("What is there?"), PICTURE, PAPER))
    request = ModelRequest(
        model=MODELS.get(wire, "scripted-small"),
        messages=(
            question,
            ModelMessage("assistant", (THOUGHT, CALL)),
            ModelMessage("tool", (ToolResultBlock("call_1", "get_weather", "Sunny"),)),
        ),
        system="Be brief.",
        tools=(WEATHER,),
        temperature=0.3,
        output_limit=9000,
        cache_key="a talk",
    )
    return replace(request, **refusal.asked) if refusal else request


def opened(
    server: ScriptedProvider,
    http: Http,
    wire: str,
    naps: Naps,
    pinned: bool = False,
    read: ReadDocument | None = None,
) -> AdjustingProvider:
    kind = "openai" if wire == "responses" else wire
    base = server.root if wire == "ollama" else server.base_url
    set_wire = "responses" if wire == "responses" else "chat" if pinned else "auto"
    first = Connection(kind, base, wire=set_wire)

    def connected(adjustments: Adjustments) -> ModelProvider:
        provider = connect(replace(first, adjustments=adjustments), http, naps.policy)
        return XmlToolProvider(provider, [WEATHER]) if has(adjustments, "tools") else provider

    accepted = AcceptedFiles(images=("image/png",), pdf=True)
    return AdjustingProvider(
        connected,
        accepted=accepted,
        read_document=read,
        can_change_wire=first.can_change_wire,
    )


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
    given = await ask(
        opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire, refusal)
    )
    assert given.error is None, given.error
    assert given.text == "Repaired."
    assert refusal.adjustment is not None
    assert learnt(given) == [refusal.adjustment] * refusal.adjustment.lasts
    assert len(scripted_provider.requests) == 2
    assert naps.taken == []
    before, after = (set(request.json) for request in scripted_provider.requests)
    if refusal.adjustment.kind == "drop":
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
        given = await ask(
            opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire, refusal)
        )
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


@pytest.mark.parametrize(
    ("words", "lasts"),
    [
        ("Encrypted PDF files are not supported.", False),
        ("The file is not supported: it has too many pages.", False),
        ("This endpoint does not support PDF files larger than 5 MB.", False),
        ("The model does not support PDF files with more than 100 pages", False),
        ("This model does not support PDF files.", True),
        ("File input is not supported by this model", True),
        ("Unsupported content part type: file", True),
    ],
)
async def test_what_may_be_said_of_one_file_is_not_remembered_of_the_model(
    words: str, lasts: bool, scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    def answer(request: Received) -> Reply:
        sends_file = '"file"' in json.dumps(request.json["messages"])
        return refuse(400, {"error": {"message": words}}) if sends_file else reply("Without it.")

    scripted_provider.answer = answer
    given = await ask(opened(scripted_provider, http, "openai", naps), asked("openai"))
    assert given.text == "Without it."
    assert learnt(given) == ([Adjustment("documents")] if lasts else [])


LOCKED = "messages.0.content.1.pdf.source.base64.data: The PDF specified is password protected."
ODD = FileBlock("application/pdf", "data:application/pdf;base64,JVBERg==", "odd.pdf")


async def _text_of(block: FileBlock) -> str:
    return "" if block is ODD else f"[The text of {block.filename}]"


@pytest.mark.parametrize(
    ("wire", "words", "sent"),
    [
        ("anthropic", LOCKED, {"paper.pdf": "file", "view.png": "file"}),
        ("anthropic", "Could not process PDF", {"paper.pdf": "text", "view.png": "file"}),
        (
            "responses",
            "Invalid file data: 'input[0].content[1].file_data'. Expected a base64-encoded value.",
            {"paper.pdf": "file", "view.png": "file"},
        ),
        ("openai", "Encrypted PDF files are not supported", {"paper.pdf": "text"}),
    ],
)
async def test_a_file_that_is_refused_is_left_out_and_the_others_are_sent(
    wire: str,
    words: str,
    sent: dict[str, str],
    scripted_provider: ScriptedProvider,
    http: Http,
    naps: Naps,
) -> None:
    """The one that is named, else all of its kind: as text, where they have one."""
    odd = "JVBERg=="

    def answer(request: Received) -> Reply:
        refused = odd in json.dumps(request.json)
        return refuse(400, openai(words)) if refused else reply("Without it.")

    scripted_provider.answer = answer
    words_of = ModelMessage("user", (TextBlock("Both?"), ODD, PAPER, PICTURE))
    request = replace(asked(wire), messages=(words_of,))
    given = await ask(opened(scripted_provider, http, wire, naps, read=_text_of), request)
    assert given.text == "Without it."
    assert learnt(given) == [], "it is said of a file, not of the model"
    assert len(scripted_provider.requests) == 2
    body = scripted_provider.requests[-1].body.decode()
    assert "[Attached odd.pdf: the provider could not read this file]" in body
    assert ("JVBERi0=" in body) == (sent["paper.pdf"] == "file")
    assert ("[The text of paper.pdf]" in body) == (sent["paper.pdf"] == "text")
    assert "iVBORw0KGgo=" in body


async def test_a_picture_of_a_tool_that_is_refused_is_left_out_of_its_result(
    scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    words = "messages.2.content.0.tool_result.content.1.image.source.base64.data: Image format "
    words += "image/png not supported"

    def answer(request: Received) -> Reply:
        refused = "iVBORw0KGgo=" in json.dumps(request.json["messages"][2])
        return refuse(400, openai(words)) if refused else reply("Without it.")

    scripted_provider.answer = answer
    question, called, _ = asked("anthropic").messages
    result = ToolResultBlock("call_1", "get_weather", "Sunny", files=(PICTURE,))
    other = replace(PICTURE, url="data:image/png;base64,AAAA")
    question = replace(question, content=(TextBlock("What?"), other))
    request = replace(
        asked("anthropic"), messages=(question, called, ModelMessage("tool", (result,)))
    )
    given = await ask(opened(scripted_provider, http, "anthropic", naps), request)
    assert given.text == "Without it."
    first, _, third = scripted_provider.requests[-1].json["messages"]
    assert first["content"][1]["source"]["data"] == "AAAA"
    note = "[Attached view.png: the provider could not read this file]"
    assert third["content"][0]["content"] == f"Sunny\n{note}"


def _thinking(wire: str, words: str) -> ReasoningBlock:
    if wire == "anthropic":
        return ReasoningBlock(words, {"signature": f"signed {words}"})
    item = {"type": "reasoning", "summary": [], "encrypted_content": f"signed {words}"}
    return ReasoningBlock(words, {"signature": "", "item": item})


@pytest.mark.parametrize("how_many", ["earlier", "all"])
@pytest.mark.parametrize("name", OF_THOUGHTS)
async def test_thoughts_that_are_of_no_use_any_more_do_not_end_a_conversation(
    name: str,
    how_many: str,
    scripted_provider: ScriptedProvider,
    http: Http,
    naps: Naps,
) -> None:
    """They belong to an account, and to a conversation as it was: those of earlier turns go first,
    and all where that is not enough. The words and calls they led to stay; OpenAI takes no search
    of its own back without the thought that led to it."""
    wire = OF_THOUGHTS[name].wire
    bad = "signed old" if how_many == "earlier" else "signed"

    def answer(request: Received) -> Reply:
        refused = bad in request.body.decode()
        return stubborn(OF_THOUGHTS[name]) if refused else reply("Without them.")

    scripted_provider.answer = answer
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    block = {"type": "compaction", "content": "A web_search."}
    kept = {"signature": "", "item": searched, "block": block}
    request = replace(
        asked(wire),
        messages=(
            ModelMessage("user", (TextBlock("One?"),)),
            ModelMessage(
                "assistant",
                (_thinking(wire, "old"), ReasoningBlock("", kept), TextBlock("First."), CALL),
            ),
            ModelMessage("tool", (ToolResultBlock("call_1", "get_weather", "Sunny"),)),
            ModelMessage("assistant", (_thinking(wire, "old too"),)),
            ModelMessage("user", (TextBlock("Two?"),)),
            ModelMessage("assistant", (_thinking(wire, "new"), replace(CALL, call_id="call_2"))),
            ModelMessage("tool", (ToolResultBlock("call_2", "get_weather", "Windy"),)),
        ),
    )
    given = await ask(opened(scripted_provider, http, wire, naps), request)
    assert given.error is None, given.error
    assert given.text == "Without them."
    assert learnt(given) == []
    sent = scripted_provider.requests[-1].body.decode()
    assert ("signed new" in sent) == (how_many == "earlier")
    assert all(words in sent for words in ("First.", "Sunny", "Windy", "call_2"))
    assert ("web_search" in sent) == (wire == "anthropic")
    assert len(scripted_provider.requests) == (2 if how_many == "earlier" else 3)


@pytest.mark.parametrize("name", REPAIRED)
async def test_a_repair_that_does_not_help_is_tried_once_and_not_kept(
    name: str, scripted_provider: ScriptedProvider, http: Http, naps: Naps
) -> None:
    refusal = REPAIRED[name]
    scripted_provider.answer = stubborn(refusal)
    given = await ask(
        opened(scripted_provider, http, refusal.wire, naps), asked(refusal.wire, refusal)
    )
    assert given.error is not None
    assert learnt(given) == []
    # Another wire, what is done instead, and a switch where no step is right, are things to try.
    assert refusal.adjustment is not None
    tried = {"wire": 3, "file": 2, "choices": 2}.get(refusal.adjustment.kind, 1)
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


SHOWN = {"type": "adaptive", "display": "summarized"}
OFF_BODIES: list[tuple[dict[str, object], str, str | bool]] = [
    ({"reasoning": {"enabled": False}}, "reasoning.enabled", False),
    ({"reasoning": {"effort": "none"}}, "reasoning.effort", "none"),
    ({"thinking": {"type": "disabled"}}, "thinking.type", "disabled"),
    ({"enable_thinking": False}, "enable_thinking", False),
    ({"think": False}, "think", False),
]
NAMED: list[tuple[str, dict[str, object], Adjustment | None]] = [
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
        '"thinking.type.disabled" is not supported for this model.',
        {"thinking": {"type": "disabled"}},
        Adjustment("choices", "thinking.type", ("adaptive",)),
    ),
    (
        "`thinking.type` must be adaptive or between_tools: use between_tools to turn it off.",
        {"thinking": {"type": "disabled"}},
        Adjustment("choices", "thinking.type", ("adaptive", "between_tools")),
    ),
    (
        "between_tools does not go with this effort",
        {"thinking": {"type": "adaptive"}},
        None,
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
    *(
        (
            "Reasoning is mandatory for this endpoint and cannot be disabled.",
            body,
            Adjustment("drop", name, off),
        )
        for body, name, off in OFF_BODIES
    ),
    (
        "Reasoning is mandatory for this endpoint and cannot be disabled.",
        {"reasoning": {"effort": "high"}},
        None,
    ),
    ("Unsupported tool type 'web_search'", {"tools": [{"type": "function"}]}, None),
    (
        "'claude-haiku-4-5' does not support programmatic tool calling.",
        {"tools": [{"type": "web_search_20260318"}, {"type": "code_execution_20260521"}]},
        Adjustment("server_tool", "code_execution"),
    ),
    (
        "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags",
        {"thinking": {"type": "adaptive"}, "tools": [{"type": "web_search_20260318"}]},
        Adjustment("thinking", value="enabled"),
    ),
    (
        "thinking.type: Input should be 'adaptive' or 'disabled'",
        {"thinking": {"type": "enabled", "budget_tokens": 4096}},
        Adjustment("thinking", value="adaptive"),
    ),
    (
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000",
        {"max_tokens": 8192},
        None,  # nothing is left for an answer: the conversation is shortened
    ),
    (
        'invalid think value: "high" (must be a boolean)',
        {"think": "high"},
        Adjustment("choices", "think", ("on",)),
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


@pytest.mark.parametrize(
    ("kinds", "asked_for", "sent"),
    [
        (("adaptive",), {"type": "disabled"}, None),
        (("adaptive", "between_tools"), {"type": "disabled"}, {"type": "between_tools"}),
        (("adaptive",), SHOWN, SHOWN),
        (("adaptive", "between_tools"), SHOWN, SHOWN),
    ],
)
def test_who_cannot_be_kept_from_thinking_still_shows_its_thoughts(
    kinds: tuple[str, ...], asked_for: dict[str, str], sent: dict[str, str] | None
) -> None:
    """What was refused of a request without thinking changes nothing of the others."""
    adjustments = (Adjustment("choices", "thinking.type", kinds),)
    body = adjust_body({"model": "m", "thinking": asked_for}, adjustments)
    assert body.get("thinking") == sent


@pytest.mark.parametrize(
    ("adjustment", "body", "sent"),
    [
        # What was refused of a request that shall not think changes nothing of the others.
        (
            Adjustment("drop", "reasoning.enabled", False),
            {"reasoning": {"enabled": True}},
            {"reasoning": {"enabled": True}},
        ),
        (Adjustment("drop", "reasoning.enabled", False), {"reasoning": {"enabled": False}}, {}),
        (Adjustment("choices", "think", ("on",)), {"think": "low"}, {"think": True}),
        (Adjustment("choices", "think", ("on",)), {"think": False}, {"think": False}),
        (Adjustment("choices", "think", ("on",)), {}, {}),
        # Who shall not think is not made to.
        (
            Adjustment("thinking", value="enabled"),
            {"max_tokens": 9000, "thinking": {"type": "disabled"}},
            {"max_tokens": 9000, "thinking": {"type": "disabled"}},
        ),
        # Thoughts are part of the answer.
        (
            Adjustment("limit", "max_tokens", 6000),
            {"max_tokens": 40_000, "thinking": {"type": "enabled", "budget_tokens": 30_000}},
            {"max_tokens": 6000, "thinking": {"type": "enabled", "budget_tokens": 3000}},
        ),
        (
            Adjustment("limit", "max_tokens", 1500),
            {"max_tokens": 40_000, "thinking": {"type": "enabled", "budget_tokens": 30_000}},
            {"max_tokens": 1500},
        ),
    ],
)
def test_only_what_was_refused_is_sent_otherwise(
    adjustment: Adjustment, body: dict[str, object], sent: dict[str, object]
) -> None:
    before = deepcopy(body)
    assert adjust_body(body, (adjustment,)) == sent
    assert body == before


def test_every_adjustment_is_told_to_administrators() -> None:
    found = [each.adjustment for each in REPAIRED.values() if each.adjustment]
    others = [Adjustment("window", value=8192), Adjustment("file"), Adjustment("thoughts")]
    for adjustment in [*found, *others]:
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
