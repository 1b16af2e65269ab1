"""What a provider does itself: ordinary cards, marked as its own, and blocks that go back."""

from base64 import b64encode
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from chat.models import Attachment, LanguageModel, ModelAdjustment, Part
from tests.connecting.test_every_wire import speak
from tests.live.test_notes import cards, words
from tests.providers import anthropic_stream as anthropic
from tests.providers import responses_stream as responses
from tests.providers.sdk_types import check_anthropic, check_responses
from tests.support.model_server import Gate, Reply, Wait, refuse, reply
from tests.support.sample_files import PNG
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread

ROME = "https://example.org/rome"
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "title": "On Rome",
            "url": ROME,
            "encrypted_content": "opaque",
            "page_age": None,
        }
    ],
}
QUERY = {"type": "input_json_delta", "partial_json": '{"query": "age of Rome"}'}
CODE = {
    "type": "server_tool_use", "id": "srvtoolu_2", "name": "bash_code_execution", "input": {}
}  # fmt: skip
RAN = {
    "type": "bash_code_execution_tool_result",
    "tool_use_id": "srvtoolu_2",
    "content": {
        "type": "bash_code_execution_result",
        "stdout": "2779\n",
        "stderr": "",
        "return_code": 0,
        "content": [],
    },
}
COMMAND = {"type": "input_json_delta", "partial_json": '{"command": "expr 2026 + 753"}'}
LOST = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
}


def on_anthropic() -> Reply:
    return anthropic.stream(
        anthropic.text("Let me look."),
        anthropic.block(SEARCH, QUERY),
        anthropic.block(FOUND),
        anthropic.block(CODE, COMMAND),
        anthropic.block(RAN),
        anthropic.text("Rome is 2779 years old.", anthropic.page(ROME, "On Rome")),
    )


WEB = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {
        "type": "search",
        "query": "age of Rome",
        "sources": [{"type": "url", "url": ROME}],
    },
}
INTERPRETER = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "code": "print(2026 + 753)",
    "container_id": "cntr_1",
    "outputs": [{"type": "logs", "logs": "2779"}],
}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}


def on_responses() -> Reply:
    return responses.stream(
        responses.added(0, **THOUGHT),
        responses.done(0, **THOUGHT),
        responses.added(1, **{**WEB, "status": "in_progress", "action": {"type": "search"}}),
        responses.done(1, **WEB),
        responses.added(2, **{**INTERPRETER, "status": "in_progress", "outputs": None}),
        responses.done(2, **INTERPRETER),
        responses.added(3, **MESSAGE),
        responses.delta(3, "output_text", "Rome is 2779 years old."),
        responses.done(3, **MESSAGE, content=[]),
        responses.ended(usage={"input_tokens": 40, "output_tokens": 9}),
    )


@in_thread
def allow(*tools: str) -> None:
    for row in LanguageModel.objects.filter(provider__name="Scripted"):
        row.server_tools = list(tools)
        row.save(update_fields=["server_tools"])


def tags(card: Element) -> list[str]:
    return [
        "".join(each.itertext()) for each in card.iter() if "tag" in each.get("class", "").split()
    ]


async def answered(site: Site, wire: str, *replies: Reply) -> Tab:
    await speak(wire, site.provider.root)
    tab = await site.tab()
    site.provider.script(*replies)
    await tab.send("How old is Rome?")
    await tab.sees_the_end()
    return tab


SCRIPTS = {"anthropic": on_anthropic, "responses": on_responses}


@pytest.mark.parametrize("wire", SCRIPTS)
async def test_they_are_cards_marked_as_the_providers_own(wire: str, site: Site) -> None:
    await speak(wire, site.provider.root)
    other = await site.tab()
    tab = await answered(site, wire, SCRIPTS[wire]())
    search, code = cards(tab.page)
    assert tags(search) == tags(code) == ["by the provider"]
    assert "Web search" in words(search)
    assert "age of Rome" in words(search)
    assert ROME in [link.get("href") for link in search.iter()]
    assert "2779" in words(code)
    await equal_pages(tab, other)
    await tab.equals_a_fresh_page()
    assert len(site.provider.requests) == 1, "nothing was left for us to run"
    steps = await in_thread(lambda: Part.objects.filter(type="step-finish").count())()
    assert steps == 1, "one request is one step, counted once"


DRAWN = b64encode(PNG).decode()
PLOTTED = INTERPRETER | {
    "outputs": [
        {"type": "logs", "logs": "2779"},
        {"type": "image", "url": f"data:image/png;base64,{DRAWN}"},
        {"type": "image", "url": "https://files.example.org/plot.png"},
        {"type": "image", "url": "data:image/png;base64,???"},
    ]
}
PAINTED = {
    "type": "image_generation_call",
    "id": "ig_1",
    "status": "completed",
    "revised_prompt": "The seven hills, at dawn",
    "result": DRAWN,
}


