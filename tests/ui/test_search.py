"""Searching in a real browser: as one types, by keyboard, and back."""

import pytest
from playwright.sync_api import Page, expect

from tests.ui.conftest import Visit


def search(page: Page, words: str) -> None:
    page.keyboard.press("Control+k")
    page.keyboard.type(words)


def test_what_is_found_is_marked_and_walked_through_by_keyboard(page: Page) -> None:
    everything = page.locator("#column .row").count()
    search(page, "text 4")
    expect(page.locator("#column .found mark").first).to_be_visible()
    page.locator("#q").fill("the")
    expect(page.locator("#column .found")).not_to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(page.locator("#column .found > a").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#column .found > a").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value("")
    expect(page.locator("#column .row")).to_have_count(everything)
    expect(page.locator("#column .found")).to_have_count(0)


def test_a_message_far_up_is_shown_where_it_stands(page: Page) -> None:
    search(page, '"text 7"')
    page.locator("#column .found > a", has_text="A long talk").click()
    expect(page.locator("#m7")).to_be_in_viewport()


@pytest.mark.parametrize("person", ["zh-hans-light", "zh-hans-dark"])
def test_two_chinese_letters_are_enough(visit: Visit, person: str) -> None:
    page = visit(person).open("/")
    search(page, "备份")
    expect(page.locator("#column .found mark").first).to_have_text("备份")
    search(page, "没有这个")
    expect(page.locator("#column .nothing")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_page_with_results_needs_no_scripts(visit: Visit, scripts: bool) -> None:
    page = visit(java_script_enabled=scripts).open("/?q=espresso")
    expect(page.locator("#column .found")).to_have_count(1)
    page.locator("#column .found > a").click()
    expect(page.locator("#title")).to_contain_text("espresso")
