"""The details of an answer: opened, read, copied and closed, by mouse, keyboard and thumb."""

import json

from playwright.sync_api import Page, expect

from tests.browser.test_admin import in_administration
from tests.browser.test_message import CLIPBOARD, clipboard
from tests.browser.visitors import Visit


def by_keyboard(page: Page) -> None:
    page.locator("[data-details]").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#details")).to_be_visible()


def test_they_open_by_keyboard_and_give_the_focus_back(visit: Visit) -> None:
    page = visit().open("chat")
    by_keyboard(page)
    dialog = page.get_by_role("dialog", name="Details of the answer")
    expect(dialog).to_contain_text("Status")
    expect(dialog).to_contain_text("Calculator")
    expect(dialog.locator("pre")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page.locator("[data-details]").first).to_be_focused()


def test_the_rows_are_folded_and_can_be_copied(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("chat")
    by_keyboard(page)
    dialog = page.locator("#details")
    dialog.locator("summary").click()
    dialog.get_by_label("Copy").click()
    expect(dialog.locator("[data-done]")).to_be_visible()
    rows = json.loads(clipboard(page))
    assert [row["role"] for row in rows][:2] == ["assistant", "tool"]
    assert rows[0]["tool_calls"][0]["id"] == rows[1]["tool_call_id"]


def test_on_a_phone_they_fit(visit: Visit) -> None:
    page = visit("zh-hans-light", width=390).open("chat")
    page.locator("[data-details]").first.tap()
    dialog = page.get_by_role("dialog", name="回答详情")
    expect(dialog).to_be_visible()
    box = dialog.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert dialog.evaluate("element => element.scrollWidth <= element.clientWidth")
    dialog.get_by_label("关闭").tap()
    expect(dialog).to_have_count(0)


def test_they_open_in_the_administration_too(visit: Visit) -> None:
    """Of an answer of somebody else, whose own page of it an administrator is not given."""
    visitor = visit(**CLIPBOARD)
    page = visitor.open(in_administration(visitor))
    by_keyboard(page)
    dialog = page.locator("#details")
    expect(dialog).to_contain_text("Status")
    dialog.locator("summary").click()
    dialog.get_by_label("Copy").click()
    expect(dialog.locator("[data-done]")).to_be_visible()
    assert json.loads(clipboard(page))[0]["role"] == "assistant"
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_without_scripts_they_are_a_page(visit: Visit) -> None:
    page = visit(java_script_enabled=False).open("chat")
    page.locator("[data-details]").first.click()
    expect(page.get_by_role("heading", name="Details of the answer")).to_be_visible()
    page.get_by_role("link", name="Back to the conversation").click()
    expect(page.locator("#t > .message").first).to_be_visible()
