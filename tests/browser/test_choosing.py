"""Choosing: the list of models, an answer given anew by one of them, tools on and off."""

from playwright.sync_api import expect

from tests.browser.talking import answered, new_talk
from tests.browser.visitors import Visit


def test_the_list_of_models_is_searched_and_starred_by_keyboard(visit: Visit) -> None:
    page = visit("en-dark").open("/")
    expect(page.locator("#models")).to_have_count(0)
    page.locator("[data-models]").press("Enter")
    search = page.get_by_role("combobox", name="Search models")
    expect(search).to_be_focused()
    # The demo comes last, and is what is chosen.
    last = page.locator("#models").get_by_role("option").last
    expect(last).to_contain_text("Demo")
    expect(last).to_have_attribute("aria-selected", "true")
    search.fill("nonsense")
    expect(page.get_by_text("No model matches.")).to_be_visible()
    search.fill("glm")
    expect(page.locator("#models").get_by_role("option")).to_have_count(1)
    star = page.get_by_role("button", name="Favourite")
    with page.expect_response("**/favourite/"):
        star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.locator("[data-models]")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("group", name="Favourites")).to_contain_text("glm-4.6")
    with page.expect_response("**/favourite/"):
        page.locator("#models").get_by_role("option").first.locator(".star").click()


def test_one_answer_is_given_anew_by_another_model(visit: Visit) -> None:
    """A7: the picker stays as it is."""
    page = visit().open("/")
    new_talk(page)
    page.get_by_role("button", name="Regenerate with another model").click()
    expect(page.get_by_role("heading", name="Regenerate with…")).to_be_visible()
    page.get_by_role("combobox", name="Search models").fill("parley")
    page.keyboard.press("Enter")
    expect(page.locator(".versions")).to_contain_text("2 / 2")
    answered(page)
    expect(page.locator(".facts").first).to_contain_text("Parley")
    expect(page.locator(".pick-model")).to_contain_text("Parley · Demo")


def test_a_tool_is_switched_off_in_every_tab(visit: Visit) -> None:
    """A16"""
    visitor = visit()
    page = visitor.open("/")
    new_talk(page)
    other = visitor.open(page.url.removeprefix(visitor.seeded.url))
    count = page.locator("[data-count]").inner_text()
    page.locator(".tools > summary").click()
    page.get_by_label("Calculator").uncheck()
    for each in (page, other):
        expect(each.locator("[data-count]")).to_have_text(str(int(count) - 1))
    expect(other.get_by_label("Calculator")).not_to_be_checked()
    page.reload()
    expect(page.locator("[data-count]")).to_have_text(str(int(count) - 1))
    # The other agent may not use it at all.
    page.get_by_label("Agent").select_option("Researcher")
    expect(page.locator("[data-count]")).to_have_text("1")
    page.get_by_label("Agent").select_option("Assistant")
    expect(other.locator("[data-count]")).to_have_text(str(int(count) - 1))
