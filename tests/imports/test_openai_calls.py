"""Every call of OpenAI-style messages has its card and its result, whatever ids it came with."""

import json
from typing import Any

from chat.formats.imported.chats import read_chats
from chat.formats.imported.items import Skipped
from chat.models import Conversation, Part
from chat.protocol.ids import new_id
from chat.protocol.messages import WithParts
from chat.protocol.notes import part_notes
from chat.protocol.parts import ToolPart
from chat.protocol.tool_state import ToolCompleted
from tests.imports.test_imports import imported
from tests.live.test_notes import cards, words
from tests.support import factories as make
from tests.support.downloads import downloaded
from tests.support.site import Site
from tests.support.tabs import in_thread

Json = dict[str, Any]


def asks(text: str = "Go on") -> Json:
    return {"role": "user", "content": text}


def calls(*ids: str | None, name: str = "look") -> Json:
    """Calls whose argument is what they should return; `None` is one without an id."""
    made = []
    for number, call_id in enumerate(ids, start=1):
        call: Json = {"function": {"name": name, "arguments": json.dumps({"n": number})}}
        made.append(call if call_id is None else {"id": call_id, "type": "function", **call})
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(text: str, **names: str) -> Json:
    return {"role": "tool", "content": text, **names}


def says(text: str) -> Json:
    return {"role": "assistant", "content": text}


def read(*messages: Json) -> tuple[list[tuple[str, Json, str]], list[tuple[str, str]]]:
    """The calls with what they were given and returned, and what was left out."""
    items = list(read_chats([json.dumps(messages)], "…"))
    skipped = [(item.reason, item.where) for item in items if isinstance(item, Skipped)]
    found = []
    for item in items:
        for tool in item.tools if isinstance(item, WithParts) else ():
            output = tool.state.output if isinstance(tool.state, ToolCompleted) else "-"
            found.append((tool.tool, dict(tool.state.input), output))
    return found, skipped


def test_an_id_that_is_used_again_in_one_turn_is_another_call() -> None:
    found, skipped = read(
        asks(), calls("call_0"), result("one", tool_call_id="call_0"),
        calls("call_0", "call_1"),
        result("two", tool_call_id="call_0"), result("three", tool_call_id="call_1"),
    )  # fmt: skip
    assert found == [
        ("look", {"n": 1}, "one"),
        ("look", {"n": 1}, "two"),
        ("look", {"n": 2}, "three"),
    ]
    assert skipped == []


async def test_an_id_that_is_used_again_in_the_next_turn_costs_no_answer(site: Site) -> None:
    """Also not of a call that was not answered before it; and once more it is all known."""
    turns = [
        asks("First"), calls("call_0"), asks("Second"), calls("call_0"),
        result("two", tool_call_id="call_0"), asks("Third"), calls("call_0"),
        result("three", tool_call_id="call_0"), says("That is all."),
    ]  # fmt: skip
    for _ in range(2):
        report = await imported(site, json.dumps(turns).encode())
        assert report.skipped == []
        (chat,) = report.chats
        assert (chat.messages, chat.tools) == (6, 3)
        one, two, three = cards(await site.alice.page(chat.id))
        assert one.get("data-state") == "stopped"
        assert "two" in words(two)
        assert "three" in words(three)
    rows = [row async for row in Part.objects.filter(type="tool").order_by("message__position")]
    assert len({row.call_id for row in rows}) == 3
    assert [part_notes(row.value()).original_call_id for row in rows] == [None, "call_0", "call_0"]


def test_calls_of_the_form_before_ids_are_all_there() -> None:
    def old(name: str, number: int) -> Json:
        function = {"name": name, "arguments": json.dumps({"n": number})}
        return {"role": "assistant", "content": None, "function_call": function}

    def back(name: str, text: str) -> Json:
        return {"role": "function", "name": name, "content": text}

    found, skipped = read(
        asks(), old("look", 1), back("look", "one"), old("look", 2), back("look", "two"),
        asks(), old("look", 3), back("look", "three"),
    )  # fmt: skip
    assert [(given["n"], output) for _, given, output in found] == [
        (1, "one"), (2, "two"), (3, "three"),
    ]  # fmt: skip
    assert skipped == []


def test_calls_without_ids_are_answered_by_name_or_in_order() -> None:
    """As Ollama has them."""
    both = {"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "look", "arguments": {"at": "a"}}},
        {"function": {"name": "read", "arguments": {"at": "b"}}},
    ]}  # fmt: skip
    assert read(asks(), both, result("B", tool_name="read"), result("A", tool_name="look")) == (
        [("look", {"at": "a"}, "A"), ("read", {"at": "b"}, "B")], [],
    )  # fmt: skip
    assert read(asks(), both, result("A"), result("B"))[0] == [
        ("look", {"at": "a"}, "A"), ("read", {"at": "b"}, "B"),
    ]  # fmt: skip


def test_results_of_one_id_go_to_its_calls_in_their_order() -> None:
    found, skipped = read(
        asks(), calls("c", "c"), result("one", tool_call_id="c"), result("two", tool_call_id="c"),
        result("three", tool_call_id="c"),
    )  # fmt: skip
    assert [(given["n"], output) for _, given, output in found] == [(1, "one"), (2, "two")]
    assert skipped == [("duplicate_tool_result", "c")]


def test_results_without_a_call_stand_by_themselves() -> None:
    """Two of one id, and a call that has it later."""
    found, skipped = read(
        asks(), result("lost", tool_call_id="z"), result("lost too", tool_call_id="z"),
        calls("z"), result("found", tool_call_id="z"),
    )  # fmt: skip
    assert [output for _, _, output in found] == ["lost", "lost too", "found"]
    assert [reason for reason, _ in skipped] == ["no_matching_tool_use"] * 2


def test_an_id_that_no_column_takes_gets_another() -> None:
    long = "x" * 300
    messages = [asks(), calls(long), result("one", tool_call_id=long)]
    (answer,) = (
        item for item in read_chats([json.dumps(messages)], "…")
        if isinstance(item, WithParts) and item.tools
    )  # fmt: skip
    (tool,) = answer.tools
    assert len(tool.call_id) <= 200
    assert isinstance(tool.state, ToolCompleted)
    assert part_notes(tool).original_call_id == long


def two_alike(talk: Conversation) -> None:
    """Two turns of a provider that counts its calls from nought in each of them."""
    for number in ("one", "two"):
        question = make.a_message_with_parts(talk, "user", f"Question {number}")
        answer = make.a_message(talk, "assistant", parent=question)
        state = make.a_finished_call(output=number)
        ids = {"id": new_id(), "call_id": "call_0", **make.of(answer)}
        make.a_part(ToolPart(tool="calculator", state=state, **ids))


async def test_our_own_export_keeps_calls_of_one_id_apart(site: Site) -> None:
    await in_thread(two_alike)(site.talk)
    exported = await downloaded(site.alice.client, f"/c/{site.talk.pk}/export/openai/")
    report = await imported(site, exported)
    assert report.skipped == []
    one, two = cards(await site.alice.page(report.chats[0].id))
    assert "one" in words(one)
    assert "two" in words(two)
