"""A conversation as a person has it: typed, watched, reloaded, mirrored, stopped."""

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, begin, send
from tests.browser.visitors import Visit
from tests.support.process import free_port
from tests.support.server import running_server

SUM = "What is (17.5% of 2,340) + 12?"


def test_a_question_is_thought_about_calculated_and_answered(enter: Enter) -> None:
    """A2, A3, A14, F2: typed, Enter, and everything arrives by itself."""
    window = enter()
    page = window.open("/")
    begin(page, SUM)
    expect(page.locator("#t details.thinking").first).to_be_visible()
    card = page.locator("#t details.tool")
    expect(card).to_have_count(1)
    # What the reader opens stays open while the card changes and the answer ends.
    card.locator("summary").click()
    answered(page, 1)
    expect(card).to_have_attribute("data-state", "done")
    expect(card).to_have_attribute("open", "")
    expect(page.locator("#t .markdown").last).to_contain_text("421.5")
    equals_a_fresh_page(window, page)


def test_a_reload_in_the_middle_shows_the_same_and_goes_on(enter: Enter) -> None:
    """A8: at any moment; the end is the same as without it."""
    window = enter()
    page = window.open("/")
    begin(page, "/slow 25 /think 20 /long 80 tell me")
    page.reload()
    expect(page.locator("#b2 > .markdown")).to_be_visible()
    page.reload()
    answered(page, 1)
    equals_a_fresh_page(window, page)


def test_a_second_tab_mirrors_in_its_own_language(enter: Enter) -> None:
    """A8, A13: two browsers, one stream, two languages."""
    english, chinese = enter(locale="en-US"), enter(locale="zh-CN")
    page = english.open("/")
    begin(page, "/long 5 hello")
    answered(page, 1)
    mirror = chinese.open(page.url)
    send(page, SUM)
    expect(mirror.locator("#t details.tool")).to_contain_text("计算器")
    answered(page, 2)
    answered(mirror, 2)
    expect(page.locator("#t details.tool")).to_contain_text("Calculator")
    equals_a_fresh_page(english, page)
    equals_a_fresh_page(chinese, mirror)


def test_the_button_and_the_escape_key_stop(enter: Enter) -> None:
    """A5: from either tab; what was said stays."""
    window = enter()
    page = window.open("/")
    begin(page, "/slow 40 /long 400 go")
    expect(page.locator("#t [data-role=answer] .markdown")).to_be_visible()
    page.locator("#go [form=stop]").click()
    answered(page, 1)
    expect(page.locator("#t .foot").last).to_contain_text("Stopped by you")
    send(page, "/slow 40 /long 400 go on")
    expect(page.locator("#t .foot")).to_have_count(2)
    expect(page.locator("#go [form=stop]")).to_be_visible()
    page.keyboard.press("Escape")
    answered(page, 2)
    equals_a_fresh_page(window, page)


def test_a_draft_is_kept_and_goes_only_when_the_send_is_answered(enter: Enter) -> None:
    """A refused text stays where it is; an accepted one is cleared."""
    window = enter()
    page = window.open("/")
    begin(page, "/slow 40 /long 2000 go")
    expect(page.locator("#go [form=stop]")).to_be_visible()
    text = page.locator("#text")
    for number in range(10):
        send(page, f"{number} waits")
        expect(text).to_have_value("")
    # As many wait as may.
    send(page, "while you are busy")
    expect(page.locator("#toasts .toast")).to_be_visible()
    expect(text).to_have_value("while you are busy")
    page.reload()
    expect(text).to_have_value("while you are busy")
    page.locator("#go [form=stop]").click()
    answered(page, 1)
    text.press("Enter")
    expect(text).to_have_value("")
    answered(page, 2)


def test_a_server_that_goes_away_and_comes_back(enter: Enter, tmp_path: Path) -> None:
    """The page says that it reconnects, and comes to show what a reload shows."""
    port = str(free_port())
    with running_server(tmp_path, PORT=port) as first:
        window = enter(first)
        page = window.open("/")
        begin(page, "/slow 40 /long 400 go")
        expect(page.locator("#t [data-role=answer] .markdown")).to_be_visible()
    expect(page.locator("#connection")).to_be_visible()
    page.locator("#text").fill("typed meanwhile")
    with running_server(tmp_path, PORT=port):
        expect(page.locator("#connection")).to_be_hidden()
        answered(page, 1)
        expect(page.locator("#text")).to_have_value("typed meanwhile")
        page.locator("#text").fill("")
        equals_a_fresh_page(window, page)
        page.close()
    # htmx and Chromium say that the server could not be reached.
    window.expected("[object Event]", "WebSocket connection to")


def test_a_first_visit_is_light(visit: Visit) -> None:
    """At most 60 KB as they go over the wire, headers included, in at most 30 requests."""
    window = visit("newcomer")
    page = window.context.new_page()
    wire = page.context.new_cdp_session(page)
    asked: dict[str, str] = {}
    sizes: dict[str, float] = {}

    def ask_for(event: dict[str, Any]) -> None:
        asked[event["requestId"]] = event["request"]["url"]

    def receive(event: dict[str, Any]) -> None:
        sizes[asked[event["requestId"]]] = event["encodedDataLength"]

    wire.on("Network.requestWillBeSent", ask_for)
    wire.on("Network.loadingFinished", receive)
    wire.send("Network.enable")
    wire.send("Network.setCacheDisabled", {"cacheDisabled": True})
    page.goto("/", wait_until="networkidle")
    fetched = {url: size for url, size in sizes.items() if not url.startswith("data:")}
    bill = "\n".join(f"{size:8.0f} {url}" for url, size in sorted(fetched.items()))
    assert len(fetched) <= 30, bill
    assert sum(fetched.values()) <= 60 * 1024, bill


def test_a_second_message_right_after_the_first_waits_in_sight(enter: Enter) -> None:
    """A4: nothing is queued silently, and what is queued is no longer in the composer."""
    page = enter().open("/")
    begin(page, "/slow 50 /long 2000 tell me")
    expect(page.locator("#go [form=stop]")).to_be_visible()
    send(page, "And this?")
    expect(page.locator("#queue")).to_contain_text("And this?")
    expect(page.locator("#text")).to_have_value("")
    page.locator("#go [form=stop]").click()
    answered(page, 1)