async def test_the_pictures_of_a_provider_are_kept_and_shown(site: Site) -> None:
    """Those that come with the answer; one that is kept elsewhere is named."""
    await speak("responses", site.provider.root)
    other = await site.tab()
    drawn = responses.stream(
        responses.added(0, **{**PLOTTED, "status": "in_progress", "outputs": None}),
        responses.done(0, **PLOTTED),
        responses.added(1, **{**PAINTED, "status": "in_progress", "result": None}),
        responses.done(1, **PAINTED),
        responses.ended(usage={"input_tokens": 40, "output_tokens": 9}),
    )
    tab = await answered(site, "responses", drawn)
    plot, painting = cards(tab.page)
    rows = await in_thread(list)(Attachment.objects.order_by("pk"))
    assert [(row.owner_id, row.mime) for row in rows] == [(site.alice.user.pk, "image/png")] * 2
    shown = [next(card.iter("img")).get("src") for card in (plot, painting)]
    assert shown == [f"/attachments/{row.pk}/?shown" for row in rows]
    assert "2779" in words(plot)
    assert "https://files.example.org/plot.png" in words(plot)
    assert "Picture" in words(painting)
    assert "The seven hills, at dawn" in words(painting)
    assert tags(painting) == ["by the provider"]
    await equal_pages(tab, other)
    await tab.equals_a_fresh_page()


async def test_their_blocks_go_back_to_claude_as_they_came(site: Site) -> None:
    tab = await answered(site, "anthropic", on_anthropic(), reply("Yes."))
    await tab.send("Sure?")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_anthropic(body)
    [answer] = [turn["content"] for turn in body["messages"] if turn["role"] == "assistant"]
    assert answer[1:5] == [
        SEARCH | {"input": {"query": "age of Rome"}},
        FOUND,
        CODE | {"input": {"command": "expr 2026 + 753"}},
        RAN,
    ]
    assert [block["type"] for block in answer[::5]] == ["text", "text"]


async def test_their_items_go_back_on_responses_as_they_came(site: Site) -> None:
    tab = await answered(site, "responses", on_responses(), reply("Yes."))
    await tab.send("Sure?")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_responses(body)
    asked, *kept, said, sure = body["input"]
    assert kept == [THOUGHT, WEB, INTERPRETER]
    assert [item["role"] for item in (asked, said, sure)] == ["user", "assistant", "user"]


async def test_another_model_is_told_of_them_as_of_any_call(site: Site) -> None:
    tab = await answered(site, "anthropic", on_anthropic(), reply("Yes."))
    await speak("chat", site.provider.root)
    await tab.send("Sure?")
    await tab.sees_the_end()
    messages = site.provider.requests[-1].json["messages"]
    calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    results = [each["tool_call_id"] for each in messages if each["role"] == "tool"]
    assert calls == results == ["srvtoolu_1", "srvtoolu_2"]
    assert "opaque" not in str(messages)


ASKED: dict[str, tuple[Any, ...]] = {
    "anthropic": (
        {
            "type": "web_search_20260318",
            "name": "web_search",
            "allowed_callers": ["direct"],
        },
    ),
    "responses": ({"type": "web_search"},),
}


@pytest.mark.parametrize("wire", ASKED)
async def test_they_are_asked_for_only_where_an_administrator_allows_them(
    wire: str, site: Site
) -> None:
    check = {"anthropic": check_anthropic, "responses": check_responses}[wire]
    tab = await answered(site, wire, reply("Hm."), reply("Yes."))
    await allow("web_search")
    await tab.send("And now?")
    await tab.sees_the_end()
    before, after = (request.json for request in site.provider.requests)
    check(after)
    offered = [tool for tool in after["tools"] if tool not in before["tools"]]
    assert tuple(offered) == ASKED[wire]
    assert all(tool.get("type", "function") == "function" for tool in before["tools"])


async def test_a_search_that_failed_says_why(site: Site) -> None:
    tab = await answered(
        site,
        "anthropic",
        anthropic.stream(
            anthropic.block(SEARCH, QUERY), anthropic.block(LOST), anthropic.text("I do not know.")
        ),
    )
    [card] = cards(tab.page)
    assert card.get("data-state") == "failed"
    assert "max uses exceeded" in words(card)
    await tab.equals_a_fresh_page()


async def test_a_pause_goes_on_where_it_was(site: Site) -> None:
    """The answer so far is sent back as it came, and what it waited for comes then."""
    paused = anthropic.stream(
        anthropic.text("Let me look."), anthropic.block(SEARCH, QUERY), stop="pause_turn"
    )
    rest = anthropic.stream(anthropic.block(FOUND), anthropic.text("2779 years."))
    tab = await answered(site, "anthropic", paused, rest)
    [card] = cards(tab.page)
    assert card.get("data-state") == "done"
    await tab.sees("2779 years.")
    await tab.equals_a_fresh_page()
    body = site.provider.requests[-1].json
    check_anthropic(body)
    assert body["messages"][-1]["role"] == "assistant"
    assert body["messages"][-1]["content"][-1] == SEARCH | {"input": {"query": "age of Rome"}}


