"""The first minute: what the empty page offers to ask is answered well."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered
from tests.support.server import Server

# By the title of an example: what its answer must have.
SHOWN = {
    "en-US": {
        "Split a bill": ".tool",
        "Think it through": ".thinking",
        "Write a script": "figure pre",
        "Make a table": "table",
    },
    "zh-CN": {"分摊账单": ".tool", "仔细想想": ".thinking"},
}


def take(page: Page, title: str) -> None:
    page.goto("/")
    page.locator(".example", has_text=title).click()
    page.wait_for_url("**/c/**")
    answered(page, 1)


@pytest.mark.parametrize("language", SHOWN)
def test_each_example_shows_something_real_in_ones_own_language(
    enter: Enter, language: str
) -> None:
    """A16"""
    window = enter(locale=language)
    page = window.open("/")
    for title, shown in SHOWN[language].items():
        take(page, title)
        expect(page.locator(f"#t {shown}").first).to_be_attached()
        expect(page.locator("#t")).not_to_contain_text("cannot really answer")
        expect(page.locator("#t a[href^='/?draft=']")).to_have_count(3)
    equals_a_fresh_page(window, page)


def test_a_prompt_fills_the_composer_by_click_and_by_key_and_sends_nothing(enter: Enter) -> None:
    window = enter()
    page = window.open("/")
    page.locator("#text").fill("Hello")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/**")
    answered(page, 1)
    first, second = page.locator("#t a[href^='/?draft=']").all()[:2]
    first.click()
    text = page.locator("#text")
    expect(text).to_have_value(first.inner_text())
    expect(text).to_be_focused()
    second.focus()
    page.keyboard.press("Enter")
    expect(text).to_have_value(f"{first.inner_text()}\n{second.inner_text()}")
    expect(page.locator("#t > [data-role=user]")).to_have_count(1)
    page.reload()
    expect(text).to_have_value(f"{first.inner_text()}\n{second.inner_text()}")


def test_without_scripts_a_prompt_leads_to_a_new_chat_that_has_its_words(enter: Enter) -> None:
    page = enter(java_script_enabled=False).open("/?draft=Plan%20a%20weekend")
    expect(page.locator("#text")).to_have_value("Plan a weekend")


def test_the_log_in_page_tells_an_owner_without_a_link_how_to_get_one(
    server: Server, browser: Browser
) -> None:
    context = browser.new_context(base_url=server.url)
    page = context.new_page()
    page.goto("/")
    page.get_by_text("No password?").click()
    expect(page.locator("code").first).to_have_text("make link")
    context.close()
