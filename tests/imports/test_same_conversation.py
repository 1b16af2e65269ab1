"""A file that has grown is the same conversation; one that goes on in another way is another."""

import json
from typing import Any

import pytest

from chat.models import Conversation, Message
from chat.services import ImportReport
from tests.imports.test_imports import imported
from tests.imports.test_openai_calls import asks, calls, result, says
from tests.support.downloads import downloaded
from tests.support.site import Site

Json = dict[str, Any]

BEGUN = [asks("How many?"), calls("c"), result("3", tool_call_id="c"), says("Three.")]
WHOLE = [*BEGUN, asks("And now?"), says("Four.")]


async def give(site: Site, *messages: Json, **head: Any) -> ImportReport:
    head = head or {"id": "conv-1"}
    return await imported(site, json.dumps({**head, "messages": messages}).encode())


async def known() -> int:
    return await Conversation.objects.exclude(external_session_id="").acount()


async def texts(site: Site, report: ImportReport) -> str:
    return (await site.alice.page(report.chats[0].id)).text_of("t")


@pytest.mark.parametrize("name", ["id", "conversation_id", "session_id"])
@pytest.mark.parametrize("length", [2, 4, 5])
async def test_a_conversation_is_known_by_its_id(site: Site, name: str, length: int) -> None:
    """Also when its last answer was not whole then; and the shorter file changes nothing."""
    first = await give(site, *WHOLE[:length], **{name: "conv-1"})
    for messages in (WHOLE, WHOLE, WHOLE[:length]):
        report = await give(site, *messages, **{name: "conv-1"})
        assert report.skipped == []
        assert report.chats[0].id == first.chats[0].id
    shown = await texts(site, first)
    assert [shown.count(each) for each in ("How many?", "Three.", "Four.")] == [1, 1, 1]
    assert await Message.objects.filter(conversation_id=first.chats[0].id).acount() == 4
    assert await known() == 1


@pytest.mark.parametrize("form", ["openai", "tool-messages"])
async def test_an_export_that_was_made_again_later_is_the_same(site: Site, form: str) -> None:
    tab = await site.tab()
    for question, answer in (("How many?", "Three."), ("And now?", "Four.")):
        site.provider.script(answer)
        await tab.send(question)
        await tab.sees(answer)
        await tab.sees_the_end()
        exported = await downloaded(site.alice.client, f"/c/{site.talk.pk}/export/{form}/")
        report = await imported(site, exported)
    assert report.chats[0].was_here
    assert await known() == 1
    assert await Message.objects.filter(conversation_id=report.chats[0].id).acount() == 4
    assert "Four." in await texts(site, report)


@pytest.mark.parametrize(
    "other",
    [
        [asks("How few?"), says("Two.")],
        [*BEGUN, asks("And then?"), says("Five.")],
        [*BEGUN, asks("And now?"), says("Six.")],
        [*BEGUN[:3], says("Three or more.")],
    ],
)
async def test_one_that_goes_on_in_another_way_is_kept_beside_it(
    site: Site, other: list[Json]
) -> None:
    """Somebody has asked anew, from the beginning or later: nothing of either is lost."""
    first = await give(site, *WHOLE)
    second = await give(site, *other)
    again = await give(site, *other)
    assert second.skipped == again.skipped == []
    (chat,) = second.chats
    assert again.chats[0].id == chat.id != first.chats[0].id
    assert again.chats[0].is_unchanged
    assert other[-1]["content"] in await texts(site, second)
    assert "Four." in await texts(site, first)
    assert await known() == 2
