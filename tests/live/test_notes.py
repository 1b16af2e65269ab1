"""What is hung on a part or a call reaches the page: from the row, the tool or the provider to
the card, in the live page and in a reload alike (B2, B4, D1, E2)."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from chat.engine.history import to_model_messages
from chat.formats.tool_message_parts import from_tool_messages
from chat.models import Agent, Conversation, LanguageModel, Message, Part
from chat.protocol.interfaces import (
    Finish,
    ModelRequest,
    ProviderEvent,
    TextDelta,
    ToolCall,
    ToolCallBlock,
    ToolOutput,
    ToolResult,
)
from chat.providers import registry as providers
from chat.services.conversations.history import read_history
from chat.tools import registry as tools
from tests.support import factories as make
from tests.support.downloads import downloaded
from tests.support.model_server import Call, Gate, Say, reply
from tests.support.page import LivePage, classes
from tests.support.site import Site
from tests.support.tabs import eventually, in_thread


def cards(page: LivePage) -> list[Element]:
    """The cards of the page, in their order."""
    return [each for each in page.by_id("t").iter() if "tool" in classes(each)]


def words(element: Element) -> str:
    return " ".join(" ".join(element.itertext()).split())


def icon(card: Element) -> str:
    return next(each.get("href", "") for each in card.iter() if each.tag.endswith("use"))


@in_thread
def an_answer(talk: Conversation, *, status: str = "success") -> Message:
    make.a_message_with_parts(talk, "user", "How much?")
    return make.a_message(talk, "assistant", status=status)


@in_thread
def a_call(message: Message, tool: str = "calculator", **data: Any) -> Part:
    """A finished call; `data` is laid over what its row holds."""
    row = make.a_tool_part(message, tool=tool)
    Part.objects.filter(pk=row.pk).update(data={**row.data, **data})
    return row


@in_thread
def told_to_the_model(talk: Conversation) -> list[str]:
    """The ids of the calls that the next request would hold."""
    messages = to_model_messages(read_history(talk.pk, before=100))
    blocks = (block for message in messages for block in message.content)
    return [block.call_id for block in blocks if isinstance(block, ToolCallBlock)]


# --- a part that cannot be read -------------------------------------------------------


EXPLODED = {"state": {"status": "exploded", "why": "an old bug"}}


@pytest.mark.parametrize("status", ["success", "streaming"])
async def test_a_part_that_cannot_be_read_has_a_card_in_its_place(site: Site, status: str) -> None:
    message = await an_answer(site.talk, status=status)
    if status == "streaming":
        await in_thread(make.a_generation)(message)
    await in_thread(make.a_text_part)(message, "Before.")
    await a_call(message, **EXPLODED)
    tab = await site.tab()
    [card] = cards(tab.page)
    assert card.get("id") == "p2-1"
    assert words(card) == "This part cannot be shown tool"
    await tab.equals_a_fresh_page()
    await tab.cut()
    await tab.open()
    await tab.equals_a_fresh_page()
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    assert words(cards(chinese.page)[0]) == "此部分无法显示 工具"


async def test_a_part_that_cannot_be_read_is_not_sent_and_is_exported(site: Site) -> None:
    message = await an_answer(site.talk)
    await a_call(message, **EXPLODED)
    await in_thread(make.a_text_part)(message, "It is 4.")
    assert await told_to_the_model(site.talk) == []
    export = f"/c/{site.talk.pk}/export"
    whole = (await downloaded(site.alice.client, f"{export}/json/")).decode()
    assert "an old bug" in whole
    text = (await downloaded(site.alice.client, f"{export}/markdown/")).decode()
    assert "*This part cannot be shown*\n\nIt is 4." in text


async def test_a_part_of_a_question_that_cannot_be_read_has_a_card_too(site: Site) -> None:
    message = await in_thread(make.a_message_with_parts)(site.talk, "user", "Look:")
    row = await in_thread(make.a_text_part)(message)
    await Part.objects.filter(pk=row.pk).aupdate(type="file", data={"mime": ""}, text="")
    tab = await site.tab()
    assert [words(card) for card in cards(tab.page)] == ["This part cannot be shown file"]


# --- the calls of a sub-agent -----------------------------------------------------------


class SubAgents:
    """A provider that runs its tools itself: two sub-agents side by side, and their calls."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.reached, self.opened = asyncio.Event(), asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent, None]:
        self.requests.append(request)
        if len(self.requests) == 1:
            for call_id, parent in (("a", ""), ("b", ""), ("a1", "a"), ("b1", "b"), ("a2", "a")):
                name = "Read" if parent else "Task"
                yield ToolCall(call_id, name, {}, by_provider=True, parent_call_id=parent)
            yield ToolOutput("a1", ToolResult("one"))
            self.reached.set()
            await self.opened.wait()
            # One sub-agent is done before the last of its calls is.
            for call_id in ("b1", "a", "a2", "b"):
                yield ToolOutput(call_id, ToolResult(f"of {call_id}"))
        yield TextDelta("Done.")
        yield Finish("stop")


