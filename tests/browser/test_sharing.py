"""A link to a conversation: made in a dialog, read by a stranger without scripts, and withdrawn."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.talking import answered, ask, new_talk
from tests.browser.visitors import Seeded, Visit
from tests.support.waiting import PATIENCE


@pytest.fixture
def stranger(seeded: Seeded, browser: Browser) -> Iterator[Page]:
    """Somebody who has no account, and allows no scripts."""
    context = browser.new_context(java_script_enabled=False, base_url=seeded.url)
    context.set_default_timeout(PATIENCE * 1000)
    yield context.new_page()
    assert context.cookies() == [], "whoever reads is not followed"
    context.close()


def test_a_link_is_made_read_and_withdrawn(visit: Visit, stranger: Page) -> None:
    page = visit().open("/")
    new_talk(page, "/long 5 tides")
    said = page.locator("#t .markdown p").last.inner_text()
    page.locator(".topbar").get_by_label("More").click()
    page.get_by_role("link", name="Share…").click()
    dialog = page.get_by_role("dialog", name="Share")
    dialog.get_by_role("button", name="Create a link").click()
    link = dialog.get_by_role("textbox", name="Link")
    address = link.input_value()

    stranger.goto(address)
    expect(stranger.get_by_text("A shared conversation, as it was on")).to_be_visible()
    expect(stranger.locator("main")).to_contain_text("/long 5 tides")
    expect(stranger.locator(".markdown p").last).to_have_text(said)
    expect(stranger.locator("main")).not_to_contain_text("Ada")
    expect(stranger.locator("#text")).to_have_count(0)

    # It is the conversation as it was then.
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    ask(page, "/long 5 later")
    answered(page, 2)
    stranger.reload()
    expect(stranger.locator(".markdown p").last).to_have_text(said)
    expect(stranger.locator("main")).not_to_contain_text("later")

    page.locator(".topbar").get_by_label("More").click()
    page.get_by_role("link", name="Share…").click()
    expect(link).to_have_value(address)
    dialog.get_by_role("button", name="Revoke").click()
    expect(link).to_have_count(0)
    response = stranger.goto(address)
    assert response is not None
    assert response.status == 404
    expect(stranger.get_by_role("heading", name="Nothing is shared here")).to_be_visible()
    expect(stranger.locator("body")).not_to_contain_text("tides")
