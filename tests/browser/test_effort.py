"""How hard the model thinks, picked beside it: in every tab, after a reload, in new chats."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.owner import Enter, Window, equals_a_fresh_page
from tests.browser.talking import answered, ask, choose_model, new_talk
from tests.browser.test_access import faults
from tests.support.process import free_port
from tests.support.server import Server, python, running_server

MODELS = """
from chat.models import Agent, LanguageModel
demo = LanguageModel.objects.get().provider
deep = dict(efforts=["none", "low", "medium", "high", "xhigh"], label="Deep")
LanguageModel.objects.create(provider=demo, model_id="deep", **deep)
LanguageModel.objects.create(provider=demo, model_id="switch", efforts=["none", "on"])
Agent.objects.create(name_en="Thinker", name_zh_hans="思考者", effort="high")
"""


@pytest.fixture(scope="module")
def thinkers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Parley of its own: people's settings are changed here."""
    data, port = tmp_path_factory.mktemp("thinkers"), str(free_port())
    with running_server(data, PORT=port) as server:
        made = python(data, "manage.py", "shell", "-v", "0", "-c", MODELS, PORT=port)
        assert made.returncode == 0, made.stderr
        yield server


@pytest.fixture
def window(thinkers: Server, enter: Enter) -> Window:
    return enter(thinkers, bypass_csp=True)


def picker(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Thinking", exact=True)


def steps(page: Page) -> list[str]:
    return [text.strip() for text in picker(page).locator("option").all_inner_texts()]


def test_a_step_is_the_same_in_every_tab_and_in_the_next_chat(window: Window) -> None:
    page = window.open("/")
    # The model that is there at first has no steps.
    expect(page.locator(".pick.effort")).to_be_hidden()
    choose_model(page, "Deep")
    expect(picker(page)).to_have_value("auto")
    assert steps(page) == ["Automatic", "Off", "Low", "Medium", "High", "Extra high"]
    picker(page).select_option("Low")
    new_talk(page)
    expect(picker(page)).to_have_value("low")

    other = window.open(page.url)
    # By keyboard: the letter that a step begins with.
    picker(page).focus()
    with page.expect_response("**/choose/"):
        page.keyboard.press("E")
    expect(picker(page)).to_have_value("xhigh")
    expect(picker(other)).to_have_value("xhigh")
    equals_a_fresh_page(window, other)
    page.reload()
    expect(picker(page)).to_have_value("xhigh")
    assert faults(page) == []

    # Another model has the nearest, one without steps has none, and the wish is kept.
    choose_model(page, "switch")
    expect(picker(other)).to_have_value("on")
    assert steps(other) == ["Automatic", "Off", "On"]
    equals_a_fresh_page(window, page)
    choose_model(page, "Parley")
    expect(other.locator(".pick.effort")).to_be_hidden()
    equals_a_fresh_page(window, other)
    choose_model(page, "Deep")
    expect(picker(other)).to_have_value("xhigh")

    fresh = window.open("/")
    expect(picker(fresh)).to_have_value("xhigh")
    choose_model(fresh, "switch")
    expect(picker(fresh)).to_have_value("on")
    # An agent brings its own.
    fresh.get_by_label("Agent").select_option("Thinker")
    choose_model(fresh, "Deep")
    expect(picker(fresh)).to_have_value("high")


@pytest.mark.parametrize("width", [390, 320])
def test_it_fits_a_phone(window: Window, thinkers: Server, enter: Enter, width: int) -> None:
    small = enter(
        thinkers, viewport={"width": width, "height": 700}, has_touch=True, is_mobile=True,
        bypass_csp=True,
    )  # fmt: skip
    page = small.open("/")
    choose_model(page, "Deep")
    picker(page).select_option("Extra high")
    expect(picker(page)).to_be_visible()
    inside = "e => [e.scrollWidth <= e.clientWidth, document.body.scrollWidth <= innerWidth]"
    assert page.locator("#composer .row").evaluate(inside) == [True, True]
    box, send = picker(page).bounding_box(), page.locator("#go button").bounding_box()
    assert box is not None
    assert send is not None
    assert (box["height"] >= 40, box["x"] + box["width"] <= send["x"]) == (True, True)
    assert faults(page) == []
    # While an answer runs there are two buttons.
    ask(page, "/slow 50 /long 500 go")
    stop = page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()
    assert page.locator("#composer .row").evaluate(inside) == [True, True]
    stop.click()
    answered(page)


def test_without_scripts_it_goes_with_the_message(thinkers: Server, enter: Enter) -> None:
    page = enter(thinkers, java_script_enabled=False).open("/")
    page.get_by_label("Model").select_option(label="Deep · Demo")
    page.locator("#text").fill("Hello")
    page.locator("#go button").click()
    # The page comes back by itself while the answer is written.
    expect(page.locator("#t .foot[data-state=done]")).to_have_count(1)
    picker(page).select_option("Medium")
    page.locator("#text").fill("Again")
    page.locator("#go button").click()
    expect(page.locator("#t .foot[data-state=done]")).to_have_count(2)
    expect(picker(page)).to_have_value("medium")
