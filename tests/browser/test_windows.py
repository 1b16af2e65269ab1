"""Messages in the middle of a long conversation: both ends load on, and the composer is there."""

from playwright.sync_api import Page, expect

from tests.browser.owner import normal
from tests.browser.talking import answered, ask, send
from tests.browser.visitors import Visit


def shown(page: Page) -> tuple[str | None, str | None]:
    messages = page.locator("#t > .message")
    return messages.first.get_attribute("id"), messages.last.get_attribute("id")


def test_both_ends_of_a_window_load_on(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open(f"{visitor.places['long']}?at=200#m200")
    expect(page.locator("#m200")).to_be_in_viewport()
    assert shown(page) == ("m175", "m224")
    expect(page.locator("#composer")).to_be_visible()
    expect(page.locator("#jump")).to_be_visible()
    page.evaluate("document.getElementById('m224').scrollIntoView({ block: 'end' })")
    expect(page.locator("#m274")).to_be_attached()
    expect(page.locator("#m224")).to_be_in_viewport()
    page.locator("#m175").evaluate("message => message.scrollIntoView()")
    page.mouse.move(700, 300)
    page.mouse.wheel(0, -400)
    expect(page.locator("#m125")).to_be_attached()
    expect(page.locator("#m175")).to_be_in_viewport()
    page.locator("#jump").click()
    expect(page.locator("#m420")).to_be_in_viewport()
    expect(page.locator("#newer")).to_have_count(0)
    expect(page.locator("#jump")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()
    assert shown(page) == ("m371", "m420")
    assert page.url.endswith(visitor.places["long"])
    fresh = visitor.open("long")
    assert normal(page) == normal(fresh)


def test_what_is_sent_from_a_window_leads_to_the_latest(visit: Visit) -> None:
    """Also from a second tab, whose window is told of the answer and does not show it, until it
    has come down to it."""
    visitor = visit("zh-hans-dark")
    window = visitor.open(f"{visitor.places['long']}?at=380#m380")
    page = visitor.open(f"{visitor.places['long']}?at=200#m200")
    expect(page.locator("#m200")).to_be_in_viewport()
    send(page, "/slow 20 /long 400 from afar")
    expect(page.locator("#t .said").last).to_have_text("/slow 20 /long 400 from afar")
    expect(page.locator("#m422")).to_be_in_viewport()
    expect(page.locator("#newer")).to_have_count(0)
    expect(page.locator("#t > .message").first).to_have_attribute("id", "m373")
    expect(window.locator("#go [form=stop]")).to_be_visible()
    expect(window.locator("#m422")).to_have_count(0)
    window.locator("#newer").evaluate("way => way.scrollIntoView()")
    expect(window.locator("#m422 .foot")).to_have_attribute("data-state", "streaming")
    window.locator("#go [form=stop]").click()
    for each in (page, window):
        answered(each)
    assert page.locator("#m422").inner_text() == window.locator("#m422").inner_text()
    ask(window, "/long 3 and on")
    answered(window)
    expect(page.locator("#m424 .foot")).to_have_attribute("data-state", "done")


def test_without_scripts_links_lead_to_both_sides(visit: Visit) -> None:
    visitor = visit(java_script_enabled=False)
    page = visitor.open(f"{visitor.places['long']}?at=200#m200")
    page.get_by_role("link", name="Newer messages").click()
    assert shown(page) == ("m225", "m274")
    page.get_by_role("link", name="Older messages").click()
    assert shown(page) == ("m175", "m224")
    page.get_by_role("link", name="Jump to latest").click()
    assert shown(page) == ("m371", "m420")
