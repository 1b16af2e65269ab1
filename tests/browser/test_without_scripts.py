"""With scripts off: read, send, stop, log in, change language – plain forms, whole pages."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.owner import Enter, Window


@pytest.fixture
def window(enter: Enter) -> Window:
    return enter(java_script_enabled=False)


@pytest.fixture
def page(window: Window) -> Page:
    return window.open("/")


def send(page: Page, text: str) -> None:
    page.locator("#text").fill(text)
    page.locator("#go button").click()


def test_a_question_is_sent_and_its_answer_read(page: Page) -> None:
    send(page, "/long 20 hello")
    page.wait_for_url(re.compile("/c/[0-9a-f-]{36}/"))
    # The page comes back by itself every three seconds while the answer is written.
    expect(page.locator("#t .foot[data-state=done]")).to_be_visible()
    send(page, "What is 6*7?")
    expect(page.locator("#t .foot[data-state=done]")).to_have_count(2)
    expect(page.locator("#t")).to_contain_text("42")


def test_an_answer_is_stopped(page: Page) -> None:
    send(page, "/slow 50 /long 500 go")
    page.locator("#go [form=stop]").click()
    expect(page.locator("#t .foot[data-state=stopped]")).to_be_visible()


def test_a_refused_message_comes_back_with_the_reason(window: Window, page: Page) -> None:
    send(page, "x" * 200_001)
    expect(page.locator("#toasts")).to_contain_text("too long")
    expect(page.locator("#text")).to_have_value("x" * 200_001)
    window.expected("409 (Conflict)")


def test_a_link_logs_in_once_and_the_language_is_changed(window: Window, newcomer: str) -> None:
    window.context.clear_cookies()
    page = window.open(newcomer)
    page.locator("main button.ink").click()
    expect(page.locator("#composer")).to_be_visible()
    page.wait_for_load_state()
    page.locator("[name=language][value=zh-hans]").first.click(force=True)
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    window.context.clear_cookies()
    page.goto(newcomer)
    expect(page.locator("[name=username]")).to_be_visible()
    page.locator("[name=language][value=zh-hans]").first.click(force=True)
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
