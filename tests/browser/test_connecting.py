"""A newcomer connects a model, from the first page to the first answer, in a few clicks (A11)."""

import pytest
from playwright.sync_api import expect

from tests.browser.owner import Enter
from tests.browser.talking import answered
from tests.browser.test_access import faults
from tests.support.model_server import ScriptedProvider, reply
from tests.support.process import free_port
from tests.support.server import running_server

COUNT = """addEventListener("click", () => {
  sessionStorage.clicks = Number(sessionStorage.clicks ?? 0) + 1;
}, true)"""
MOST_CLICKS = 6
MANY = tuple(f"scripted-{number:02}" for number in range(60))


def test_a_model_is_connected_in_six_clicks_at_most(
    enter: Enter, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = tmp_path_factory.mktemp("connecting")
    with (
        ScriptedProvider(answer=reply("Hello!")) as provider,
        running_server(data, PORT=str(free_port())) as server,
    ):
        provider.models = MANY
        window = enter(server, bypass_csp=True)
        window.context.add_init_script(COUNT)
        page = window.open("/")
        page.get_by_role("link", name="Connect a model").click()
        assert faults(page) == []
        page.get_by_role("link", name="Another one").click()
        page.get_by_label("Address").fill(provider.base_url)
        page.get_by_label("API key").fill("a-key-of-a-newcomer")
        assert faults(page) == []
        page.get_by_role("button", name="Test").click()
        expect(page.get_by_role("radio", checked=True)).to_be_visible()
        assert faults(page) == []
        # Of many one is found by its name; the chosen one stays in sight.
        page.get_by_role("searchbox", name="Search models").fill("scripted-07")
        expect(page.get_by_role("radio")).to_have_count(2)
        page.get_by_role("radio", checked=False).check()
        page.get_by_role("button", name="Use this model").click()
        expect(page.locator("main")).to_contain_text("now.")
        page.get_by_role("link", name="Start a chat").click()
        clicks = page.evaluate("Number(sessionStorage.clicks)")
        page.locator("#text").fill("Hi")
        page.keyboard.press("Enter")
        page.wait_for_url("**/c/**")
        answered(page, 1)
        expect(page.locator("#t .body").last).to_contain_text("Hello!")
        assert 4 <= clicks <= MOST_CLICKS
        asked = [request.json["model"] for request in provider.requests if request.body]
        assert set(asked) == {"scripted-07"}
        window.context.close()
