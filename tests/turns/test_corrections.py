"""What an administrator changes or stops, as the owner's open pages and the next turn see it."""

from typing import Any

from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import Conversation, Generation, Message, Part, SearchEntry
from chat.services import Caller
from chat.services.conversations import search_index
from chat.services.runs.flush import flusher
from chat.services.upkeep import repair
from tests.support import factories as make
from tests.support.model_server import Say, Think, Wait, reply
from tests.support.page import normal
from tests.support.reading import give_reason
from tests.support.site import Programs, Site
from tests.support.tabs import Tab, equal_pages, in_thread
from tests.support.turns import take_turns
from tests.support.waiting import eventually


@in_thread
def an_admin() -> Client:
    client = Client()
    client.force_login(make.a_superuser("root", first_name="Rita"))
    give_reason(client, *Conversation.objects.all())
    return client


@in_thread
def post(client: Client, name: str, *ids: object, **values: Any) -> None:
    response = client.post(reverse(f"admin:chat_{name}", args=ids), values)
    assert response.status_code == 302, response.content


async def test_an_answer_with_a_deleted_part_goes_on_and_keeps_what_it_writes(
    site: Site, program: Programs
) -> None:
    """New parts are never given the position of one that is there."""
    tab, one = await site.tab(), await program()
    site.provider.script(reply(Think("Hm."), Say("First."), finish="length"), reply(" Second."))
    begun = await one.send("Go")
    await one.ends(begun["request_id"])
    answer = await in_thread(Message.objects.get)(role="assistant")
    thinking = await in_thread(answer.parts.get)(type="reasoning")
    await in_thread(services.remove_part)(thinking)

    again = await one.ask("continue", message_id=str(answer.pk))
    assert (await one.ends(again["request_id"]))["name"] == "chat:complete"
    texts = await in_thread(lambda: list(answer.parts.filter(type="text").order_by("position")))()
    assert [part.text for part in texts] == ["First.", " Second."]
    positions = [part.position for part in await in_thread(lambda: list(answer.parts.all()))()]
    assert sorted(positions) == list(range(len(positions)))
    await tab.sees("Second.")
    await tab.equals_a_fresh_page()


async def test_an_answer_that_an_admin_stopped_says_so_to_its_owner(site: Site) -> None:
    """A5: stopped by somebody else is not "by you"."""
    admin, tab = await an_admin(), await site.tab()
    site.provider.script(reply("Half a sentence", Wait()))
    await tab.send("Go")
    await tab.sees("Half a sentence")
    run = await in_thread(Generation.objects.get)(status="active")
    await post(admin, "generation_changelist", action="stop", _selected_action=str(run.pk))
    await tab.sees("Stopped by Rita")
    await tab.equals_a_fresh_page()


async def test_every_tab_says_that_an_admin_has_read_until_its_owner_looks(site: Site) -> None:
    """A11: the mark comes and goes without a reload."""
    tabs = [await site.tab(), await site.tab(talk=await in_thread(a_second_talk)(site))]
    admin = Client()
    await in_thread(admin.force_login)(await in_thread(make.a_superuser)("root"))
    address = reverse("admin:chat_auditentry_reason", args=[site.talk.pk])
    assert (await in_thread(admin.post)(address, {"reason": "Ticket 12"})).status_code == 302
    for tab in tabs:
        await tab.until(lambda tab=tab: "hidden" not in tab.page.by_id("was-read").attrib)
    await equal_pages(*tabs)
    assert (await site.alice.client.get("/readings/")).status_code == 200
    for tab in tabs:
        await tab.until(lambda tab=tab: "hidden" in tab.page.by_id("was-read").attrib)
    await equal_pages(*tabs)


async def test_a_tab_that_was_away_while_an_admin_read_says_so_when_it_is_back(site: Site) -> None:
    """A11: whoever was not told when it happened is told when they come back, and at once when
    the page was loaded before and connects after it."""
    away = await site.tab()
    await away.cut()
    admin = await an_admin()
    await post(admin, "auditentry_reason", site.talk.pk, reason="Ticket 12")
    await away.open()
    await away.until(lambda: "hidden" not in away.page.by_id("was-read").attrib)
    await away.equals_a_fresh_page()


async def test_a_conversation_that_an_admin_deletes_closes_its_pages_at_once(site: Site) -> None:
    """The page does not wait for its next comparison with the database (5 s)."""
    tab, other = await site.tab(), await site.tab(talk=await in_thread(a_second_talk)(site))
    await post(await an_admin(), "conversation_delete", site.talk.pk, post="yes")
    await eventually(lambda: tab.closed == 4404)
    await hide(other.conversation_id)
    await eventually(lambda: other.closed == 4404)


def a_second_talk(site: Site) -> Conversation:
    return make.a_conversation(site.alice.user)


@in_thread
def hide(key: object) -> None:
    """As the administration's form does it: the moment of deletion is filled in."""
    row = Conversation.objects.get(pk=key)
    row.deleted_at = make.timezone.now()
    services.amend_conversation(row, ["deleted_at"])


async def test_a_message_that_an_admin_deletes_leaves_every_page(
    site: Site, program: Programs
) -> None:
    one, tab = await program(), await site.tab()
    ids = await take_turns(one, site, ("Hello", reply("Hi.")))
    await tab.sees("Hi.")
    await post(await an_admin(), "message_delete", ids[1], post="yes")
    await tab.until(lambda: "Hi." not in tab.page.answers())
    await tab.equals_a_fresh_page()


