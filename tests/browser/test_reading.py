"""Reading an answer: what one thinks of it, its code, its tables."""

import re

from playwright.sync_api import expect

from tests.browser.talking import answered, ask, new_talk
from tests.browser.test_access import faults
from tests.browser.test_message import CLIPBOARD, clipboard
from tests.browser.visitors import Visit

NUMBERED = re.compile("^1\n2")


def test_an_answer_is_judged_with_a_word(visit: Visit) -> None:
    page = visit().open("/")
    new_talk(page)
    other = page.context.new_page()
    other.goto(page.url)
    foot = page.locator(".foot").last
    foot.get_by_label("Bad answer").click()
    bad = other.locator(".foot").last.get_by_label("Bad answer")
    expect(bad).to_have_attribute("aria-pressed", "true")
    foot.get_by_text("Say why").click()
    page.get_by_role("dialog").get_by_role("textbox").fill("It is too long")
    page.keyboard.press("Enter")
    expect(other.locator(".foot").last.locator("q")).to_have_text("It is too long")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.reload()
    expect(foot.locator("q")).to_have_text("It is too long")
    foot.get_by_label("Bad answer").click()
    expect(bad).to_have_attribute("aria-pressed", "false")
    expect(other.locator(".foot q")).to_have_count(0)


def test_code_is_wrapped_numbered_and_downloaded(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("chat")
    code = page.locator("figure.code").first
    before = page.locator("figure.code pre").first.text_content()
    code.get_by_label("Line numbers").click()
    expect(code.locator("pre")).to_have_attribute("data-lines", NUMBERED)
    code.get_by_label("Copy").click()
    expect(code.locator("[data-done]")).to_be_visible()
    assert clipboard(page) == (before or "").strip()
    page.reload()
    expect(code.locator("pre")).to_have_attribute("data-lines", NUMBERED)
    code.get_by_label("Wrap lines").click()
    expect(code.get_by_label("Wrap lines")).to_have_attribute("aria-pressed", "true")
    expect(code.locator("pre")).to_have_css("white-space", "pre-wrap")
    with page.expect_download() as download:
        code.get_by_label("Download").click()
    assert download.value.suggested_filename == "code.py"


def test_a_table_is_copied_and_stays_on_a_phone(visit: Visit) -> None:
    page = visit(width=390, **CLIPBOARD).open("chat")
    table = page.locator(".table").first
    table.focus()
    table.get_by_label("Copy as Markdown").click()
    expect(table.locator("[data-done]")).to_be_visible()
    assert clipboard(page).startswith("| Item | When | Share | Amount |\n| --- |")
    page.evaluate("document.querySelector('.table td').textContent = '=1+1, \"x\"'")
    table.get_by_label("Copy as CSV").click()
    page.wait_for_function("navigator.clipboard.readText().then((t) => t.startsWith('Item,'))")
    assert clipboard(page).splitlines()[1].startswith('"\'=1+1, ""x""",')
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_tables_of_one_chat_are_told_apart(visit: Visit) -> None:
    """Each is named after its columns; where these are the same, axe finds no landmark twice."""
    page = visit("en-dark", bypass_csp=True).open("/")
    question = "Compare SQLite, PostgreSQL and DuckDB for one user"
    new_talk(page, question)
    ask(page, question)
    answered(page, 2)
    tables = page.locator("#t .table")
    expect(tables).to_have_count(2)
    heads = tables.first.locator("th").all_inner_texts()
    expect(tables.first).to_have_attribute("aria-label", f"Table: {', '.join(filter(None, heads))}")
    assert faults(page) == []
