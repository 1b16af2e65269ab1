"""A conversation in the administration looks as its reader sees it (F3)."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.visitors import Visit, Visitor

LOOKS = """element => {
  const { backgroundColor, color, fontSize, fontWeight, padding, textTransform } =
    getComputedStyle(element);
  return { backgroundColor, color, fontSize, fontWeight, padding, textTransform };
}"""


def in_administration(visitor: Visitor, talk: str = "chat") -> str:
    conversation = visitor.places[talk].strip("/").removeprefix("c/")
    return f"/admin/chat/conversation/{conversation}/change/"


def looks(element: Locator) -> dict[str, str]:
    expect(element).to_be_visible()
    return dict(element.evaluate(LOOKS))


@pytest.mark.parametrize("person", ["en-light", "en-dark"])
def test_a_heading_of_an_answer_looks_as_its_reader_sees_it(visit: Visit, person: str) -> None:
    """Django draws bars across the headings of its own pages."""
    visitor = visit(person)
    read = looks(visitor.open("chat").locator(".markdown h2").first)
    page = visitor.open(in_administration(visitor))
    assert looks(page.locator(".markdown h2").first) == read
    assert read["backgroundColor"] == "rgba(0, 0, 0, 0)"


PARTS = (".said", ".body > .markdown p", ".markdown a", ".markdown th", ".code pre", ".facts")


@pytest.mark.parametrize("person", ["en-light", "en-dark"])
def test_the_parts_of_a_message_look_as_their_reader_sees_them(visit: Visit, person: str) -> None:
    visitor = visit(person)
    read = visitor.open("chat")
    page = visitor.open(in_administration(visitor))
    for part in PARTS:
        assert looks(page.locator(part).first) == looks(read.locator(part).first), part


def test_the_theme_of_the_administration_is_that_of_the_messages(visit: Visit) -> None:
    """Its switch may say something else than the system."""
    visitor = visit("en-light")
    page = visitor.open(in_administration(visitor))
    text = page.locator(".body > .markdown p").first
    light = looks(text)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert (
        looks(text)["color"]
        == looks(visit("en-dark").open("chat").locator(".body > .markdown p").first)["color"]
    )
    assert looks(text)["color"] != light["color"]


def test_the_administration_around_it_is_not_changed(visit: Visit) -> None:
    """As on a page without messages: nothing is clipped, nothing has our colours."""
    visitor = visit()
    page = visitor.open(in_administration(visitor))
    other = visitor.open("/admin/chat/agent/")
    other.locator("#result_list tbody th a").first.click()
    for selector in (".deletelink", "[name=_save]", "#content > h1"):
        box = "element => [element.offsetHeight, getComputedStyle(element).boxSizing]"
        here, there = page.locator(selector).first, other.locator(selector).first
        assert looks(here) == looks(there), selector
        assert here.evaluate(box) == there.evaluate(box), selector


def test_nothing_is_offered_that_does_nothing_there(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open(in_administration(visitor))
    expect(page.locator(".message").first).to_be_visible()
    nothing = "[data-copy=source]:visible, [data-edit]:visible, .go-on:visible"
    expect(page.locator(nothing)).to_have_count(0)
