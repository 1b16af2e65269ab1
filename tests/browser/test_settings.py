"""The settings: a plain form that works without scripts (A16)."""

import pytest
from playwright.sync_api import expect

from tests.browser.visitors import Visit


def test_the_gear_leads_there_and_the_arrow_back(visit: Visit) -> None:
    page = visit().open("/")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_role("heading", name="Settings", level=1)).to_be_visible()
    page.get_by_role("link", name="Back to your conversations").click()
    expect(page.locator("#empty")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_tools_are_switched_everywhere_and_for_each_agent(visit: Visit, scripts: bool) -> None:
    """A16"""
    page = visit(java_script_enabled=scripts).open("/settings/")
    everywhere = page.get_by_label("Calculator everywhere")
    researcher = page.get_by_label("Plan for Researcher")
    form = page.locator("form", has=everywhere)
    for on in (False, True):
        everywhere.set_checked(on)
        researcher.set_checked(not on)
        form.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        expect(everywhere).to_be_checked(checked=on)
        expect(researcher).to_be_checked(checked=not on)


def test_language_theme_zone_and_going_on_are_kept(visit: Visit) -> None:
    """A13: language per reader."""
    page = visit("zh-hans-light", java_script_enabled=False).open("/settings/")
    page.get_by_label("语言").select_option("en")
    page.get_by_label("深色").check(force=True)
    # In the language of the person, not of the browser.
    expect(page.get_by_label("时区")).to_contain_text("与浏览器一致")
    page.get_by_label("时区").select_option("Asia/Shanghai")
    page.get_by_label("离开后继续生成").check()
    page.locator("form").first.get_by_role("button").click()

    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Shanghai")
    expect(page.get_by_label("Keep generating when I leave")).to_be_checked()
    page.get_by_label("Language").select_option("zh-hans")
    page.get_by_label("Light").check(force=True)
    page.locator("form").first.get_by_role("button").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")


def test_a_page_that_says_no_speaks_as_the_others_do(visit: Visit) -> None:
    """A13: in a browser that asks for English, somebody who reads Chinese."""
    page = visit("zh-hans-light", locale="en-US").open("/")
    page.goto("/no/such/page")
    expect(page.get_by_role("heading", name="未找到")).to_be_visible()
