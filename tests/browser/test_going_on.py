"""A8: answers go on while one is elsewhere, and what ended there is marked."""

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.owner import Enter
from tests.browser.talking import answered, ask, row
from tests.support.process import free_port
from tests.support.server import Server, running_server

GRACE = 2
LONG = "/slow 200 /long 2000"
# A page that lies behind others: Chromium without a screen takes all for visible.
HIDE = """hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits only two seconds for a tab that was closed."""
    limits = {"PARLEY_LIMIT_GRACE_SECONDS": str(GRACE), "PARLEY_LIMIT_RENEW_SECONDS": "1"}
    data = tmp_path_factory.mktemp("hasty")
    with running_server(data, PORT=str(free_port()), **limits) as server:
        yield server


def begin(page: Page, words: str) -> str:
    """A long answer; the address of its conversation."""
    ask(page, f"{LONG} {words}")
    page.wait_for_url("**/c/**")
    expect(page.locator("#go [form=stop]")).to_be_visible()
    return page.url


def wait_until_it_would_have_been_stopped(page: Page) -> None:
    end = time.monotonic() + 2 * GRACE + 2
    while time.monotonic() < end:
        page.wait_for_timeout(100)


def stop(page: Page) -> None:
    page.locator("#go [form=stop]").click()
    answered(page)


def test_other_pages_in_the_same_tab_stop_nothing(hasty: Server, enter: Enter) -> None:
    window = enter(hasty)
    page = window.open("/")
    place = begin(page, "navigating")
    for elsewhere in ("/", "/settings/", "/admin/"):
        page.goto(hasty.url + elsewhere)
        wait_until_it_would_have_been_stopped(page)
    page.goto(place)
    stop(page)
    expect(page.locator("#t")).not_to_contain_text("nobody was watching")


def test_closing_one_of_two_tabs_stops_nothing_and_the_last_one_does(
    hasty: Server, enter: Enter
) -> None:
    window = enter(hasty)
    watching = window.open("/")
    page = window.open("/")
    place = begin(page, "closing")
    other = window.open(place)
    expect(other.locator("#go [form=stop]")).to_be_visible()
    page.close()
    wait_until_it_would_have_been_stopped(watching)
    expect(row(watching, "closing").locator(".live")).to_be_visible()
    other.close()
    # Not the column's own compare, which is once a minute: the end is told.
    expect(row(watching, "closing").locator(".unread")).to_be_visible()
    watching.goto(place)
    expect(watching.locator("#t")).to_contain_text("nobody was watching")


def test_a_lost_connection_is_waited_for(hasty: Server, enter: Enter) -> None:
    window = enter(hasty)
    page = window.open("/")
    links: list[WebSocketRoute] = []
    away = False

    def connect(link: WebSocketRoute) -> None:
        if away:
            link.close(code=1012)
        else:
            link.connect_to_server()
            links.append(link)

    page.route_web_socket("**/ws/**", connect)
    begin(page, "losing")
    away = True
    links[-1].close(code=1012)
    expect(page.locator("#connection")).to_be_visible()
    wait_until_it_would_have_been_stopped(page)
    away = False
    expect(page.locator("#connection")).to_be_hidden()
    stop(page)
    expect(page.locator("#t")).not_to_contain_text("nobody was watching")


def test_what_ended_unseen_is_marked_in_column_title_and_icon(hasty: Server, enter: Enter) -> None:
    """Saved settings stay saved, their language too: not with the owner whom other tests share."""
    window = enter(hasty, permissions=["notifications"])
    told = """window.told = [];
        window.Notification = class extends EventTarget {
            static permission = "granted";
            static requestPermission = async () => "granted";
            constructor(title, { body }) { super(); window.told.push(`${title}: ${body}`); }
        };"""
    window.context.add_init_script(told)
    page = window.open("/settings/")
    page.get_by_label("Notify me of answers").check()
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_text("Saved.")).to_be_visible()

    page.goto(window.url + "/")
    other = window.open("/")
    ask(page, "/slow 30 /long 300 unseen")
    page.wait_for_url("**/c/**")
    page.evaluate(HIDE, True)
    answered(page)
    for each in (page, other):
        expect(row(each, "unseen").locator(".unread")).to_be_visible()
        expect(each).to_have_title("(1) " + each.locator("#title").inner_text() + " · Parley")
        assert "circle" in each.locator("link[rel=icon]").get_attribute("href")
    assert page.evaluate("told.length") == 1
    assert page.evaluate("told[0]").endswith("The answer is ready.")
    assert other.evaluate("told") == []

    page.evaluate(HIDE, False)
    for each in (page, other):
        expect(row(each, "unseen").locator(".unread")).to_have_count(0)
        expect(each).to_have_title(each.locator("#title").inner_text() + " · Parley")
        assert "circle" not in each.locator("link[rel=icon]").get_attribute("href")


def test_a_browser_that_refuses_notifications_says_so(hasty: Server, enter: Enter) -> None:
    page = enter(hasty, permissions=[]).open("/settings/")
    page.evaluate("Notification.requestPermission = async () => 'denied'")
    box = page.get_by_label("Notify me of answers")
    box.uncheck()
    # Not `check`, which wants it to stay on.
    box.click()
    expect(page.get_by_text("Your browser does not allow it")).to_be_visible()
    expect(box).not_to_be_checked()
