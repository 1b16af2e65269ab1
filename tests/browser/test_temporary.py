"""A temporary chat as a person meets it: chosen, marked, kept or gone."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.owner import Enter, Window, equals_a_fresh_page
from tests.browser.talking import answered, focused, row, send
from tests.support.process import free_port
from tests.support.server import Server, running_server


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits only a second for a tab that was closed."""
    limits = {"PARLEY_LIMIT_GRACE_SECONDS": "1", "PARLEY_LIMIT_RENEW_SECONDS": "1"}
    data = tmp_path_factory.mktemp("hasty")
    with running_server(data, PORT=str(free_port()), **limits) as server:
        yield server


def begin(window: Window, words: str) -> Page:
    page = window.open("/?temporary=1")
    send(page, words)
    page.wait_for_url("**/c/**")
    answered(page, 1)
    return page


def is_gone(page: Page, place: str) -> None:
    """Its page is not there, within a few rounds of the server."""
    page.wait_for_function(
        "place => fetch(place).then(answer => answer.status === 404)", arg=place, polling=200
    )


def test_it_is_chosen_with_the_pointer_or_by_key(hasty: Server, enter: Enter) -> None:
    page = enter(hasty).open("/")
    box, note = page.get_by_role("checkbox", name="Temporary chat"), page.locator(".unkept")
    expect(note).to_be_hidden()
    page.get_by_text("Temporary", exact=True).click()
    expect(box).to_be_checked()
    expect(note).to_be_visible()
    assert focused(page) == "text"
    page.keyboard.press("Control+Shift+L")
    expect(box).not_to_be_checked()
    box.focus()
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    expect(box).to_be_focused()
    page.goto(hasty.url + "/settings/")
    page.goto(hasty.url + "/")
    send(page, "/long 5 kept hens")
    page.wait_for_url("**/c/**")
    page.keyboard.press("Control+Shift+L")
    page.wait_for_url("**/?temporary=1")
    expect(box).to_be_checked()


def test_its_last_tab_closed_takes_it(hasty: Server, enter: Enter) -> None:
    window = enter(hasty)
    watching = window.open("/")
    page = begin(window, "/long 5 secret hens")
    place = page.url
    expect(page).to_have_title("Temporary chat · Parley")
    expect(page.locator("#column")).not_to_contain_text("secret")
    page.locator(".topbar .menu summary").click()
    expect(page.locator(".topbar .menu div .button:visible")).to_have_text(
        [re.compile("Keep this chat"), re.compile("Open in a window"), re.compile("Delete")]
    )
    page.reload()
    other = window.open(place)
    send(other, "/long 5 again")
    answered(page, 2)
    equals_a_fresh_page(window, page)
    page.close()
    send(other, "/long 5 once more")
    answered(other, 3)
    other.close()
    is_gone(watching, place)
    window.expected("404")


def test_a_kept_one_stays(hasty: Server, enter: Enter) -> None:
    window = enter(hasty)
    watching = window.open("/")
    page = begin(window, "/long 5 kept secret")
    other = window.open(page.url)
    page.get_by_role("button", name="Keep this chat").click()
    for each in (page, other):
        expect(each.locator("#temporary")).to_be_hidden()
        expect(each.locator("#title")).to_have_text("/long 5 kept secret")
        expect(row(each, "kept secret")).to_be_visible()
        equals_a_fresh_page(window, each)
    # Another that nobody keeps goes, long before which this one would have gone.
    place = begin(window, "/long 5 not kept").url
    for each in window.context.pages[1:]:
        each.close()
    is_gone(watching, place)
    row(watching, "kept secret").locator("a").first.click()
    expect(watching.locator("#t")).to_contain_text("kept secret")
    window.expected("404")


def test_without_scripts_it_says_what_happens(hasty: Server, enter: Enter) -> None:
    window = enter(hasty, java_script_enabled=False)
    page = window.open("/")
    page.get_by_text("Temporary", exact=True).click()
    expect(page.locator(".unkept")).to_be_visible()
    page.locator("#text").fill("What is 6*7?")
    page.locator("#go button").click()
    page.wait_for_url("**/c/**")
    # Playwright does not look into a <noscript> by itself.
    said = page.locator("#temporary noscript")
    expect(said).to_be_visible()
    assert "10 minutes after you last loaded it" in said.inner_text()
    expect(page.locator("#temporary .scripted")).to_be_hidden()
    expect(page.locator("#t")).to_contain_text("42")
    page.get_by_role("button", name="Keep this chat").click()
    expect(page.locator("#temporary")).to_be_hidden()
    expect(page.locator("#title")).to_have_text("What is 6*7?")
