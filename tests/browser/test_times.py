"""Times are those of the place where the browser is."""

from playwright.sync_api import Page, expect

from tests.browser.talking import new_talk
from tests.browser.visitors import Visit

# So far apart that it is another part of the day in some of them than in UTC, the server's.
ZONES = ("America/Los_Angeles", "Asia/Shanghai", "Pacific/Auckland", "UTC")
GREETINGS = """() => {
  const hour = new Date().getHours();
  return hour >= 5 && hour < 12 ? "Good morning" : hour >= 12 && hour < 18
    ? "Good afternoon" : "Good evening";
}"""
SHOWN = "e => [e.innerText, new Date(e.dateTime).toTimeString().slice(0, 5)]"


def greeted(page: Page) -> None:
    """By the clock of the browser; the hour may turn while the page is loaded."""
    before: str = page.evaluate(GREETINGS)
    heading = page.locator("#empty h2").inner_text()
    assert heading.startswith((before, page.evaluate(GREETINGS)))


def test_times_and_the_greeting_are_those_of_the_browser(visit: Visit) -> None:
    """From the first page on, live and after a reload."""
    for zone in ZONES:
        page = visit(timezone_id=zone).open("/")
        expect(page.locator("html")).to_have_attribute("data-zone", zone)
        greeted(page)
    page = visit(timezone_id="America/Los_Angeles").open("/")
    expect(page.locator("html")).to_have_attribute("data-zone", "America/Los_Angeles")
    new_talk(page)
    shown, told = page.locator("#t time").last.evaluate(SHOWN)
    assert shown == told
    fresh = page.context.new_page()
    fresh.goto(page.url)
    expect(fresh.locator("#t time")).to_have_count(page.locator("#t time").count())
    assert fresh.locator("#t time").last.evaluate(SHOWN) == [shown, told]


def test_a_zone_that_a_person_has_set_wins(visit: Visit) -> None:
    """Set in the settings, and taken back there."""
    visitor = visit("en-dark", timezone_id="Asia/Shanghai")
    page = visitor.open("/settings/")
    zone = page.get_by_label("Time zone")
    expect(zone.locator("option:checked")).to_have_text("That of the browser")
    zone.select_option("America/Los_Angeles")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_url("**/settings/?saved")
    page.goto("/")
    new_talk(page)
    shown, told = page.locator("#t time").last.evaluate(SHOWN)
    assert shown != told
    page.goto("/settings/")
    page.get_by_label("Time zone").select_option("")
    page.get_by_role("button", name="Save").first.click()
    page.wait_for_url("**/settings/?saved")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-zone", "Asia/Shanghai")
    greeted(page)


def test_a_zone_that_nobody_knows_is_passed_over(visit: Visit) -> None:
    """The page is not loaded again and again for it."""
    visitor = visit()
    visitor.context.add_init_script(
        "Intl.DateTimeFormat.prototype.resolvedOptions = () => ({ timeZone: 'Mars/Olympus' })"
    )
    page = visitor.open("/")
    loads = []
    page.on("load", lambda: loads.append(page.url))
    expect(page.locator("#text")).to_be_focused()
    page.goto("/settings/")
    page.goto("/")
    expect(page.locator("#text")).to_be_focused()
    assert len(loads) <= 3
    expect(page.locator("html")).to_have_attribute("data-zone", "UTC")
