"""The queue as a person has it: what is sent while an answer runs waits above the composer."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, focused, send

LONG = "/slow 40 /long 4000 go"


def begin(page: Page) -> None:
    send(page, LONG)
    page.wait_for_url(re.compile("/c/[0-9a-f-]{36}/"))
    expect(page.locator("#t [data-role=answer] .markdown")).to_be_visible()


def waiting(page: Page) -> Locator:
    return page.locator("#queue > li")


def test_what_is_sent_while_an_answer_runs_waits_and_is_sent(enter: Enter) -> None:
    """A4: seen, changed and removed in every tab, and sent in its order."""
    window = enter()
    page = window.open("/")
    begin(page)
    other = window.open(page.url)
    expect(page.locator("#go [type=submit]:not([form])")).to_have_text("Queue")
    for text in ("/long 5 one", "/long 5 tow", "/long 5 three"):
        send(page, text)
        expect(page.locator("#text")).to_have_value("")
    expect(waiting(page)).to_have_count(3)
    expect(waiting(other)).to_have_count(3)
    expect(page.locator("#status")).to_have_text("Your message waits in the queue.")
    waiting(other).nth(2).get_by_label("Remove from the queue").click()
    expect(waiting(page)).to_have_count(2)

    waiting(page).nth(1).get_by_label("Edit").press("Enter")
    expect(other.locator("#queue-head")).to_have_attribute("data-state", "held")
    box = page.locator("#queue textarea")
    expect(box).to_be_focused()
    box.fill("/long 5 two")
    box.press("Enter")
    expect(box).to_have_count(0)
    assert focused(page) == "Edit"
    expect(waiting(other).nth(1)).to_contain_text("/long 5 two")
    expect(page.locator("#queue-head")).to_have_attribute("data-state", "next")
    # The answer moves on; what waits is the same as on a fresh page.
    fresh = window.open(page.url)
    expect(waiting(fresh)).to_have_count(2)
    assert fresh.locator(".queue").inner_html() == page.locator(".queue").inner_html()
    fresh.close()

    waiting(page).nth(0).get_by_label("Send now").click()
    answered(page, 3)
    expect(waiting(page)).to_have_count(0)
    texts = page.locator("#t > [data-role=user] .said").all_inner_texts()
    assert texts == [LONG, "/long 5 one", "/long 5 two"]
    equals_a_fresh_page(window, page)
    equals_a_fresh_page(window, other)


def test_after_a_stop_the_queue_waits_and_goes_on_when_told(enter: Enter) -> None:
    window = enter()
    page = window.open("/")
    begin(page)
    send(page, "/long 5 later")
    expect(waiting(page)).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("#queue-head")).to_contain_text("The queue waits for you")
    expect(page.locator("#go")).not_to_contain_text("Stop")
    equals_a_fresh_page(window, page)
    page.get_by_role("button", name="Send the queue").click()
    answered(page, 2)
    expect(waiting(page)).to_have_count(0)


def test_escape_closes_the_box_and_not_the_answer(enter: Enter) -> None:
    window = enter()
    page = window.open("/")
    begin(page)
    send(page, "/long 5 later")
    waiting(page).get_by_label("Edit").click()
    page.locator("#queue textarea").fill("something else")
    page.keyboard.press("Escape")
    expect(page.locator("#queue textarea")).to_have_count(0)
    expect(waiting(page)).to_contain_text("/long 5 later")
    expect(page.locator("#queue-head")).to_have_attribute("data-state", "next")
    expect(page.locator("#go [form=stop]")).to_be_visible()
    page.locator("#go [form=stop]").click()
    answered(page, 1)


def test_without_scripts_it_is_queued_changed_and_sent_too(enter: Enter) -> None:
    window = enter(java_script_enabled=False)
    page = window.open("/")
    page.locator("#text").fill(LONG)
    page.locator("#go button").click()
    page.locator("#text").fill("/long 5 later")
    page.locator("#go [type=submit]:not([form])").click()
    expect(waiting(page)).to_have_count(1)
    waiting(page).get_by_label("Edit").click()
    page.locator("#queue textarea").fill("/long 5 now")
    page.get_by_role("button", name="Save").click()
    expect(waiting(page)).to_contain_text("/long 5 now")
    waiting(page).get_by_label("Send now").click()
    expect(page.locator("#t > [data-role=user] .said").last).to_have_text("/long 5 now")
    expect(waiting(page)).to_have_count(0)
