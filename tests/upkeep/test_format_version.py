"""`format_version` is read: older messages are brought forward when they are opened, newer ones are
refused in words (C4, C5)."""

import json
from collections.abc import Awaitable, Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from chat import services
from chat.models import Conversation, Message, Part
from chat.models.message import FORMAT_VERSION
from chat.protocol.errors import ChatError
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.program import Program
from tests.support.reading import give_reason
from tests.support.site import Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.turns import shown
from tests.upkeep.test_repaired_talks import REPAIRED, say


@in_thread
def age(talk: Conversation, version: int) -> None:
    Message.objects.filter(conversation=talk).update(format_version=version)


@in_thread
def versions(talk: Conversation) -> set[int]:
    rows = Message.objects.shown().filter(conversation=talk)
    return set(rows.values_list("format_version", flat=True))


@in_thread
def rows_of(talk: Conversation) -> list[object]:
    rows = Message.objects.filter(conversation=talk).order_by("pk")
    parts = Part.objects.filter(conversation=talk).order_by("pk")
    return [*rows.values(), *parts.values()]


async def get(site: Site, address: str) -> str:
    response = await site.alice.client.get(address)
    assert response.status_code == 200, address
    if not response.streaming:
        return response.content.decode()
    return b"".join([each async for each in response.streaming_content]).decode()


@in_thread
def admin_page(talk: Conversation) -> str:
    client = Client()
    client.force_login(make.a_user("root", is_staff=True, is_superuser=True))
    give_reason(client, talk)
    response = client.get(f"/admin/chat/conversation/{talk.pk}/change/")
    assert response.status_code == 200
    return response.content.decode()


# --- older ----------------------------------------------------------------------------


async def by_page(site: Site) -> None:
    await get(site, f"/c/{site.talk.pk}/")


async def by_socket(site: Site) -> None:
    one = await Program(site.alice, site.talk.pk).open()
    assert len(one.named("chat:snapshot")[0]["messages"]) == len(REPAIRED)
    await one.close()


async def by_messages(site: Site) -> None:
    one = await Program(site.alice, site.talk.pk).open(attach=False)
    assert len((await one.ask("messages"))["messages"]) == len(REPAIRED)
    await one.close()


async def by_export(site: Site) -> None:
    assert "<calculator>" not in await get(site, f"/c/{site.talk.pk}/export/markdown/")


async def by_admin(site: Site) -> None:
    await admin_page(site.talk)


async def by_sending(site: Site) -> None:
    site.provider.script("Else.")
    one = await Program(site.alice, site.talk.pk).open(attach=False)
    begun = await one.send("More")
    assert begun["ok"], begun
    await one.ask("attach")
    await one.until(lambda: "Else." in str(one.events) and not RUNS)
    await one.close()
    sent = site.provider.requests[-1].body.decode()
    assert "tool_calls" in sent
    assert "<calculator>" not in sent


OPENINGS: list[Callable[[Site], Awaitable[None]]] = [
    by_page, by_socket, by_messages, by_export, by_admin, by_sending,
]  # fmt: skip


@pytest.mark.parametrize("opened", OPENINGS, ids=lambda opened: opened.__name__)
async def test_an_older_conversation_is_brought_forward_when_it_is_opened(
    opened: Callable[[Site], Awaitable[None]], site: Site
) -> None:
    """C5: the answer has its card, and a second opening changes nothing."""
    await say(site.talk)
    await age(site.talk, FORMAT_VERSION - 1)
    await opened(site)
    assert (await in_thread(shown)(site.talk))[: len(REPAIRED)] == REPAIRED
    assert await versions(site.talk) == {FORMAT_VERSION}
    before = await rows_of(site.talk)
    await by_page(site)
    assert await rows_of(site.talk) == before


async def test_tools_that_are_not_known_here_are_found_when_it_is_opened(site: Site) -> None:
    """C4: their results tell of them."""
    said = [
        ("user", "Look"),
        ("assistant", "I read it.\n<read_file>\n<path>\na.py\n</path>\n</read_file>"),
        ("user", "[read_file Result]\n\nprint(6)"),
        ("assistant", "It prints six."),
    ]
    for role, text in said:
        await in_thread(make.a_message_with_parts)(site.talk, role, text)
    await age(site.talk, FORMAT_VERSION - 1)
    page = await get(site, f"/c/{site.talk.pk}/")
    assert "&lt;read_file&gt;" not in page
    assert "print(6)" in page
    [call] = [row async for row in Part.objects.filter(type="tool")]
    assert (call.tool, call.tool_status) == ("read_file", "completed")


