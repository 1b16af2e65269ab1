"""The sources that a model names: below its text, live, in a second tab, on a phone."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, new_talk, send
from tests.providers import openai_chunks as chat
from tests.support.model_server import ScriptedProvider, reply
from tests.support.server import Server

ROME = "https://example.org/rome"


def named(url: str, title: str) -> dict[str, Any]:
    cited = {"url": url, "title": title, "start_index": 0, "end_index": 12}
    return {"type": "url_citation", "url_citation": cited}


def links(page: Page) -> list[tuple[str | None, str | None, str]]:
    found = page.get_by_role("list", name="Sources").get_by_role("link").all()
    return [
        (link.get_attribute("href"), link.get_attribute("target"), link.inner_text())
        for link in found
    ]


def test_sources_are_links_in_every_tab(
    enter: Enter, parley: Server, provider: ScriptedProvider
) -> None:
    window = enter(parley)
    page = window.open("/")
    provider.script(reply("Hello."))
    new_talk(page, "Hi")
    other = window.open(page.url.removeprefix(parley.url))
    provider.script(
        chat.stream(
            chat.delta(content="Rome is old."),
            chat.delta("stop", annotations=[named(ROME, "On Rome"), named("ftp://x", "No link")]),
        )
    )
    send(page, "How old is Rome?")
    answered(page, 2)
    for tab in (page, other):
        expect(tab.get_by_role("list", name="Sources")).to_contain_text("No link")
        assert links(tab) == [(ROME, "_blank", "On Rome")]
        expect(tab.locator(".sources .host")).to_have_text("example.org")
        tab.set_viewport_size({"width": 390, "height": 844})
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        equals_a_fresh_page(window, tab)
