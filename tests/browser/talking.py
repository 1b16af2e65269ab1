"""What people do again and again."""

import re

from playwright.sync_api import Locator, Page, expect


def row(page: Page, title: str) -> Locator:
    """A conversation in the column."""
    return page.locator("#column .row", has_text=title)


def menu(page: Page, title: str) -> Locator:
    """The same, with its menu open."""
    found = row(page, title)
    found.hover()
    found.locator("summary").click()
    return found


def send(page: Page, text: str) -> None:
    """Type and press Enter; on a phone, where Enter ends a line, the button."""
    page.locator("#text").fill(text)
    if page.evaluate("matchMedia('(pointer: coarse) and (hover: none)').matches"):
        page.locator("#go button").click()
    else:
        page.locator("#text").press("Enter")


def begin(page: Page, text: str) -> None:
    """The first message of a chat, which leads to its page."""
    send(page, text)
    page.wait_for_url(re.compile("/c/[0-9a-f-]{36}/"))


def ask(page: Page, text: str) -> None:
    """Send, and wait until the answer has begun."""
    send(page, text)
    expect(page.locator("#t .said").last).to_have_text(text)
    expect(page.locator("#t > .message").last).to_have_attribute("data-role", "answer")


def answered(page: Page, answers: int | None = None) -> None:
    """Until nothing is being written any more, and so many answers are there."""
    if answers is not None:
        ended = page.locator("#t > .message > .foot:not([data-state=streaming])")
        expect(ended).to_have_count(answers)
    expect(page.locator("#t .foot[data-state=streaming]")).to_have_count(0)
    expect(page.locator("#go [form=stop]")).to_have_count(0)


def new_talk(page: Page, text: str = "/long 5 hello") -> None:
    """A conversation of one's own, with one answer."""
    ask(page, text)
    page.wait_for_url("**/c/**")
    answered(page)


def choose_model(page: Page, name: str) -> None:
    """By the list, with the keyboard."""
    page.locator("[data-models]").click()
    page.get_by_role("combobox", name="Search models").fill(name)
    page.keyboard.press("Enter")
    expect(page.locator("#models")).to_have_count(0)


def focused(page: Page) -> str:
    """What has the focus: its id, its label or its text."""
    return page.evaluate(
        "(e => e == document.body ? 'BODY' : e.id || e.ariaLabel || e.name || e.innerText)"
        "(document.activeElement)"
    )
