"""A6, A7: edit and resend, regenerate; in every open tab, also while an answer is written."""

from typing import Any

import pytest

from chat.models import Generation, Message
from chat.services.conversations.history import read_messages
from tests.support.invariants import faults
from tests.support.model_server import Say, Wait, reply
from tests.support.site import Programs, Site
from tests.support.tabs import in_thread
from tests.support.turns import settled_pages, shown, shown_ids, take_turns
from tests.support.waiting import eventually


async def test_an_edit_says_it_anew_and_every_tab_follows(site: Site, program: Programs) -> None:
    """A6: the message keeps its id and place, what came after it is put away."""
    tabs = [await site.tab(), await site.tab()]
    one = await program()
    ids = await take_turns(one, site, ("One", "First."), ("Two", "Second."))
    site.provider.script("Better.")
    begun = await one.ask("edit", message_id=ids[0], content="One, but better")
    await one.ends(begun["request_id"])

    now = await in_thread(shown)(site.talk)
    assert now == [("user", "One, but better"), ("assistant", "Better.")]
    assert (await in_thread(shown_ids)(site.talk))[0] == ids[0]
    assert await in_thread(Message.objects.filter(archived_at__isnull=False).count)() == 4
    for tab in tabs:
        await tab.sees("Better.")
    await settled_pages(*tabs)
    told = [each["content"] for each in site.provider.requests[-1].json["messages"][-1:]]
    assert told == ["One, but better"]


async def test_an_edit_that_deletes_leaves_nothing_behind(site: Site, program: Programs) -> None:
    """A6, `archive=False`: later messages are gone, versions of the answer too."""
    tab, one = await site.tab(), await program()
    ids = await take_turns(one, site, ("One", "First."), ("Two", "Second."))
    site.provider.script("First again.")
    begun = await one.ask("regenerate", message_id=ids[1])
    await one.ends(begun["request_id"])
    site.provider.script("Better.")
    begun = await one.ask("edit", message_id=ids[0], content="One, but better", archive=False)
    await one.ends(begun["request_id"])

    assert await in_thread(Message.objects.count)() == 2
    assert await in_thread(shown)(site.talk) == [
        ("user", "One, but better"),
        ("assistant", "Better."),
    ]
    row = await in_thread(Message.objects.get)(role="assistant")
    [answer] = await in_thread(read_messages)([row.pk])
    assert (answer.info.version, answer.info.versions) == (1, 1)
    await tab.sees("Better.")
    await settled_pages(tab)


@pytest.mark.parametrize("archive", [True, False])
@pytest.mark.parametrize("wish", ["edit", "regenerate"])
async def test_a_running_answer_is_stopped_first(
    wish: str, archive: bool, site: Site, program: Programs
) -> None:
    """A6, A7: the old run ends as cancelled before the new one begins; no event comes late."""
    tab, one, other = await site.tab(), await program(), await program()
    site.provider.script(reply("Half", Wait()), "Whole.")
    old = await one.send("One")
    await one.hears("Half")
    ids = await in_thread(shown_ids)(site.talk)
    if wish == "edit":
        new = await other.ask("edit", message_id=ids[0], content="Two", archive=archive)
    else:
        new = await other.ask("regenerate", message_id=ids[1])
    assert new["ok"], new
    await one.ends(new["request_id"])

    assert new["request_id"] != old["request_id"]
    names = [(e["name"], e["request_id"]) for e in one.events if e["name"] != "chat:snapshot"]
    start = names.index(("chat:start", new["request_id"]))
    assert old["request_id"] not in [request for _, request in names[start:]]
    assert (await one.ends(old["request_id"]))["name"] == "chat:stopped"
    question = "Two" if wish == "edit" else "One"
    assert await in_thread(shown)(site.talk) == [("user", question), ("assistant", "Whole.")]
    await tab.sees("Whole.")
    await settled_pages(tab)
    gone = wish == "edit" and not archive
    assert await in_thread(faults)(one.seen, other.seen, deleted=gone) == []


