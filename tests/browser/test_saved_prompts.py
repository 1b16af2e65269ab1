"""Saved prompts: kept in the settings, used with a slash."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.owner import Enter
from tests.browser.talking import answered, ask, new_talk
from tests.browser.test_access import VISITS, faults
from tests.browser.visitors import Visit


def keep(page: Page, name: str, text: str) -> None:
    page.goto("/settings/prompts/")
    page.locator("#prompt-name").fill(name)
    page.locator("#prompt-text").fill(text)
    page.locator("form:has(#prompt-name) button").click()
    expect(page.locator("strong", has_text=f"/{name}")).to_be_visible()


def forget_all(page: Page) -> None:
    page.goto("/settings/prompts/")
    while page.locator(".saved-prompts details").count():
        page.locator(".saved-prompts details summary").first.click()
        page.locator(".saved-prompts details[open] button").click()


def listed(page: Page) -> Locator:
    return page.locator("#offered [role=option]:visible .name")


def chosen(page: Page) -> Locator:
    return page.locator("#offered [aria-selected=true] .name")


@pytest.fixture
def page(enter: Enter) -> Iterator[Page]:
    """The owner, who has kept three prompts."""
    page = enter().open("/settings/prompts/")
    keep(page, "translate", "Translate into {{language:French}}, {{tone}}: {{text}} ({{language}})")
    keep(page, "sum-up", "Sum this up in one line.")
    keep(page, "test-plan", "/long 3 tests")
    page.goto("/")
    yield page
    forget_all(page)


def test_they_are_managed_on_a_page_of_the_settings(visit: Visit) -> None:
    page = visit("zh-hans-dark", java_script_enabled=False).open("/settings/")
    page.get_by_role("link", name="您保存的提示词").click()
    keep(page, "总结", "用一句话总结：{{文本}}")
    page.get_by_role("link", name="编辑").click()
    expect(page.locator("#prompt-text")).to_have_value("用一句话总结：{{文本}}")
    page.locator("#prompt-name").fill("两个 词")
    page.locator("form:has(#prompt-name) button").click()
    expect(page.get_by_role("alert")).to_contain_text("一个词")
    expect(page.locator("#prompt-name")).to_have_value("两个 词")
    page.locator("#prompt-name").fill("概括")
    page.locator("form:has(#prompt-name) button").click()
    expect(page.locator("strong", has_text="/概括")).to_be_visible()
    forget_all(page)
    expect(page.locator(".saved-prompts")).to_have_count(0)


def test_a_slash_lists_them_and_keys_put_one_into_the_composer(page: Page) -> None:
    new_talk(page)
    text = page.locator("#text")
    text.press("/")
    expect(listed(page)).to_have_text(["/sum-up", "/test-plan", "/translate"])
    expect(chosen(page)).to_have_text("/sum-up")
    page.keyboard.press("ArrowDown")
    expect(chosen(page)).to_have_text("/test-plan")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(chosen(page)).to_have_text("/translate")
    active = text.get_attribute("aria-activedescendant")
    expect(page.locator(f"#{active} .name")).to_have_text("/translate")
    # By how a word of the name begins.
    page.keyboard.type("p")
    expect(listed(page)).to_have_text(["/test-plan"])
    page.keyboard.press("Backspace")
    page.keyboard.type("SU")
    expect(listed(page)).to_have_text(["/sum-up"])
    # While Chinese is being composed, Enter is not ours.
    text.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    expect(text).to_have_value("/SU")
    page.keyboard.press("Tab")
    expect(text).to_have_value("Sum this up in one line.")
    expect(text).to_be_focused()
    expect(page.locator("#offered:visible")).to_have_count(0)
    expect(page.locator("#t > [data-role=user]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#t > [data-role=user]")).to_have_count(2)
    answered(page, 2)


def test_variables_are_asked_for_first(page: Page) -> None:
    text = page.locator("#text")
    text.press("/")
    expect(listed(page)).to_have_count(3)
    page.keyboard.type("tr")
    expect(listed(page)).to_have_count(1)
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="/translate")
    expect(dialog.get_by_role("textbox")).to_have_count(3)
    expect(dialog.get_by_label("language")).to_be_focused()
    expect(dialog.get_by_label("language")).to_have_value("French")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(text).to_be_focused()
    expect(text).to_have_value("/tr")

    page.keyboard.press("Backspace")
    text.fill("")
    text.press("/")
    expect(listed(page)).to_have_count(3)
    page.locator("#offered [role=option]", has_text="/translate").click()
    expect(dialog.get_by_label("language")).to_be_focused()
    page.keyboard.type("German")
    page.keyboard.press("Tab")
    page.keyboard.type("kind")
    page.keyboard.press("Tab")
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two $& three")
    page.keyboard.press("Enter")
    filled = "Translate into German, kind: one\ntwo $& three (German)"
    expect(text).to_have_value(filled)
    expect(text).to_be_focused()
    # It is a draft like any other.
    page.reload()
    expect(text).to_have_value(filled)
    text.fill("")


def test_a_slash_that_means_something_else_is_sent(page: Page) -> None:
    new_talk(page)
    text = page.locator("#text")
    # What no prompt is called closes the list, and so does a space.
    text.press("/")
    expect(listed(page)).to_have_count(3)
    page.keyboard.type("long")
    expect(page.locator("#offered:visible")).to_have_count(0)
    page.keyboard.type(" 3 hi")
    page.keyboard.press("Enter")
    expect(page.locator("#t > [data-role=user]")).to_have_count(2)
    answered(page, 2)
    # Escape closes the list, and neither stops the answer nor clears what was typed.
    ask(page, "/slow 60 /long 200 go on")
    text.press("/")
    expect(listed(page)).to_have_count(3)
    page.keyboard.press("Escape")
    expect(page.locator("#offered:visible")).to_have_count(0)
    expect(text).to_have_value("/")
    page.keyboard.type("s")
    expect(page.locator("#offered:visible")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".mark-line")).to_contain_text("Stopped by you")
    text.fill("")


def test_shared_ones_are_published_in_the_administration(enter: Enter) -> None:
    page = enter().open("/settings/prompts/")
    page.get_by_role("link", name="Shared prompts").click()
    page.get_by_role("link", name="Add saved prompt").click()
    page.locator("#id_name").fill("house-style")
    page.locator("#id_text").fill("Write as we do.")
    page.locator("[name=_save]").click()
    page.goto("/")
    page.locator("#text").press("/")
    expect(page.locator("#offered [role=option]")).to_contain_text(["Shared"])
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_have_value("Write as we do.")
    page.locator("#text").fill("")
    page.goto("/admin/chat/prompt/")
    page.get_by_role("link", name="house-style").click()
    page.get_by_role("link", name="Delete").click()
    page.locator("form [type=submit]").last.click()
    expect(page.get_by_role("link", name="house-style")).to_have_count(0)


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    page = visit(person, width, bypass_csp=True).open("/settings/prompts/")
    keep(page, f"axe-{width}", "{{one}} and {{two:2}}")
    assert faults(page) == []
    page.goto("/")
    page.locator("#text").press("/")
    expect(listed(page).first).to_be_visible()
    assert faults(page) == []
    page.locator("#offered [role=option]").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []
    page.keyboard.press("Escape")
    forget_all(page)
