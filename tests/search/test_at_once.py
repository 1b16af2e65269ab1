"""Whatever is said, changed or taken away can, or can no longer, be found at once."""

from chat.services import Caller
from chat.services.conversations import organise
from chat.services.conversations.search import search
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import Tab, in_thread


@in_thread
def found(site: Site, words: str) -> bool:
    return bool(search(Caller(site.alice.user.pk), words).found)


async def ask(tab: Tab, text: str) -> None:
    await tab.send(text)
    await tab.sees_the_end()


async def test_what_is_said_is_found_at_once(site: Site) -> None:
    """Questions, answers and what tools said; not before the answer is whole."""
    call = Call("calculator", {"expression": "6*7"})
    site.provider.script(reply("Counting.", call), reply("It is forty-two."))
    tab = await site.tab()
    await ask(tab, "How much is 六乘七?")
    for words in ("六乘七", '"forty-two"', "counting", "42", "6*7"):
        assert await found(site, words), words


async def test_an_edit_is_found_and_what_it_replaced_is_not(site: Site) -> None:
    site.provider.script(reply("About apples."), reply("About pears."))
    tab = await site.tab()
    await ask(tab, "Tell me of apples")
    said = next(message.get("data-id") for message in tab.page.messages())
    assert (await tab.ask("edit", message_id=said, content="Tell me of pears"))["ok"]
    await tab.sees("About pears.")
    await tab.sees_the_end()
    assert await found(site, '"of pears"')
    assert await found(site, '"about pears"')
    assert not await found(site, "apples")
    assert (await tab.ask("version", message_id=said, version=1))["ok"]
    assert await found(site, '"of apples"')
    assert await found(site, '"about apples"')
    assert not await found(site, "pears")


async def test_a_new_title_is_found_and_a_deleted_conversation_is_not(site: Site) -> None:
    owner, talk = site.alice.user.pk, site.talk.pk
    await organise.rename(Caller(owner), talk, "Orchard")
    assert await found(site, "orchard")
    await organise.delete(Caller(owner), talk)
    assert not await found(site, "orchard")
    await organise.restore(Caller(owner), talk)
    assert await found(site, "orchard")
