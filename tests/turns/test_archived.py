"""What is archived: out of the column, listed on its page, and back by a message."""

from django.utils import timezone

from chat.models import Conversation
from chat.services import Caller, archive, list_archived
from tests.support import factories as make
from tests.support.model_server import reply
from tests.support.site import Programs, Site
from tests.support.tabs import equal_pages, in_thread
from tests.support.waiting import eventually


async def test_every_column_mirrors_it(site: Site) -> None:
    """The open one stays in sight, apart, and says that it can be brought back."""
    other_talk = await in_thread(make.a_conversation)(site.alice.user, title="Another")
    here, elsewhere = await site.tab(), await site.tab(talk=other_talk)
    await archive(Caller(site.alice.user.pk), site.talk.pk, archived=True)
    await here.until(lambda: here.page.listed()[0][0] == "This conversation")
    await elsewhere.until(lambda: "A talk" not in elsewhere.page.text_of("column"))
    assert "Bring back" in here.page.text_of("column")
    await equal_pages(here)
    await equal_pages(elsewhere)

    await archive(Caller(site.alice.user.pk), site.talk.pk, archived=False)
    await elsewhere.until(lambda: "A talk" in elsewhere.page.text_of("column"))
    await here.until(lambda: "Bring back" not in here.page.text_of("column"))
    await equal_pages(here)


async def test_a_message_brings_it_back(site: Site, program: Programs) -> None:
    one = await program()
    assert (await one.ask("archive"))["ok"]
    assert (await Conversation.objects.aget()).archived_at
    site.provider.script(reply("Hello."))
    assert (await one.ask("send", content="Hello"))["ok"]
    await eventually(lambda: one.named("chat:complete"))
    assert (await Conversation.objects.aget()).archived_at is None
    assert (await one.ask("archive"))["ok"]
    assert (await one.ask("archive", archived=False))["ok"]
    assert (await Conversation.objects.aget()).archived_at is None


async def test_only_ones_own_are_listed(site: Site) -> None:
    def rows() -> list[str]:
        bob = make.a_user("bob")
        for owner, title in ((site.alice.user, "Mine"), (bob, "Bob's")):
            make.a_conversation(owner, title=title, archived_at=timezone.now())
        return [each.title for each in list_archived(Caller(site.alice.user.pk), 1)[0]]

    assert await in_thread(rows)() == ["Mine"]


async def test_the_menu_offers_what_is_left_to_do(site: Site) -> None:
    """In a tab with the column and in a window of its own, also one that was away."""
    tab, window = await site.tab(), await site.tab(query="?window=1")
    for page in (tab.page, window.page):
        assert page.text_of("put-away") == "Archive"
    await archive(Caller(site.alice.user.pk), site.talk.pk, archived=True)
    for each in (tab, window):
        await each.until(lambda each=each: each.page.text_of("put-away") == "Bring back")
    await equal_pages(tab, window)

    await window.cut()
    site.provider.script(reply("Hello."))
    await tab.send("A message brings it back")
    await tab.until(lambda: tab.page.text_of("put-away") == "Archive")
    await window.open()
    await window.until(lambda: window.page.text_of("put-away") == "Archive")
    await tab.sees_the_end()
    await equal_pages(tab, window)
