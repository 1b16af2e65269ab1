"""The page of a new chat says what the chosen agent can do, and what it can be asked."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.test_access import faults
from tests.browser.visitors import Visit

# By person: what the other agent is called, and what it says of itself.
SPOKEN = {
    "en-light": ("Researcher", "names its sources", "What is new in SQLite?"),
    "zh-hans-dark": ("研究员", "注明出处", "SQLite 有什么新内容？"),
}


def picker(page: Page) -> Locator:
    return page.locator("#composer [name=agent]")


def choose_by_key(page: Page, wanted: str) -> None:
    """The next agent or the one before, with the arrow keys."""
    picker(page).focus()
    page.keyboard.press("ArrowDown")
    if picker(page).locator("option:checked").inner_text() != wanted:
        page.keyboard.press("ArrowUp")
    expect(picker(page).locator("option:checked")).to_have_text(wanted)


@pytest.mark.parametrize("person", SPOKEN)
def test_another_agent_introduces_itself_while_one_writes(visit: Visit, person: str) -> None:
    """By keyboard; what was typed stays, the focus too, and screen readers are told."""
    agent, abilities, question = SPOKEN[person]
    page = visit(person, bypass_csp=True).open("/")
    expect(page.locator(".example")).to_have_count(4)
    page.locator("#text").fill("Half a thou")
    choose_by_key(page, agent)
    expect(page.locator("#introduction p")).to_contain_text(abilities)
    expect(page.locator("#status")).to_contain_text(abilities)
    expect(page.locator(".example")).to_have_count(1)
    expect(page.locator(".example")).to_contain_text(question)
    expect(picker(page)).to_be_focused()
    expect(page.locator("#text")).to_have_value("Half a thou")
    assert faults(page) == []


def test_the_example_of_a_chosen_agent_is_answered_by_it(visit: Visit) -> None:
    page = visit("en-dark").open("/")
    picker(page).select_option("Researcher")
    page.locator(".example", has_text="Look it up").click()
    page.wait_for_url("**/c/**")
    expect(page.locator("#t .said").first).to_have_text("What is new in SQLite?")
    expect(page.locator(".facts").first).to_contain_text("Researcher")
    # Who has chosen an agent finds it, and its words, in the next new chat.
    page.goto("/")
    expect(page.locator("#introduction p")).to_contain_text("names its sources")
    picker(page).select_option("Assistant")
    expect(page.locator(".example")).to_have_count(4)
    page.locator("#text").fill("Thank you")
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/**")


def test_who_goes_through_the_agents_quickly_sees_the_last_one(visit: Visit) -> None:
    """The answer about an agent that is no longer chosen comes late, and changes nothing."""
    page = visit("zh-hans-light").open("/")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/introduction/**", hold)
    with page.expect_request("**/introduction/**"):
        picker(page).select_option("研究员")
    picker(page).select_option("助手")
    with page.expect_response("**/introduction/**") as response:
        held[0].continue_()
    response.value.finished()
    page.evaluate("new Promise(done => setTimeout(done))")
    expect(page.locator(".example")).to_have_count(4)


def test_without_scripts_an_agent_introduces_itself_by_a_button(visit: Visit) -> None:
    page = visit("zh-hans-light", java_script_enabled=False).open("/")
    page.locator("#text").fill("写到一半")
    picker(page).select_option("研究员")
    page.locator(".tools > summary").click()
    page.get_by_label("计算器").uncheck()
    page.get_by_role("button", name="它能做什么？").click()
    expect(page.locator("#introduction p")).to_contain_text("注明出处")
    expect(page.locator(".example")).to_have_count(1)
    expect(page.locator("#text")).to_have_value("写到一半")
    expect(page.locator("[name=on][value=calculator]")).not_to_be_checked()
    # A message that is refused leaves the choice as it was, too.
    page.locator("#text").fill(" ")
    page.locator("#go button").click()
    expect(page.locator("#toasts")).not_to_be_empty()
    expect(page.locator("#introduction p")).to_contain_text("注明出处")