async def test_open_pages_see_what_was_brought_forward_elsewhere(site: Site) -> None:
    """C4: by whatever door, without being loaded again."""
    await say(site.talk)
    tab = await site.tab()
    await tab.sees("<calculator>")
    await age(site.talk, FORMAT_VERSION - 1)
    await by_messages(site)
    await tab.until(lambda: "<calculator>" not in tab.page.text_of("t"))
    await equal_pages(tab)


async def test_a_version_that_comes_back_is_brought_forward(site: Site) -> None:
    """What was put away before is of the older form, until somebody switches to it."""
    ids = await say(site.talk)
    await age(site.talk, FORMAT_VERSION)
    tab = await site.tab()
    one = await Program(site.alice, site.talk.pk).open()
    site.provider.script("Else.")
    begun = await one.ask("edit", message_id=ids[0], content="Different")
    await one.ends(begun["request_id"])
    put_away = Message.objects.filter(conversation=site.talk, archived_at__isnull=False)
    await in_thread(put_away.update)(format_version=FORMAT_VERSION - 1)
    assert (await one.ask("version", message_id=ids[0], version=1))["ok"]
    assert await in_thread(shown)(site.talk) == REPAIRED
    assert await versions(site.talk) == {FORMAT_VERSION}
    await tab.until(lambda: "It is forty-two." in tab.page.text_of("t"))
    await equal_pages(tab)
    await one.close()


# --- newer ----------------------------------------------------------------------------

WORDS = "A newer version of Parley has written this"


@in_thread
def a_newer_answer(talk: Conversation) -> Message:
    make.a_message_with_parts(talk, "user", "How much?")
    answer = make.a_message_with_parts(talk, "assistant", "In a form of tomorrow.")
    Message.objects.filter(pk=answer.pk).update(format_version=FORMAT_VERSION + 1)
    return answer


async def test_a_newer_message_is_shown_as_such_and_nothing_is_lost(site: Site) -> None:
    """C5: on the page, in both languages, in the administration, in exports."""
    await a_newer_answer(site.talk)
    before = await rows_of(site.talk)
    tab = await site.tab()
    assert WORDS in tab.page.text_of("t")
    assert "of tomorrow" not in tab.page.text_of("t")
    await equal_pages(tab)
    chinese = await site.tab(site.alice.speaking("zh-hans"))
    assert "这由更新版本的 Parley 写成" in chinese.page.text_of("t")
    assert WORDS in await admin_page(site.talk)
    export = f"/c/{site.talk.pk}/export"
    assert WORDS in await get(site, f"{export}/markdown/")
    whole = json.loads(await get(site, f"{export}/json/"))
    assert "In a form of tomorrow." in str(whole["messages"][1])
    out = StringIO()
    await in_thread(call_command)("repair_tool_history", "--apply", stdout=out)
    assert await rows_of(site.talk) == before


async def test_a_conversation_with_a_newer_message_is_not_gone_on_with(site: Site) -> None:
    """C5: refused with a word, before anything is written."""
    answer = await a_newer_answer(site.talk)
    before = await rows_of(site.talk)
    one = await Program(site.alice, site.talk.pk).open()
    question = str(one.named("chat:snapshot")[0]["messages"][0]["info"]["id"])
    wishes: list[tuple[str, dict[str, Any]]] = [
        ("send", {"content": "More"}),
        ("edit", {"message_id": question, "content": "Else"}),
        ("continue", {"message_id": str(answer.pk)}),
    ]
    for command, values in wishes:
        refused = await one.ask(command, **values)
        assert refused["error_key"] == "error.chat_format_too_new", command
        assert "newer version of Parley" in refused["message"]
    part = await in_thread(answer.parts.first)()
    with pytest.raises(ChatError):
        await in_thread(services.amend_part)(part, "Mine", services.amendable(part))
    assert await rows_of(site.talk) == before
    await one.close()
