"""What people do again and again."""

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


def ask(page: Page, text: str) -> None:
    """Type and send; returns when the answer has begun."""
    page.get_by_label("Write a message").fill(text)
    page.keyboard.press("Enter")
    expect(page.locator("#t .said").last).to_have_text(text)
    expect(page.locator("#t > .message").last).to_have_attribute("data-role", "answer")


def answered(page: Page) -> None:
    """Until nothing is being written any more."""
    expect(page.locator("#t .foot[data-state=streaming]")).to_have_count(0)
    expect(page.locator("#go").get_by_role("button", name="Send")).to_be_visible()


def new_talk(page: Page, text: str = "/long 5 hello") -> None:
    """A conversation of one's own, with one answer."""
    ask(page, text)
    page.wait_for_url("**/c/**")
    answered(page)


def focused(page: Page) -> str:
    """What has the focus: its id, its label or its text."""
    return page.evaluate(
        "(e => e == document.body ? 'BODY' : e.id || e.ariaLabel || e.name || e.innerText)"
        "(document.activeElement)"
    )
