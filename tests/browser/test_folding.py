"""Long questions show their first lines, until somebody reads on."""

from playwright.sync_api import Locator, Page, expect

from tests.browser.owner import Enter, equals_a_fresh_page
from tests.browser.talking import answered, new_talk
from tests.browser.visitors import Visit

LONG = "/long 3 hello\n" + "\n".join(f"Line {n} of what is asked." for n in range(1, 30))


def height(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["height"]


def ask_long(page: Page, text: str = LONG) -> Locator:
    page.locator("#text").fill(text)
    page.keyboard.press("Enter")
    answered(page)
    return page.locator("#t .said").last


def test_a_long_question_is_folded_live_and_on_reload(enter: Enter) -> None:
    window = enter()
    page = window.open("/")
    new_talk(page)
    expect(page.locator(".unfold")).to_have_count(0)
    said = ask_long(page)
    for _ in range(2):
        expect(page.get_by_role("button", name="Show all")).to_be_visible()
        assert height(said) < 300
        page.reload()
    equals_a_fresh_page(window, page)
    # A reader who cannot see it reads all of it.
    expect(said).to_contain_text("Line 29 of what is asked.")


def test_it_is_opened_by_keyboard_and_stays_open_while_the_page_lives(page: Page) -> None:
    new_talk(page)
    said = ask_long(page)
    button = page.locator(".unfold")
    button.focus()
    page.keyboard.press("Enter")
    expect(button).to_have_accessible_name("Show less")
    expect(button).to_have_attribute("aria-expanded", "true")
    assert height(said) > 600
    # The message is drawn again when it has another version.
    other = page.context.new_page()
    other.goto(page.url)
    other.locator("#text").focus()
    other.keyboard.press("ArrowUp")
    other.locator(".edit textarea").fill(f"{LONG}\nOne more.")
    other.keyboard.press("Enter")
    expect(said).to_contain_text("One more.")
    expect(said).to_have_attribute("data-whole", "")
    answered(page)
    other.close()
    button.click()
    expect(button).to_have_accessible_name("Show all")
    assert height(said) < 300
    expect(said).to_be_in_viewport()


def test_what_is_folded_away_opens_when_it_gets_the_focus(page: Page) -> None:
    new_talk(page)
    said = ask_long(page, f"{LONG}\n\nsee https://example.org/ there")
    said.locator("a").focus()
    expect(page.get_by_role("button", name="Show less")).to_be_visible()
    expect(said.locator("a")).to_be_in_viewport()


def test_on_paper_and_without_scripts_it_is_whole(visit: Visit) -> None:
    page = visit(java_script_enabled=False).open("/")
    page.locator("#text").fill(LONG)
    page.locator("#go button").click()
    page.wait_for_url("**/c/**")
    said = page.locator("#t .said")
    assert height(said) > 600
    expect(page.locator(".unfold")).to_be_hidden()

    page = visit().open(page.url.removeprefix(visit().seeded.url))
    assert height(said := page.locator("#t .said")) < 300
    page.emulate_media(media="print")
    assert height(said) > 600
    expect(page.locator(".unfold")).to_be_hidden()
