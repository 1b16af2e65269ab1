"""Cards in a browser: changes side by side where there is room, long texts folded, by keyboard."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.talking import answered, ask, new_talk
from tests.browser.test_access import OPENED, VISITS, faults
from tests.browser.visitors import Visit


def show_cards(page: Page, words: str = "") -> Locator:
    """All cards that the demo model has, opened."""
    new_talk(page)
    ask(page, f"/slow 0 /cards {words}".strip())
    answered(page)
    page.locator(".work summary").click()
    page.locator(".tool").evaluate_all(OPENED)
    return page.locator(".tool")


def left(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["x"]


def test_changes_stand_side_by_side_where_there_is_room(visit: Visit) -> None:
    page = visit().open("/")
    show_cards(page)
    edit = page.locator(".tool:has(.diff)")
    cut, add = edit.locator(".cut").first, edit.locator(".add").first
    expect(edit.locator(".cut del").first).to_have_text("return")
    assert left(cut) == left(add)
    switch = page.get_by_role("checkbox", name="Side by side")
    switch.focus()
    page.keyboard.press("Space")
    assert left(add) > left(cut) + 200
    # It is kept, and not for where there is no room.
    page.reload()
    page.locator(".work summary").click()
    page.locator(".tool:has(.diff) > summary").click()
    expect(switch).to_be_checked()
    assert left(add) > left(cut) + 200
    page.set_viewport_size({"width": 700, "height": 900})
    assert left(cut) == left(add)
    expect(switch).to_be_hidden()


def test_what_is_folded_away_is_opened_by_keyboard_and_copied_all_the_same(visit: Visit) -> None:
    visitor = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visitor.open("/")
    show_cards(page)
    more = page.locator(".more > summary", has_text="Show 22 more lines")
    hidden = page.get_by_text("test_month_20")
    expect(hidden).to_be_hidden()
    more.focus()
    page.keyboard.press("Enter")
    expect(hidden).to_be_visible()
    expect(page.get_by_text("Show fewer lines").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(hidden).to_be_hidden()
    page.locator(".field:has(.term) [data-copy]").first.click()
    expect(page.locator("[data-done]")).to_have_count(1)
    copied = page.evaluate("navigator.clipboard.readText()")
    assert len(copied.splitlines()) == 36
    assert "\x1b" not in copied


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    page = visit(person, width, bypass_csp=True).open("/")
    show_cards(page, "中文" if person.startswith("zh") else "")
    if width > 500:
        page.locator("label[for$=split]").click()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
