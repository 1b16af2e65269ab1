"""Searching in a real browser: in the dialog as one types, by keyboard, and without scripts."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visitors import Visit


def search(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(words)


def test_what_is_found_is_marked_and_walked_through_by_keyboard(page: Page) -> None:
    """The arrow leads into the results of the words in the box, also when those of earlier words
    are still there; Escape leads back to where one was."""
    page.locator("#text").focus()
    search(page, '"text 4"')
    expect(page.locator("#found mark").first).to_be_visible()
    expect(page.locator("#found-count")).to_contain_text("found")
    page.locator("#q").fill("espresso")
    page.keyboard.press("ArrowDown")
    first = page.locator("#found .found > a").first
    expect(first).to_be_focused()
    expect(first).to_contain_text("espresso")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.locator("#found").get_by_role("link").first.wait_for()
    page.get_by_label("With files").check()
    expect(page.locator("#found .nothing")).to_contain_text("Fewer filters")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_hidden()
    expect(page.locator("#text")).to_be_focused()


def test_a_message_far_up_is_shown_where_it_stands(page: Page) -> None:
    page.get_by_role("button", name="Search").click()
    page.keyboard.type('"text 7"')
    # What is found by the first letters of it leads elsewhere.
    page.locator("#found .found > a[href$='#m7']", has_text="A long talk").click()
    expect(page.locator("#m7")).to_be_in_viewport()
    expect(page.locator("#composer")).to_be_visible()


@pytest.mark.parametrize("person", ["zh-hans-light", "zh-hans-dark"])
def test_two_chinese_letters_are_enough(visit: Visit, person: str) -> None:
    page = visit(person, width=390).open("/")
    search(page, "备份")
    expect(page.locator("#found mark").first).to_have_text("备份")
    search(page, "没有这个")
    expect(page.locator("#found .nothing")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_with_results_needs_no_scripts(visit: Visit, scripts: bool) -> None:
    page = visit(java_script_enabled=scripts).open("/?q=espresso&files=on")
    expect(page.locator("#column .nothing")).to_be_visible()
    page.locator("nav").get_by_label("With files").uncheck()
    page.locator("nav").get_by_role("button", name="Search").click()
    expect(page.locator("#column .found")).to_have_count(1)
    page.locator("#column .found > a").click()
    expect(page.locator("#title")).to_contain_text("espresso")
