"""The outline: the questions of a conversation and the headings of long answers, to jump to."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.talking import answered, ask, focused, new_talk, send
from tests.browser.test_access import VISITS, faults
from tests.browser.visitors import Visit

LONG = "/long 700 everything"


def outline(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Outline")


def headings(page: Page) -> Locator:
    return page.locator("#outline li li button")


def current(page: Page) -> Locator:
    return page.locator("#outline [aria-current=location]")


def open_it(page: Page) -> None:
    # Not `click`, which may scroll a page whose top bar is sticky.
    page.locator("[data-show-outline]").dispatch_event("click")
    expect(page.locator("#outline li").first).to_be_visible()


def top(element: Locator) -> float:
    return float(element.evaluate("element => element.getBoundingClientRect().top"))


def test_it_stands_beside_the_text_and_leads_through_it(page: Page) -> None:
    new_talk(page, LONG)
    send(page, "/long 3 **And** a `second` question?")
    answered(page, 2)
    open_it(page)
    links = page.locator("#outline > ol > li > a")
    expect(links).to_have_text(["/long 700 everything", "/long 3 And a second question?"])
    titles = page.locator("#m2 .markdown > h2")
    assert titles.count() > 3
    expect(headings(page)).to_have_text(titles.all_text_contents())
    covered = page.evaluate(
        """() => {
          const left = document.getElementById("outline").getBoundingClientRect().left;
          const texts = [...document.querySelectorAll("#t .markdown > *, #composer")];
          return texts.filter((each) => each.getBoundingClientRect().right > left).length;
        }"""
    )
    assert covered == 0

    headings(page).nth(2).click()
    assert 0 < top(titles.nth(2)) < 100
    expect(titles.nth(2)).to_be_focused()
    expect(current(page)).to_have_text(titles.nth(2).inner_text())
    # By scrolling one comes to the next.
    page.mouse.move(700, 400)
    page.mouse.wheel(0, top(titles.nth(3)) - 80)
    expect(current(page)).to_have_text(titles.nth(3).inner_text())
    links.first.click()
    assert top(page.locator("#m1")) > 0
    expect(current(page)).to_have_text("/long 700 everything")

    # It is there again on the next page, until it is closed.
    page.reload()
    expect(outline(page)).to_be_visible()
    expect(headings(page)).to_have_count(titles.count())
    page.get_by_role("button", name="Close the outline").click()
    expect(outline(page)).to_be_hidden()
    page.reload()
    expect(page.locator("#t .message")).to_have_count(4)
    expect(outline(page)).to_be_hidden()


def test_keys_are_enough(page: Page) -> None:
    new_talk(page, LONG)
    page.locator("#t").focus()
    page.keyboard.press("o")
    expect(headings(page).first).to_be_visible()
    assert focused(page) == "Close the outline"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(headings(page).first).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    title = page.locator("#m2 .markdown > h2").nth(1)
    expect(title).to_be_focused()
    assert 0 < top(title) < 100
    before = page.evaluate("scrollY")
    page.keyboard.press("o")
    expect(outline(page)).to_be_hidden()
    assert focused(page) == "Outline"
    assert page.evaluate("scrollY") == before
    # In the composer it is a letter.
    page.locator("#text").focus()
    page.keyboard.press("o")
    expect(page.locator("#text")).to_have_value("o")
    expect(outline(page)).to_be_hidden()


def test_on_a_phone_it_is_a_drawer(visit: Visit) -> None:
    page = visit("zh-hans-dark", 390).open("/")
    new_talk(page, LONG)
    open_it(page)
    expect(page.get_by_role("navigation", name="大纲")).to_be_visible()
    headings(page).nth(1).tap()
    expect(page.locator("#outline")).to_be_hidden()
    assert 0 < top(page.locator("#m2 .markdown > h2").nth(1)) < 110
    open_it(page)
    expect(current(page)).to_have_text(headings(page).nth(1).inner_text())
    page.keyboard.press("Escape")
    expect(page.locator("#outline")).to_be_hidden()


def test_it_grows_with_the_conversation(page: Page) -> None:
    """A question at once, the headings of its answer when that has ended; no words in between."""
    new_talk(page)
    open_it(page)
    expect(page.locator("#outline li")).to_have_count(1)
    ask(page, "/slow 2 /long 700 more")
    expect(page.locator("#outline > ol > li > a")).to_have_count(2)
    expect(page.locator("#t .foot[data-state=streaming]")).to_have_count(1)
    expect(headings(page)).to_have_count(0)
    answered(page, 2)
    expect(headings(page).first).to_be_visible()
    # An answer that is not long has none.
    expect(page.locator("#outline > ol > li").first.locator("button")).to_have_count(0)


def test_a_question_that_is_not_on_the_page_has_one_of_its_own(visit: Visit) -> None:
    page = visit().open("long")
    expect(page.locator("#m1")).to_have_count(0)
    open_it(page)
    links = page.locator("#outline > ol > li > a")
    expect(links).to_have_count(210)
    links.first.click()
    page.wait_for_url(re.compile(r"\?at=1#m1"))
    expect(page.locator("#m1")).to_be_in_viewport()
    page.locator("[data-hide-outline]").click()


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    page = visit(person, width, bypass_csp=True).open("chat")
    open_it(page)
    assert faults(page) == []
