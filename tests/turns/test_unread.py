"""A14: an answer that ended while nobody looked is marked in every tab until somebody does."""

from typing import Any

from tests.support import factories as make
from tests.support.model_server import Gate, reply
from tests.support.page import classes
from tests.support.site import Site
from tests.support.tabs import Tab, equal_pages, in_thread


def marked(tab: Tab, talk: Any) -> bool:
    """Whether the row of a conversation has the dot."""
    rows = tab.page.select(f"#c-{talk.pk}")
    return any("unread" in classes(each) for row in rows for each in row.iter())


async def ended_unseen(site: Site) -> tuple[Tab, Tab]:
    """Two tabs, of which the first shows the talk behind others and the second something else."""
    gate = Gate()
    site.provider.script(reply("Half", gate, " and the rest"))
    other = await in_thread(make.a_conversation)(site.alice.user, title="Another")
    tab, elsewhere = await site.tab(), await site.tab(talk=other)
    await tab.send("Go")
    await tab.sees("Half")
    assert (await tab.ask("look", hidden=True))["ok"]
    gate.open()
    await tab.sees_the_end()
    await elsewhere.until(lambda: marked(elsewhere, site.talk))
    await tab.until(lambda: marked(tab, site.talk))
    return tab, elsewhere


async def test_an_answer_that_is_looked_at_is_not_marked(site: Site) -> None:
    site.provider.script(reply("All of it"))
    tab = await site.tab()
    await tab.send("Go")
    await tab.sees_the_end()
    await equal_pages(tab)
    assert not marked(tab, site.talk)


async def test_looking_at_it_in_any_tab_takes_the_mark_away_in_all(site: Site) -> None:
    tab, elsewhere = await ended_unseen(site)
    assert (await tab.ask("look"))["ok"]
    for each in (tab, elsewhere):
        await each.until(lambda each=each: not marked(each, site.talk))
    await equal_pages(elsewhere)


async def test_opening_its_page_takes_the_mark_away_without_scripts_too(site: Site) -> None:
    tab, elsewhere = await ended_unseen(site)
    await site.alice.page(site.talk.pk)
    for each in (tab, elsewhere):
        await each.until(lambda each=each: not marked(each, site.talk))


async def test_a_tab_that_was_closed_looks_no_longer(site: Site) -> None:
    gate = Gate()
    site.provider.script(reply("Half", gate, " and the rest"))
    other = await in_thread(make.a_conversation)(site.alice.user, title="Another")
    tab, elsewhere = await site.tab(), await site.tab(talk=other)
    await tab.send("Go")
    await tab.sees("Half")
    await tab.close()
    gate.open()
    await elsewhere.until(lambda: marked(elsewhere, site.talk))
    await equal_pages(elsewhere)
