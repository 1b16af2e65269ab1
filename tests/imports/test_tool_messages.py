"""The reference cases of ToolMessage2 as files: imported, they are cards on a page (B1 … B4)."""

import json
from typing import Any
from xml.etree.ElementTree import Element

import pytest

from tests.imports.test_imports import imported, upload
from tests.live.test_notes import cards, words
from tests.support.downloads import downloaded
from tests.support.page import LivePage, classes
from tests.support.site import Site
from tests.vectors.cases import cases, only

# How a card stands that was imported: a call nobody answered is over.
STATES = {"tool_use": "stopped", "tool_result": "done"}
ORPHAN = "Result without a call"


async def page_of(site: Site, wire: list[dict[str, Any]]) -> tuple[LivePage, list[tuple[str, str]]]:
    """The page of an imported file, and what its report says."""
    report = await imported(site, json.dumps(wire).encode())
    (chat,) = report.chats
    page = await site.alice.page(chat.id)
    return page, [(each.reason, each.where) for each in report.skipped]


def found(card: Element, name: str) -> list[Element]:
    return [each for each in card.iter() if name in classes(each)]


# The property among them is tested in tests/vectors.
PAIRED = [
    case for case in cases("toolmessage2_pairing", "cases") if "property" not in case.values[0]
]


@pytest.mark.parametrize("case", PAIRED)
async def test_every_call_and_every_result_has_its_card(case: dict[str, Any], site: Site) -> None:
    """B2, B3: answered or not, in whichever message; a result without a call stands by itself."""
    page, skipped = await page_of(site, case["input"])
    expect = case["expect"]
    blocks = [part for message in expect["ui_messages"] for part in message["content"]]
    tools = [part for part in blocks if isinstance(part, dict) and part["type"] == "tool"]
    errors = [(error["code"], error["toolCallId"]) for error in expect.get("errors", [])]
    assert skipped == errors
    drawn = cards(page)
    orphans = [card for card in drawn if ORPHAN in words(card)]
    assert len(orphans) == len(errors)
    paired = [card for card in drawn if card not in orphans]
    assert [card.get("data-state") for card in paired] == [STATES[part["state"]] for part in tools]
    for card, part in zip(paired, tools, strict=True):
        assert part.get("result", {}).get("llmContent", "") in words(card)


@pytest.mark.parametrize("case", cases("toolmessage2_pairing", "render_cases"))
async def test_every_result_is_drawn_as_the_reference_says(
    case: dict[str, Any], site: Site
) -> None:
    """B4: from the file to the page."""
    only(case, "part", "expect")
    part, expect = case["part"], case["expect"]
    call = {"type": "tool_use", "id": "k1", "name": part["name"], "input": part["input"]}
    result = {"type": "tool-result", "toolCallId": "k1", "toolName": part["name"]}
    result |= {"input": part["input"], "result": part["result"]}
    wire = [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": [call]},
        {"role": "tool", "content": [result]},
    ]
    page, skipped = await page_of(site, wire)
    assert skipped == []
    (card,) = cards(page)
    match expect["component"]:
        case "DiffViewer":
            (cut,), (added,) = found(card, "cut"), found(card, "add")
            # What differs within a line is marked.
            assert expect["original"] in "".join(cut.itertext())
            assert expect["new"] in "".join(added.itertext())
            assert expect["file"] in words(card)
        case "TodoList" if expect.get("empty"):
            assert "The list is empty." in words(card)
        case "TodoList":
            names = {todo["content"]: todo["id"] for todo in todos(part)}
            assert [names[words(item)] for item in found(card, "what")] == expect["order"]
        case "Error":
            assert card.get("data-state") == "failed"
            assert part["result"]["llmContent"] in words(card)
            assert not found(card, "diff")
        case other:
            pytest.fail(f"unknown component {other}")


def todos(part: dict[str, Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = part["result"]["returnDisplay"]["newTodos"]
    return items


def result(call_id: str, text: str) -> dict[str, Any]:
    return {
        "type": "tool-result",
        "toolCallId": call_id,
        "toolName": "read",
        "input": {"p": call_id},
        "result": {"llmContent": text},
    }


LOST = [
    {"role": "user", "content": "First"},
    {"role": "tool", "content": [result("zz", "nobody asked")]},
    {"role": "assistant", "content": "An answer."},
    {"role": "user", "content": "Second"},
    {"role": "assistant", "content": "Another."},
]


async def test_an_orphan_stands_where_it_came_and_is_told_of(site: Site) -> None:
    """B2: on the page, in the report, and in an export, from which it comes back as it was."""
    page, _ = await page_of(site, LOST)
    shown = page.text_of("t")
    places = [shown.index(each) for each in ("First", ORPHAN, "An answer.", "Second", "Another.")]
    assert places == sorted(places)
    unfolded = [each.get("open") for each in page.by_id("t").iter("details")]
    assert unfolded[0] is not None, "what is wrong with a file is not folded away"
    told = await upload(site.alice, ("lost.json", json.dumps(LOST[:4]).encode()))
    assert "A result has no call (zz); it stands by itself." in told
    chats = (await imported(site, json.dumps(LOST).encode())).chats
    address = f"/c/{chats[0].id}/export/tool-messages/"
    exported = json.loads(await downloaded(site.alice.client, address))
    assert [message["role"] for message in exported] == [each["role"] for each in LOST]
    again, skipped = await page_of(site, exported)
    assert skipped == [("no_matching_tool_use", "zz")]
    assert again.text_of("t") == shown