@pytest.fixture
async def sub_agents(site: Site, monkeypatch: pytest.MonkeyPatch) -> SubAgents:
    made = SubAgents()
    monkeypatch.setitem(providers._KINDS, "demo", lambda *_given: made)
    model = await LanguageModel.objects.aget(provider__kind="demo")
    await Agent.objects.filter(is_default=True).aupdate(model=model)
    return made


async def test_the_calls_of_a_sub_agent_stand_below_the_call_they_were_made_for(
    site: Site, sub_agents: SubAgents
) -> None:
    """D1: nested, live and on a reload; kept in their column; not told to our model."""
    tab = await site.tab()
    await tab.send("Go")
    await eventually(sub_agents.reached.is_set)
    in_order = ["a", "a1", "a2", "b", "b1"]
    await tab.until(lambda: len(cards(tab.page)) == len(in_order))
    await tab.equals_a_fresh_page()
    late = await site.tab()
    await late.equals_a_fresh_page()
    sub_agents.opened.set()
    await tab.sees_the_end()
    await tab.equals_a_fresh_page()
    rows = {row.call_id: row async for row in Part.objects.filter(type="tool")}
    assert [card.get("id") for card in cards(tab.page)] == [
        f"p2-{rows[call].position}" for call in in_order
    ]
    assert ["nested" in classes(card) for card in cards(tab.page)] == [
        False, True, True, False, True,
    ]  # fmt: skip
    told = [words(each) for card in cards(tab.page) for each in card.iter()
            if "sub-work" in classes(each)]  # fmt: skip
    assert told == ["Finished working · 2 tools", "Finished working · 1 tool"]
    assert [rows[call].parent_call_id for call in in_order] == ["", "a", "a", "", "b"]

    await tab.send("And?")
    await eventually(lambda: len(sub_agents.requests) == 2)
    blocks = [block for each in sub_agents.requests[1].messages for block in each.content]
    calls = [block.call_id for block in blocks if isinstance(block, ToolCallBlock)]
    assert calls == ["a", "b"]
    await tab.sees_the_end()


@pytest.mark.parametrize("spelling", ["parent_call_id", "parentCallID"])
async def test_an_old_row_says_whose_call_it_is_in_either_spelling(
    site: Site, spelling: str
) -> None:
    message = await an_answer(site.talk)
    outer = await a_call(message, "Task")
    await a_call(message, "Read", metadata={spelling: outer.call_id, "signature": "s"})
    tab = await site.tab()
    assert ["nested" in classes(card) for card in cards(tab.page)] == [False, True]
    assert await told_to_the_model(site.talk) == [outer.call_id]


# --- a result without its call ----------------------------------------------------------