@pytest.mark.parametrize("wish", ["send", "edit", "regenerate", "continue", "version"])
async def test_a_tab_that_is_behind_overwrites_nothing(
    wish: str, site: Site, program: Programs
) -> None:
    """A stale `head` is refused, and what runs goes on."""
    one = await program()
    ids = await take_turns(one, site, ("One", "First."))
    head = (await in_thread(Message.objects.get)(pk=ids[1])).position
    site.provider.script(reply("Half", Wait()))
    running = await one.send("Two")
    await one.hears("Half")
    before = await in_thread(shown_ids)(site.talk)
    message = ids[0] if wish == "edit" else ids[1]
    refused = await one.ask(wish, message_id=message, content="x", head=head, version=1)

    busy = {"send", "continue", "version"}
    expected = "error.chat_generation_in_progress" if wish in busy else "error.chat_stale"
    assert refused["error_key"] == expected
    assert await in_thread(shown_ids)(site.talk) == before
    assert (await in_thread(Generation.objects.get)(pk=running["request_id"])).status == "active"
    await one.ask("stop")
    await one.ends(running["request_id"])
    refused = await one.ask(wish, message_id=message, content="x", head=head, version=1)
    assert refused["error_key"] == "error.chat_stale"
    assert await in_thread(shown_ids)(site.talk) == before


@pytest.mark.parametrize(
    ("wish", "message"), [("edit", "answer"), ("regenerate", "question"), ("edit", "nonsense")]
)
async def test_a_wish_that_is_refused_stops_nothing(
    wish: str, message: str, site: Site, program: Programs
) -> None:
    """An answer cannot be edited, a question not regenerated: the running answer goes on."""
    one = await program()
    site.provider.script(reply("Half", Wait()))
    running = await one.send("One")
    await one.hears("Half")
    ids = await in_thread(shown_ids)(site.talk)
    target = {"question": ids[0], "answer": ids[1], "nonsense": "nonsense"}[message]
    refused = await one.ask(wish, message_id=target, content="x")
    assert refused["error_key"] == "error.chat_message_not_found"
    refused = await one.ask("edit", message_id=ids[0], content="  ")
    assert refused["error_key"] == "error.chat_content_required"
    assert (await in_thread(Generation.objects.get)(pk=running["request_id"])).status == "active"
    await one.ask("stop")
    await one.ends(running["request_id"])


@pytest.mark.parametrize("wish", ["send", "edit", "regenerate", "continue"])
async def test_the_same_wish_twice_is_one(wish: str, site: Site, program: Programs) -> None:
    """42: a double click, or a frame sent again after a reconnect – also while it runs."""
    one, other = await program(), await program()
    site.provider.script(reply("Half", finish="length"))
    first = await one.send("One")
    await one.ends(first["request_id"])
    ids = await in_thread(shown_ids)(site.talk)
    message = ids[0] if wish == "edit" else ids[1]
    values: dict[str, Any] = {"message_id": message, "content": "Two", "client_id": "the-same"}
    site.provider.script(reply(Say("Now"), Wait()))
    begun = await one.ask(wish, **values)
    await one.hears("Now")
    for who in (one, other, other):
        again = await who.ask(wish, **values)
        assert (again["ok"], again["request_id"]) == (True, begun["request_id"])
    assert (await in_thread(Generation.objects.get)(pk=begun["request_id"])).status == "active"
    await one.ask("stop")
    await one.ends(begun["request_id"])
    again = await other.ask(wish, **values)
    assert again["request_id"] == begun["request_id"]
    assert len(site.provider.requests) == 2
    assert await in_thread(Generation.objects.count)() == 2
    assert await in_thread(faults)(one.seen, other.seen) == []


async def test_ten_of_the_same_send_at_once_are_one(site: Site, program: Programs) -> None:
    """42."""
    site.provider.script(reply("Half", Wait()))
    programs = [await program() for _ in range(3)]
    asked = [one.say("send", content="Go", client_id="same") for one in programs for _ in range(3)]
    replies = [await one.reply(asked[0]) for one in programs]
    assert len({each["request_id"] for each in replies}) == 1
    assert await in_thread(Message.objects.count)() == 2
    await programs[0].hears("Half")
    await programs[0].ask("stop")
    await eventually(lambda: programs[0].named("chat:stopped"))


async def test_busy_says_where(site: Site, program: Programs) -> None:
    """A4: the same tab or another one; nothing is queued."""
    one, other = await program(), await program()
    site.provider.script(reply("Half", Wait()))
    begun = await one.send("One")
    refused = await one.send("Two")
    assert refused["error_key"] == "error.chat_generation_in_progress"
    refused = await other.send("Two")
    assert refused["error_key"] == "error.chat_generation_in_progress_other_tab"
    await one.ask("stop")
    await one.ends(begun["request_id"])
    assert await in_thread(Message.objects.count)() == 2