async def test_a_text_that_an_admin_redacts_leaves_every_page(site: Site) -> None:
    """From messages, the title and the column, without a reload."""
    one = await site.tab()
    site.provider.script(reply("It is 4111 1111!"))
    await one.send("Mine is 4111 1111, Bobby.")
    await one.sees_the_end()
    await in_thread(lambda: Conversation.objects.update(title="Card 4111 1111"))()
    away = await in_thread(a_second_talk)(site)
    tabs = [await site.tab(), await site.tab(), await site.tab(talk=away)]
    for tab in tabs:
        assert "Card 4111 1111" in words_on(tab)
    admin = await an_admin()
    # What stands in a message alone, and what the title has too.
    for text in ("Bobby", "4111 1111"):
        await post(admin, "conversation_act", site.talk.pk, "redact", text=text)
        for tab in tabs:
            await tab.until(lambda tab=tab, text=text: text not in words_on(tab))
            await tab.equals_a_fresh_page()
    await tabs[0].sees("It is █████!")


async def test_what_waits_and_what_was_said_of_an_answer_is_redacted_too(site: Site) -> None:
    """On open pages as in the rows, with the name of a file that waits."""
    tabs = [await site.tab(), await site.tab()]
    one = tabs[0]
    site.provider.script(reply("Done."), reply("Half", Wait()))
    await one.send("Go")
    await one.sees_the_end()
    answer = str((await Message.objects.aget(role="assistant")).pk)
    await one.ask("feedback", message_id=answer, verdict="down", comment="It told 4111 1111.")
    await one.send("Go on")
    await one.sees("Half")
    file = await in_thread(make.an_attachment)(site.alice.user, filename="4111 1111.txt")
    waits = {"content": "Mine is 4111 1111", "attachments": [str(file.pk)]}
    assert (await one.ask("send", queue=True, **waits))["ok"]
    await one.stop()
    for tab in tabs:
        await tab.until(lambda tab=tab: "4111 1111.txt" in tab.page.text_of("queue"))
        await tab.until(lambda tab=tab: not tab.running)
        assert "It told 4111 1111." in "".join(normal(tab.page))
    text = {"text": "4111 1111"}
    await post(await an_admin(), "conversation_act", site.talk.pk, "redact", **text)
    for tab in tabs:
        await tab.until(lambda tab=tab: "4111 1111" not in "".join(normal(tab.page)))
        await tab.equals_a_fresh_page()
    await in_thread(file.refresh_from_db)()
    assert file.filename == "█████.txt"


async def test_no_word_that_is_redacted_is_kept_for_the_search(
    site: Site, program: Programs
) -> None:
    """Nor of a message that was indexed before a repair made it part of an answer."""
    saved = "I count.\n<calculator>\n<expression>\n6*7\n</expression>\n</calculator>"
    said = (
        ("user", "How much?"),
        ("assistant", saved),
        ("user", "[calculator Result]\n\n42"),
        ("assistant", "It is secretword."),
    )
    await in_thread(index_of)(site.talk, said, search_index.index_conversation)
    repaired = await in_thread(lambda: list(repair.repair_conversations(apply=True)))()
    assert [each.joined for each in repaired] == [1]
    entries = SearchEntry.objects.filter(words__contains="secretword")
    assert await entries.acount() == 1
    # As an earlier repair has left it.
    joined = await Message.objects.filter(copy_of__isnull=False).alast()
    await in_thread(search_index.index_message)(joined.pk)
    assert await entries.acount() == 2
    await in_thread(services.redact)(Caller(site.alice.user.pk), site.talk.pk, "secretword")
    assert await entries.acount() == 0


def index_of(talk: Conversation, said: Any, index: Any) -> None:
    rows: list[Message] = []
    for role, text in said:
        parent = rows[-1] if rows else None
        rows.append(make.a_message_with_parts(talk, role, text, parent=parent))
    index(talk)


def words_on(tab: Tab) -> str:
    return "".join(tab.page.root.itertext())


async def test_a_turn_keeps_how_it_was_asked(site: Site, program: Programs) -> None:
    """E3: the instructions, the tools and their style on the message; a path on the answer."""
    one = await program()
    await take_turns(one, site, ("Hello", reply("Hi.")))
    question, answer = await in_thread(lambda: list(Message.objects.order_by("position")))()
    assert question.system.startswith("You are a helpful assistant")
    assert question.tools == {"calculator": True, "hold": True}
    assert question.variant == "json"
    assert answer.path == {"cwd": f"/c/{site.talk.pk}/", "root": "/"}
    told = (await one.ask("messages"))["messages"]
    assert (told[0]["info"]["tools"], told[0]["info"]["variant"]) == (question.tools, "json")
    assert told[1]["info"]["path"] == answer.path
    assert "system" not in told[0]["info"], "the instructions are the administrators'"


async def test_what_is_being_written_cannot_be_deleted_by_an_admin(site: Site) -> None:
    """The page says no, and nothing of it is gone; one at a time and many at once."""
    admin, tab = await an_admin(), await site.tab()
    site.provider.script(reply("Half a sentence", Wait()))
    await tab.send("Go")
    await tab.sees("Half a sentence")
    answer = await in_thread(Message.objects.get)(role="assistant")
    await flusher.flush()
    part = await in_thread(answer.parts.get)(type="text")
    for name, row in (("message", answer), ("part", part)):
        assert await refused(admin, reverse(f"admin:chat_{name}_delete", args=[row.pk])) == 403
        many = {"action": "delete_selected", "_selected_action": str(row.pk), "post": "yes"}
        await refused(admin, reverse(f"admin:chat_{name}_changelist"), **many)
    assert await in_thread(Part.objects.filter(pk=part.pk).exists)()
    assert tab.running
    await tab.stop()


@in_thread
def refused(client: Client, url: str, **values: str) -> int:
    return client.post(url, values or {"post": "yes"}).status_code
