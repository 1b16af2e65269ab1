"""A temporary chat lives as long as a tab shows it, and then nothing of it is left."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections, transaction
from django.db.models import Model
from django.utils import timezone

from chat.models import (
    Agent,
    Attachment,
    BackgroundCall,
    Conversation,
    Feedback,
    Generation,
    Message,
    Part,
    Process,
    QueuedMessage,
    RequestLog,
    SearchEntry,
    ShareLink,
    View,
)
from chat.services import Caller, keep, search
from chat.services.conversations.temporary import end_abandoned
from chat.services.pool import close_connections
from chat.services.processes.presence import stop_unwatched
from chat.services.processes.recovery import settle_orphans
from chat.services.runs import titles
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.model_server import Gate, Wait, reply
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.waiting import PATIENCE, eventually
from tests.support.world import one_of_everything

GRACE = 0.3
# What a conversation consists of; nothing else has a row because of one.
ROWS: tuple[type[Model], ...] = (
    Attachment, BackgroundCall, Conversation, Feedback, Generation, Message, Part, QueuedMessage,
    RequestLog, SearchEntry, ShareLink, View,
)  # fmt: skip


@pytest.fixture(autouse=True)
def short_times(settings: Any) -> None:
    settings.PARLEY_LIMITS = {
        **settings.PARLEY_LIMITS, "grace_seconds": GRACE, "renew_seconds": 0.1
    }  # fmt: skip


def limits(settings: Any, **changed: float) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, **changed}


async def begin(site: Site, text: str = "A secret about hens", **form: Any) -> Tab:
    """As the form of the new chat does, from a tab that then shows it."""
    tab = Tab(site.alice, "")
    data = {"content": text, "temporary": "1", "tab_id": tab.tab_id, **form}
    response = await site.alice.client.post("/new/", data)
    assert response.status_code == 302, response.content
    tab.conversation_id = response["Location"].split("/")[2]
    await tab.load()
    site.tabs.append(tab)
    return await tab.open()


@in_thread
def left(tab: Tab) -> list[str]:
    """The kinds of rows that are there because of it."""
    found = []
    for model in ROWS:
        names = {field.name for field in model._meta.get_fields()}
        way = next((each for each in ("conversation", "message") if each in names), "")
        way = {"message": "message__conversation", "": "pk"}.get(way, way)
        if model._default_manager.filter(**{way: tab.conversation_id}).exists():
            found.append(model.__name__)
    return found


async def is_gone(tab: Tab) -> None:
    """Every row, within a few rounds; and its page is not there."""
    await rows_are_gone(tab)
    assert (await site_page(tab)).status_code == 404


async def rows_are_gone(tab: Tab) -> None:
    async with asyncio.timeout(PATIENCE):
        while await left(tab):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def site_page(tab: Tab) -> Any:
    return await tab.person.client.get(f"/c/{tab.conversation_id}/")


async def a_while(seconds: float) -> None:
    end = asyncio.get_running_loop().time() + seconds
    await eventually(lambda: asyncio.get_running_loop().time() > end)


def test_it_is_known_what_a_conversation_consists_of() -> None:
    """A new kind of row that hangs on one must be looked for here too."""
    hung_on = {Conversation, Message, QueuedMessage}
    related = {
        model
        for model in apps.get_app_config("chat").get_models()
        for field in model._meta.fields
        if field.related_model in hung_on
    }
    assert related | {Conversation} == set(ROWS)


async def test_it_is_marked_and_streams_to_every_tab(site: Site, settings: Any) -> None:
    """And no model is asked for a title."""
    settings.PARLEY_TITLES = "model"
    gate = Gate()
    site.provider.script(reply("Hens ", gate, "dream."))
    tab = await begin(site)
    other = await site.tab(talk=await Conversation.objects.aget(pk=tab.conversation_id))
    gate.open()
    for each in (tab, other):
        await each.sees("Hens dream.")
        await each.sees_the_end()
        assert "Keep this chat" in each.page.text_of("temporary")
        assert each.page.text_of("title") == "Temporary chat"
        assert "secret" not in each.page.text_of("column")
    await equal_pages(tab, other)
    await eventually(lambda: not titles._asking)
    assert len(site.provider.requests) == 1
    assert not await SearchEntry.objects.filter(conversation=tab.conversation_id).aexists()


async def test_the_last_tab_closed_takes_all_of_it(site: Site) -> None:
    """Files too; closing one of two takes nothing, and a reload is no end."""
    site.provider.script(reply("One."), reply("Two."))
    upload = await in_thread(make.an_attachment)(site.alice.user)
    storage, file = upload.file.storage, upload.file.name
    tab = await begin(site, attachments=[str(upload.pk)])
    await tab.sees_the_end()
    answer = list(tab.page.messages())[-1].get("data-id")
    assert (await tab.ask("feedback", message_id=answer, verdict="up"))["ok"]
    other = await site.tab(talk=await Conversation.objects.aget(pk=tab.conversation_id))
    await tab.close()
    await a_while(3 * GRACE)
    assert (await site_page(tab)).status_code == 200
    assert storage.exists(file)

    await equal_pages(other)
    # A reload: the page says that it goes, and attaches again as the same tab.
    await other.ask("detach")
    await other.cut()
    await other.load()
    await other.open()
    await other.send("And then?")
    await other.sees("Two.")
    await other.sees_the_end()
    await a_while(3 * GRACE)
    assert other.closed is None
    await other.close()
    await is_gone(other)
    assert not storage.exists(file)


async def test_an_answer_under_way_is_stopped(site: Site) -> None:
    """Although its agent would let it go on, and something waits behind it."""
    await in_thread(Agent.objects.update)(unwatched="continue")
    site.provider.script(reply("Half", Wait()))
    tab = await begin(site)
    await tab.sees("Half")
    assert (await tab.ask("send", content="Next", queue=True))["queued"]
    await tab.close()
    await eventually(lambda: not RUNS)
    await is_gone(tab)
    assert len(site.provider.requests) == 1


async def test_a_tab_on_another_page_still_counts(site: Site) -> None:
    """One can go back to it, as long as the tab is open."""
    site.provider.script(reply("Hello."))
    tab = await begin(site)
    await tab.sees_the_end()
    elsewhere = Tab(site.alice, site.talk.pk)
    elsewhere.tab_id = tab.tab_id
    await elsewhere.load()
    await elsewhere.open()
    site.tabs.append(elsewhere)
    await tab.cut()
    await a_while(3 * GRACE)
    await tab.load()
    assert "Hello." in tab.page.text_of("t")
    await elsewhere.close()
    await in_thread(View.objects.filter(tab_id="").delete)()
    await is_gone(tab)


async def test_a_lost_connection_is_waited_for(site: Site, settings: Any) -> None:
    site.provider.script(reply("Hello."))
    tab = await begin(site)
    await tab.sees_the_end()
    await tab.cut()
    await a_while(3 * GRACE)
    assert (await site_page(tab)).status_code == 200
    await tab.open()
    await equal_pages(tab)
    await tab.cut()
    limits(settings, lost_seconds=0.2)
    await is_gone(tab)


async def test_what_a_crash_left_goes(site: Site, settings: Any) -> None:
    """The process is dead, its run and its sockets were open: once the lost time is over they
    count for nothing."""

    # At once: between two rows a round of maintenance would find a chat that nobody looks at.
    @transaction.atomic
    def left_behind() -> Conversation:
        process = make.a_process(lease=timezone.now() - timedelta(minutes=5))
        talk = make.a_conversation(
            site.alice.user, temporary=True, created=timezone.now() - timedelta(hours=1)
        )
        make.a_message_with_parts(talk)
        answer = make.a_message(talk, "assistant", status="streaming")
        make.a_generation(answer, user=site.alice.user, process=process)
        make.a_view(talk, process=process, tab_id="a:b")
        return talk

    talk = await in_thread(left_behind)()
    tab = Tab(site.alice, str(talk.pk))
    await a_while(3 * GRACE)
    assert (await site_page(tab)).status_code == 200
    await in_thread(View.objects.filter(tab_id="").delete)()
    limits(settings, lost_seconds=200)
    await is_gone(tab)


async def test_logging_out_takes_it_at_once(site: Site, settings: Any) -> None:
    """What was begun in another browser stays."""
    limits(settings, grace_seconds=600)
    site.provider.script(reply("Half", Wait()), reply("Elsewhere."))
    tab = await begin(site)
    await tab.sees("Half")
    browser = await type(site.alice)(site.alice.user).enter()
    # It has no scripts, so only its page says that it is open.
    data = {"content": "Elsewhere", "temporary": "1"}
    response = await browser.client.post("/new/", data)
    assert (await browser.client.get(response["Location"])).status_code == 200
    await site.alice.client.post("/accounts/logout/")
    await eventually(lambda: tab.closed is not None)
    await rows_are_gone(tab)
    limits(settings, grace_seconds=GRACE)
    await eventually(lambda: not RUNS)
    await a_while(3 * GRACE)
    assert (await browser.client.get(response["Location"])).status_code == 200


async def test_without_scripts_it_counts_from_the_last_look(site: Site, settings: Any) -> None:
    """And the page says so; there is no tab that could say when it is closed."""
    site.provider.script(reply("Hello."))
    data = {"content": "A secret", "temporary": "1"}
    response = await site.alice.client.post("/new/", data)
    page = (await site.alice.client.get(response["Location"])).content.decode()
    assert "it is deleted 10 minutes after you last loaded it" in " ".join(page.split())
    await eventually(lambda: not RUNS)
    await a_while(3 * GRACE)
    assert (await site.alice.client.get(response["Location"])).status_code == 200
    limits(settings, lost_seconds=0.2)
    tab = Tab(site.alice, response["Location"].split("/")[2])
    await is_gone(tab)


async def test_a_kept_one_is_like_any_other(site: Site) -> None:
    """In every tab: its title, its menu, its row in the column, and the search."""
    gate = Gate()
    site.provider.script(reply("Hens ", gate, "dream."))
    tab = await begin(site)
    talk = await Conversation.objects.aget(pk=tab.conversation_id)
    other, away = await site.tab(talk=talk), await site.tab(talk=talk)
    await away.sees("Hens")
    await away.cut()
    assert (await other.ask("keep"))["ok"]
    for each in (tab, other):
        await each.until(lambda each=each: "A secret" in each.page.text_of("column"))
        assert each.page.text_of("title") == "A secret about hens"
        assert each.page.text_of("temporary") == ""
    await away.open()
    await away.until(lambda: away.page.text_of("temporary") == "")
    gate.open()
    await tab.sees_the_end()
    await equal_pages(tab, other, away)
    for each in (tab, other, away):
        await each.close()
    await a_while(3 * GRACE)
    assert (await site_page(tab)).status_code == 200
    for word in ("secret", "dream"):
        found = await in_thread(search)(Caller(site.alice.user.pk), word)
        assert [each.id for each in found.found] == [tab.conversation_id]


async def test_a_program_is_told_that_it_was_kept(site: Site, program: Programs) -> None:
    site.provider.script(reply("Hello."))
    tab = await begin(site)
    await tab.sees_the_end()
    one = await program(talk=await Conversation.objects.aget(pk=tab.conversation_id))
    await eventually(lambda: one.named("chat:snapshot"))
    assert one.named("chat:snapshot")[0]["temporary"] is True
    for command, values in (("pin", {}), ("archive", {}), ("rename", {"title": "Hens"})):
        assert (await one.ask(command, **values))["error_key"] == "error.chat_temporary"
    await keep(Caller(site.alice.user.pk), tab.conversation_id)
    await eventually(lambda: one.named("chat:kept"))
    assert one.named("chat:kept")[0]["title"] == "A secret about hens"
    assert (await one.ask("pin"))["ok"]


async def test_deleted_it_cannot_be_brought_back(site: Site) -> None:
    site.provider.script(reply("Half", Wait()))
    tab = await begin(site)
    await tab.sees("Half")
    key = str(tab.conversation_id)
    response = await site.alice.client.post("/organise/", {"delete": key})
    assert response["Location"] == "/?ended"
    await eventually(lambda: tab.closed == 4404)
    assert (await site.alice.client.post("/organise/", {"restore": key})).status_code == 404
    await is_gone(tab)
    home = (await site.alice.client.get("/?ended")).content.decode()
    assert "The temporary chat has ended." in home


async def test_a_file_that_was_never_sent_goes_with_it(site: Site) -> None:
    site.provider.script(reply("Hello."))
    tab = await begin(site)
    await tab.sees_the_end()
    upload = SimpleUploadedFile("secret.txt", b"hens")
    address = f"/c/{tab.conversation_id}/attachments/"
    response = await site.alice.client.post(address, {"attachments": upload})
    row = await Attachment.objects.aget(pk=response.json()["attachments"][0]["id"])
    await tab.close()
    await is_gone(tab)
    assert not row.file.storage.exists(row.file.name)


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
async def test_one_of_everything_goes(settings: Any) -> None:
    """Also where its process died in the middle of an answer."""
    limits(settings, lease_seconds=20)
    rows = await in_thread(one_of_everything)()
    await in_thread(Conversation.objects.update)(
        temporary=True, created=timezone.now() - timedelta(hours=1)
    )
    await end_abandoned()
    assert await Conversation.objects.acount() == 1, "a tab shows it"
    await in_thread(View.objects.update)(left_at=timezone.now() - timedelta(minutes=1), closed=True)
    await end_abandoned()
    assert (await Conversation.objects.aget()).deleted_at
    assert (await Generation.objects.aget()).stop_requested_by["reason"] == "deleted"
    await in_thread(Process.objects.filter(pk=rows[Process].pk).delete)()
    await settle_orphans()
    await stop_unwatched()
    await end_abandoned()
    counts = [model.__name__ for model in ROWS if await model._default_manager.aexists()]
    assert counts == []
    await in_thread(close_connections)()
    await in_thread(connections.close_all)()
