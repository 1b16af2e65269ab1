"""One task on every wire: the same parts, the same page, and thoughts that go back."""

import re
from typing import Any

import pytest

from chat.models import LanguageModel, Part, Provider
from tests.providers import anthropic_stream as anthropic
from tests.providers.responses_stream import added, delta, done, ended, stream
from tests.providers.sdk_types import check_anthropic, check_openai, check_responses
from tests.support import factories as make
from tests.support.model_server import Call, Received, Reply, Think, refuse, reply
from tests.support.page import LivePage, lines_of
from tests.support.site import Site
from tests.support.tabs import in_thread

WIRES: dict[str, dict[str, Any]] = {
    "chat": {"kind": "openai", "wire": "chat"},
    "responses": {"kind": "openai", "wire": "responses"},
    "anthropic": {"kind": "anthropic"},
    "ollama": {"kind": "ollama"},
}
# The chat wire of a model without tools of its own: calls are written as text.
XML = "xml"
MODELS = {"responses": "gpt-5.6-sol", "anthropic": "claude-opus-4-8"}
QUESTION = "How much is six times seven?"


def _speak(wire: str, root: str) -> None:
    address = root if wire == "ollama" else f"{root}/v1"
    spoken = WIRES["chat" if wire == XML else wire]
    Provider.objects.filter(name="Scripted").update(base_url=address, **spoken)
    model = LanguageModel.objects.filter(provider__name="Scripted")
    # Not only `update`: the catalog in memory must see another row.
    model.update(model_id=MODELS.get(wire, "scripted-small"), native_tools=wire != XML)


speak = in_thread(_speak)


def _parts() -> list[tuple[Any, ...]]:
    rows = Part.objects.filter(message__role="assistant").order_by("message__position", "position")
    return [
        (row.type, row.text, row.tool, row.tool_status, row.data.get("state", {}).get("output"))
        for row in rows
    ]


stored = in_thread(_parts)


def newest(request: Received) -> Reply | None:
    """What the newest models refuse, as they refuse it."""
    body = request.json
    if request.path.endswith("/chat/completions") and body.get("tools"):
        message = (
            "Function tools with reasoning_effort are not supported for gpt-5.6 in "
            "/v1/chat/completions. To use function tools, use /v1/responses."
        )
        return refuse(400, {"error": {"message": message, "param": "reasoning_effort"}})
    if "temperature" in body or "top_p" in body:
        return refuse(400, {"error": {"message": "Unsupported parameter: 'temperature'"}})
    if request.path.endswith("/messages"):
        check_anthropic(body)
        # Nothing of a thought is shown to who does not ask for it.
        if body.get("thinking") != {"type": "adaptive", "display": "summarized"}:
            return reply("I did not think aloud.")
    if request.path.endswith("/responses"):
        check_responses(body)
        assert body["reasoning"] == {"summary": "auto"}
    return None


TASK = (
    reply(Think("Multiply.", signature="opaque"), Call("calculator", {"expression": "6*7"}, "c1")),
    reply("It is **42**."),
)
XML_TASK = (
    reply(Think("Multiply."), "<calculator><expression>6*7</expression></calculator>"),
    reply("It is **42**."),
)


@pytest.mark.parametrize("wire", [*WIRES, XML])
async def test_the_same_task_is_the_same_on_every_wire(site: Site, wire: str) -> None:
    """A2, A3: stored alike, and the page a tab ends up with is the page drawn afresh."""
    await speak(wire, site.provider.root)
    tab = await site.tab()
    site.provider.script(*(XML_TASK if wire == XML else TASK))
    await tab.send(QUESTION)
    await tab.sees_the_end()
    assert await stored() == [
        ("step-start", "", "", "", None),
        ("reasoning", "Multiply.", "", "", None),
        ("tool", "", "calculator", "completed", "42"),
        ("step-finish", "", "", "", None),
        ("step-start", "", "", "", None),
        ("text", "It is **42**.", "", "", None),
        ("step-finish", "", "", "", None),
    ]
    await tab.equals_a_fresh_page()


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(
    r"\d{4}-\d\d-\d\dT[^']+|\b\d\d?:\d\d\b(?: [AP]M)?|(?:\d+ min )?\d+(?:\.\d+)? (?:ms|s)\b"
)