async def test_a_result_without_its_call_has_a_card_that_says_so(site: Site) -> None:
    """B2: reported, not lost."""
    lost = {"type": "tool-result", "toolCallId": "x", "toolName": "read", "result": "found it"}
    wire = [{"role": "user", "content": "Hm?"}, {"role": "tool", "content": [lost]}]

    @in_thread
    def keep() -> None:
        for message in from_tool_messages(wire, str(site.talk.pk)).messages:
            row = make.a_message(site.talk, message.info.role, id=message.info.id)
            for position, part in enumerate(message.parts):
                make.a_part(part, position)
            assert str(row.pk) == message.info.id

    await keep()
    tab = await site.tab()
    [card] = cards(tab.page)
    assert "Result without a call" in words(card)
    assert "found it" in words(card)


# --- the icon of a tool -----------------------------------------------------------------


@pytest.fixture
def weather() -> Iterator[None]:
    """Tools of another app: one with an icon of ours, one that asks for what nobody drew."""

    def weather(city: str) -> str:
        """The weather in a city."""
        return f"Sunny in {city}"

    for name, wanted in (("weather", "sun"), ("tides", "wave")):
        tools.tool(name=name, icon=wanted)(weather)
    yield
    for name in ("weather", "tides"):
        del tools._tools[name]


@pytest.mark.parametrize(("tool", "drawn"), [("weather", "#i-sun"), ("tides", "#i-nut")])
async def test_the_icon_that_a_tool_asks_for_is_on_its_card(
    site: Site, weather: None, tool: str, drawn: str
) -> None:
    await Agent.objects.filter(is_default=True).aupdate(tools=[tool])
    tab = await site.tab()
    site.provider.script(reply(Call(tool, {"city": "Porto"})), reply("Sunny."))
    await tab.send("How is the weather?")
    await tab.sees_the_end()
    assert [icon(card) for card in cards(tab.page)] == [drawn]
    await tab.equals_a_fresh_page()


# --- why a call failed ------------------------------------------------------------------


async def test_a_failure_is_told_to_each_reader_in_their_language_and_to_the_model_in_its_own(
    site: Site,
) -> None:
    """A13: the card is translated; what the model reads stays as it is."""
    tab = await site.tab()
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    calls = (Call("calculator", {"expression": "1/0"}), Call("calculator", {"expr": "1"}))
    site.provider.script(reply(*calls), reply("No."))
    await tab.send("How much?")
    await tab.sees_the_end()
    await chinese.sees_the_end()
    assert ["Division by zero." in words(card) for card in cards(tab.page)] == [True, False]
    zero, arguments = (words(card) for card in cards(chinese.page))
    assert "除数为零。" in zero
    assert "缺少参数 expression。" in arguments
    assert "工具没有参数 expr。" in arguments
    results = [each["content"] for each in site.provider.requests[-1].json["messages"][-2:]]
    assert results == [
        "division by zero",
        "Invalid arguments: expression is required; expr is not an argument of this tool",
    ]
    await chinese.equals_a_fresh_page()


async def test_a_stopped_call_says_so_in_the_readers_language(site: Site) -> None:
    """A5, A13: also a row from before there were reasons."""
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    gate = Gate()
    site.provider.script(reply(Say("Hm."), Call("calculator", {"expression": "1"}), gate))
    await chinese.send("Go")
    await chinese.until(lambda: cards(chinese.page))
    await chinese.stop()
    await chinese.sees_the_end()
    assert "调用已停止。" in words(cards(chinese.page)[0])
    assert "aborted" not in chinese.page.text_of("t")
    gate.open()


async def test_a_failure_of_an_old_row_is_shown_as_it_was_written(site: Site) -> None:
    message = await an_answer(site.talk)
    time = {"start": 1, "end": 2}
    await a_call(
        message, state={"status": "error", "input": {}, "error": "no such file", "time": time}
    )
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    assert "no such file" in words(cards(chinese.page)[0])


@pytest.mark.parametrize("broken", [[], "x", 5])
async def test_a_row_whose_data_is_no_object_has_the_card_too(site: Site, broken: Any) -> None:
    message = await an_answer(site.talk)
    row = await a_call(message)
    await in_thread(Part.objects.filter(pk=row.pk).update)(data=broken)
    tab = await site.tab()
    assert "cannot be shown" in words(cards(tab.page)[0])
    await tab.equals_a_fresh_page()
