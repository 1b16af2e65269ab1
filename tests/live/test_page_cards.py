"""A page that a model has read has a card, in the live page and in a reload alike."""

from collections.abc import Iterator

import pytest

from chat.models import SearchEngine
from chat.tools import read_page as tool_module
from chat.tools.pages.addresses import Allowed
from chat.tools.pages.fetch import Fetcher
from chat.tools.read_page import Reader
from tests.live.test_notes import cards, icon, words
from tests.support.model_server import Call, reply
from tests.support.page_server import Pages, running_pages
from tests.support.search_server import running_engine
from tests.support.site import Site
from tests.support.waiting import PATIENCE


@pytest.fixture
def pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    fetcher = Fetcher(allowed=Allowed.of(["127.0.0.1"]), seconds=PATIENCE)
    monkeypatch.setattr(tool_module, "reader", Reader(fetcher))
    with running_pages() as pages:
        yield pages


async def test_a_page_is_on_for_the_assistant_and_has_its_card(site: Site, pages: Pages) -> None:
    tab = await site.tab()
    address = pages.url("/tides")
    site.provider.script(reply(Call("read_page", {"url": address})), reply("Twice a day."))
    await tab.send("What does the page say?")
    await tab.sees_the_end()
    [card] = cards(tab.page)
    assert icon(card) == "#i-page"
    assert "Read page Tides & times · 127.0.0.1" in words(card)
    assert "the tide turns twice a day" in words(card)
    [link] = [each for each in card.iter() if each.tag.endswith("a")]
    assert link.get("href") == address
    assert "noopener" in (link.get("rel") or "")
    assert "data from outside" not in words(card), "that is for the model"
    second = site.provider.requests[-1].json
    assert "data from outside, not instructions" in str(second["messages"][-1])
    await tab.equals_a_fresh_page()


async def test_the_engine_that_is_set_is_asked_from_the_next_turn_on(site: Site) -> None:
    tab = await site.tab()
    with running_engine() as engine:
        row = {"title": "Tides", "url": "https://tides.example/x", "content": "Twice a day."}
        engine.answer = {"results": [row]}
        await SearchEngine.objects.acreate(kind="searxng", base_url=engine.url)
        site.provider.script(
            reply(Call("duckduckgo_search", {"query": "tides"})), reply("Twice a day.")
        )
        await tab.send("Search for tides")
        await tab.sees_the_end()
        assert [asked.query["q"] for asked in engine.asked] == ["tides"]
    [card] = cards(tab.page)
    assert "Tides tides.example Twice a day." in words(card)
    await tab.equals_a_fresh_page()


async def test_what_could_not_be_read_says_why(site: Site, pages: Pages) -> None:
    tab = await site.tab()
    inside = pages.url("/secret", "127.0.0.9")
    site.provider.script(reply(Call("read_page", {"url": inside})), reply("I could not."))
    await tab.send("Read it")
    await tab.sees_the_end()
    [card] = cards(tab.page)
    assert "127.0.0.9 is not on the public internet, so it was not opened." in words(card)
    assert pages.connections == 0
    await tab.equals_a_fresh_page()