def drawn(page: LivePage) -> list[str]:
    """The conversation on the page without what no two answers have in common: ids, times."""
    ids: dict[str, str] = {}
    return [
        _TIME.sub("time", _UUID.sub(lambda id_: ids.setdefault(id_[0], f"id {len(ids)}"), line))
        for line in lines_of(page, "t")
    ]


async def test_the_page_of_the_same_task_is_the_same_on_every_wire(site: Site) -> None:
    """A2, A3: cards, thoughts and texts with all their marks; the model has one name on all."""
    pages = {}
    for wire in [*WIRES, XML]:
        await speak(wire, site.provider.root)
        tab = await site.tab(talk=await in_thread(make.a_conversation)(site.alice.user))
        site.provider.script(*(XML_TASK if wire == XML else TASK))
        await tab.send(QUESTION)
        await tab.sees_the_end()
        await tab.equals_a_fresh_page()
        pages[wire] = drawn(tab.page)
    assert any("Multiply." in line for line in pages["chat"])
    for wire, page in pages.items():
        assert page == pages["chat"], f"{wire} looks otherwise"


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
async def test_the_newest_models_answer_a_first_message_with_tools(site: Site, wire: str) -> None:
    """A2, A3: with their thoughts in sight, which go back to them as they came."""
    await speak(wire, site.provider.root)
    tab = await site.tab()
    answers = iter([*TASK, reply("Still 42.")])
    site.provider.answer = lambda request: newest(request) or next(answers)
    await tab.send(QUESTION)
    await tab.sees_the_end()
    assert "Multiply." in tab.page.text_of("t")
    assert "It is 42." in tab.page.text_of("t")
    await tab.send("Are you sure?")
    await tab.sees("Still 42.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    if wire == "responses":
        [thought] = [item for item in body["input"] if item.get("type") == "reasoning"]
        assert thought["encrypted_content"] == "opaque"
        assert body["prompt_cache_key"] == str(site.talk.pk)
    else:
        [thought, call] = body["messages"][1]["content"]
        assert thought["signature"] == "opaque"
        assert call["type"] == "tool_use"


@pytest.mark.parametrize(
    ("wire", "model", "place"),
    [
        ("chat", "kimi-k2-thinking", "reasoning_content"),
        ("chat", "scripted-small", None),
        ("ollama", "scripted-small", "thinking"),
    ],
)
async def test_a_model_that_thinks_on_between_its_tools_reads_what_led_to_a_call(
    site: Site, wire: str, model: str, place: str | None
) -> None:
    """A3: by the model, at an address that nobody knows."""
    await speak(wire, site.provider.root)
    await in_thread(LanguageModel.objects.filter(provider__name="Scripted").update)(model_id=model)
    tab = await site.tab()
    site.provider.script(*TASK)
    await tab.send(QUESTION)
    await tab.sees_the_end()
    [called] = [m for m in site.provider.requests[-1].json["messages"] if m.get("tool_calls")]
    told = {name: called[name] for name in ("reasoning_content", "thinking") if name in called}
    assert told == ({place: "Multiply."} if place else {})
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("streamed", [True, False])
async def test_what_is_said_on_the_way_is_told_from_the_answer(site: Site, streamed: bool) -> None:
    """GPT-5.4 and newer take a message that goes back without its phase for the answer."""
    await speak("responses", site.provider.root)
    tab = await site.tab()
    kinds = {"Let me see.": "commentary", "It is 42.": "final_answer"}
    message = {"type": "message", "role": "assistant", "id": "msg_1"}
    events = []
    for index, (words, phase) in enumerate(kinds.items()):
        text = {"type": "output_text", "text": words, "annotations": []}
        if streamed:
            events += [added(index, **message, phase=phase, content=[])]
            events += [delta(index, "output_text", piece) for piece in (words[:4], words[4:])]
        events += [done(index, **message, phase=phase, content=[text])]
    site.provider.script(stream(*events, ended()), "You are welcome.")
    await tab.send(QUESTION)
    await tab.sees("It is 42.")
    await tab.sees_the_end()
    assert [row[1] for row in await stored() if row[0] == "text"] == list(kinds)
    await tab.equals_a_fresh_page()
    await tab.send("Thanks.")
    await tab.sees("You are welcome.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_responses(body)
    said = [item for item in body["input"] if item.get("role") == "assistant"]
    assert {item["content"]: item["phase"] for item in said} == kinds

    # Another model is told the words alone.
    await speak("chat", site.provider.root)
    site.provider.script("Yes.")
    await tab.send("Sure?")
    await tab.sees("Yes.")
    await tab.sees_the_end()
    check_openai(site.provider.requests[-1].json)


ITEM = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
BLOCK = {"type": "thinking", "thinking": "", "signature": "opaque"}
WORDLESS = {
    "responses": (
        stream(added(0, **ITEM), done(0, **ITEM), delta(1, "output_text", "Yes."), ended()),
        ITEM,
    ),
    # As the newest models send them to who does not ask for a summary.
    "anthropic": (
        anthropic.stream(
            anthropic.block(
                BLOCK | {"signature": ""}, {"type": "signature_delta", "signature": "opaque"}
            ),
            anthropic.text("Yes."),
        ),
        BLOCK,
    ),
}


@pytest.mark.parametrize("wire", WORDLESS)
async def test_a_thought_without_words_draws_nothing_and_goes_back(site: Site, wire: str) -> None:
    """A3: no empty fold, in the tab that watched and in the page drawn afresh."""
    silent, thought = WORDLESS[wire]
    await speak(wire, site.provider.root)
    tab = await site.tab()
    site.provider.script(silent, "Still yes.")
    await tab.send("Really?")
    await tab.sees("Yes.")
    await tab.sees_the_end()
    assert "Thought" not in tab.page.text_of("t")
    await tab.equals_a_fresh_page()
    await tab.send("Sure?")
    await tab.sees("Still yes.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    if wire == "responses":
        check_responses(body)
        assert body["input"][1] == thought
    else:
        check_anthropic(body)
        assert body["messages"][1]["content"] == [thought, {"type": "text", "text": "Yes."}]


@pytest.mark.parametrize(
    ("model", "thinks"),
    [("grok-4-1-fast-non-reasoning", False), ("grok-4-1-fast", True), ("codex-mini-next", True)],
)
async def test_only_a_model_that_thinks_is_asked_for_its_thoughts(
    site: Site, model: str, thinks: bool
) -> None:
    """What is known of a model counts more than what its name looks like."""
    await speak("responses", site.provider.root)
    await in_thread(LanguageModel.objects.filter(provider__name="Scripted").update)(model_id=model)
    tab = await site.tab()
    site.provider.script("Yes.")
    await tab.send("Really?")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    assert [name for name in ("include", "reasoning") if name in body] == (
        ["include", "reasoning"] if thinks else []
    )


async def test_what_an_administrator_says_of_thinking_counts_more_than_a_name(site: Site) -> None:
    await speak("responses", site.provider.root)
    rows = LanguageModel.objects.filter(provider__name="Scripted")
    await in_thread(rows.update)(set_by_hand=["reasoning"])
    tab = await site.tab()
    site.provider.script("Yes.")
    await tab.send("Really?")
    await tab.sees_the_end()
    assert "reasoning" not in site.provider.requests[-1].json


async def test_the_chat_wire_is_still_taken_by_all_others(site: Site) -> None:
    tab = await site.tab()
    site.provider.script("Hello.")
    await tab.send("Hello?")
    await tab.sees_the_end()
    check_openai(site.provider.requests[-1].json)