async def test_a_search_that_was_stopped_is_not_sent_again(site: Site, program: Programs) -> None:
    """A call without its result would be refused."""
    await speak("anthropic", site.provider.root)
    gate = Gate()
    whole = anthropic.stream(anthropic.text("Let me look."), anthropic.block(SEARCH, QUERY))
    [step] = whole.steps
    head = step.data.partition(b"event: message_delta")[0]  # type: ignore[union-attr]
    site.provider.script(
        Reply(
            steps=(type(step)(head), gate, Wait(0)),  # type: ignore[call-arg]
            finish=None,
            usage=None,
            done=False,
            opening=False,
        ),
        reply("Well."),
    )
    tab, one = await site.tab(), await program()
    begun = await one.send("How old is Rome?")
    await one.until(lambda: one.named("chat:tool"))
    await one.ask("stop")
    await one.ends(begun["request_id"])
    gate.open()
    await tab.sees("Stopped by you")
    [card] = cards(tab.page)
    assert card.get("data-state") == "stopped"
    await tab.send("Never mind.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_anthropic(body)
    assert "server_tool_use" not in str(body["messages"])
    assert "tool_use" not in str(body["messages"]), "it is no call of ours"
    await tab.equals_a_fresh_page()


@pytest.mark.parametrize("found", [True, False])
async def test_a_search_goes_back_with_its_thought_whenever_it_was_stopped(
    found: bool, site: Site, program: Programs
) -> None:
    """OpenAI would refuse the one without the other, and so every turn that follows."""
    await speak("responses", site.provider.root)
    gate = Gate()
    begun = [
        responses.added(0, **THOUGHT),
        responses.done(0, **THOUGHT),
        responses.added(1, **{**WEB, "status": "in_progress", "action": {"type": "search"}}),
    ]
    # It thinks on, so it is known that the search has been told.
    after = [responses.done(1, **WEB), responses.added(2, **THOUGHT | {"id": "rs_2"})]
    after += [responses.delta(2, "reasoning_summary_text", "So, so.")]
    [step] = responses.stream(*begun, *(after if found else ())).steps
    site.provider.script(
        Reply(steps=(step, gate, Wait(0)), finish=None, usage=None, done=False, opening=False),
        reply("Well."),
    )
    tab, one = await site.tab(), await program()
    sent = await one.send("How old is Rome?")
    await one.until(lambda: one.named("chat:thinking" if found else "chat:tool"))
    await one.ask("stop")
    await one.ends(sent["request_id"])
    gate.open()
    await tab.sees("Stopped by you")
    await tab.send("Never mind.")
    await tab.sees_the_end()
    body = site.provider.requests[-1].json
    check_responses(body)
    kept = [item for item in body["input"] if item.get("role") != "user"]
    assert kept == ([THOUGHT, WEB] if found else [])
    await tab.equals_a_fresh_page()


REFUSALS = {
    "in its own words": (
        {"type": "refusal", "category": "cyber", "explanation": "I will not write worms."},
        "The model refused to answer this: I will not write worms.",
    ),
    "by what it is about": (
        {"type": "refusal", "category": "cyber", "explanation": None},
        "because it could help an attack on computers",
    ),
    "without a reason": (None, "The model refused to answer this."),
}


@pytest.mark.parametrize("how", REFUSALS)
async def test_a_refusal_says_why(how: str, site: Site) -> None:
    details, sentence = REFUSALS[how]
    refused = anthropic.stream(anthropic.text("I"), stop="refusal", stop_details=details)
    tab = await answered(site, "anthropic", refused)
    await tab.sees(sentence)
    await tab.equals_a_fresh_page()


async def test_a_tool_that_its_server_refuses_is_not_asked_for_again(site: Site) -> None:
    """Otherwise every message would fail until an administrator forbids it."""
    await allow("web_search", "code_execution")
    message = "code_execution_20260521 is not available for this model"
    tab = await answered(
        site,
        "anthropic",
        refuse(400, {"error": {"type": "invalid_request_error", "message": message}}),
        anthropic.stream(anthropic.text("About 2779 years.")),
        anthropic.stream(anthropic.text("Sure.")),
    )
    await tab.sees("About 2779 years.")
    await tab.send("Sure?")
    await tab.sees("Sure.")
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    names = [
        [tool["name"] for tool in request.json["tools"] if "type" in tool]
        for request in site.provider.requests
    ]
    assert names == [["web_search", "code_execution"], ["web_search"], ["web_search"]]
    kept = await in_thread(list)(ModelAdjustment.objects.values_list("kind", "name"))
    assert kept == [("server_tool", "code_execution")]
