"""A provider that fails: what one is told, a clock that runs down, and one thing to do."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Page, expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, ask
from tests.browser.test_access import faults
from tests.support.model_server import Drop, ScriptedProvider, refuse, reply
from tests.support.process import free_port
from tests.support.server import Server, running_server


@dataclass
class Failing:
    """A Parley whose one provider does what a test scripts."""

    server: Server
    provider: ScriptedProvider


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    data = tmp_path_factory.mktemp("failing")
    with ScriptedProvider(answer=reply("A title")) as provider:
        settings = {"PORT": str(free_port()), "OPENAI_BASE_URL": provider.base_url}
        with running_server(data, **settings) as server:
            yield Failing(server, provider)


BUSY = refuse(429, {"error": {"message": "slow down"}}, retry_after="600")


def seconds_left(page: Page) -> int:
    minutes, seconds = re.findall(r"\d+", page.locator("[data-until]").inner_text())
    return int(minutes) * 60 + int(seconds)


def runs_down(page: Page) -> None:
    """The clock shows less and less, as much as the time that goes by."""
    first, begun = seconds_left(page), time.monotonic()
    page.wait_for_function(
        """shown => document.querySelector("[data-until]").innerText !== shown""",
        arg=page.locator("[data-until]").inner_text(),
    )
    took = first - seconds_left(page)
    assert 1 <= took <= time.monotonic() - begun + 1.5


def test_the_wait_runs_down_in_every_tab_and_can_be_cut_short(
    failing: Failing, enter: Enter
) -> None:
    window = enter(failing.server, bypass_csp=True)
    failing.provider.script(BUSY, reply("Here it is."))
    page = window.open("/")
    ask(page, "Are you there?")
    page.wait_for_url("**/c/**")
    expect(page.locator(".working")).to_contain_text("Trying again in")
    other = window.open(page.url)
    for tab in (page, other):
        tab.bring_to_front()
        runs_down(tab)
    assert abs(seconds_left(page) - seconds_left(other)) <= 2
    equals_a_fresh_page(window, page)
    assert faults(page) == []

    # Chromium draws, and so gives the focus back, only in the page in front.
    other.bring_to_front()
    other.get_by_role("button", name="Try now").focus()
    other.keyboard.press("Enter")
    for tab in (page, other):
        expect(tab.locator("#t")).to_contain_text("Here it is.")
        expect(tab.get_by_role("button", name="Try now")).to_have_count(0)
    expect(other.locator("#text")).to_be_focused()
    answered(page, 1)
    equals_a_fresh_page(window, page)


def test_without_scripts_the_wait_is_cut_short_by_a_form(failing: Failing, enter: Enter) -> None:
    window = enter(failing.server, java_script_enabled=False)
    failing.provider.script(BUSY, reply("Here it is."))
    page = window.open("/")
    page.locator("#text").fill("Are you there?")
    page.locator("#go button").click()
    page.get_by_role("button", name="Try now").click()
    expect(page.locator("#t .foot[data-state=done]")).to_be_visible()
    expect(page.locator("#t")).to_contain_text("Here it is.")


def test_a_failed_answer_has_one_main_action(failing: Failing, enter: Enter) -> None:
    """Retry where nothing was said, Continue where something was."""
    window = enter(failing.server, bypass_csp=True)
    failing.provider.script(
        refuse(401, {"error": {"message": "no"}}), reply("Half of it", Drop("reset"))
    )
    page = window.open("/")
    ask(page, "Are you there?")
    page.wait_for_url("**/c/**")
    main = page.locator(".reason button:visible")
    expect(main).to_have_text(["Retry"])
    assert faults(page) == []
    main.click()
    expect(page.locator("#t")).to_contain_text("Half of it")
    expect(main).to_have_text(["Continue"])
    expect(page.locator(".foot [form=again]:not(.reason *)")).to_be_visible()
    assert faults(page) == []
    equals_a_fresh_page(window, page)
    failing.provider.script(reply(" and the rest."))
    main.click()
    answered(page, 1)
    expect(page.locator("#t")).to_contain_text("and the rest.")
    equals_a_fresh_page(window, page)
