"""Scrolling: following an answer, staying where one reads, and nothing under dock or top bar."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.talking import answered, ask, new_talk
from tests.browser.visitors import PHONE, Visit

LEFT = "document.scrollingElement.scrollHeight - scrollY - innerHeight"
# Whether what has the focus is wholly behind the dock or the top bar.
COVERED = """() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect();
  const dock = document.querySelector(".dock");
  if (dock.contains(document.activeElement)) return false;
  const bar = document.querySelector(".topbar").getBoundingClientRect().bottom;
  const inside = document.activeElement.closest("#t");
  return Boolean(inside) && (top >= dock.getBoundingClientRect().top || bottom <= bar);
}"""


@pytest.mark.parametrize("pixels", [50, 300])
def test_the_page_follows_an_answer_until_the_reader_scrolls_up(page: Page, pixels: int) -> None:
    ask(page, "/slow 5 /long 3000 a long one")
    page.wait_for_url("**/c/**")
    page.wait_for_function("() => document.scrollingElement.scrollHeight > innerHeight * 2")
    expect(page.locator("#jump")).to_be_hidden()
    page.mouse.move(700, 300)
    page.mouse.wheel(0, -pixels)
    expect(page.locator("#jump")).to_be_visible()
    place = page.evaluate("scrollY")
    grown = page.evaluate("document.scrollingElement.scrollHeight")
    page.wait_for_function(
        "grown => document.scrollingElement.scrollHeight > grown + 200", arg=grown
    )
    assert abs(page.evaluate("scrollY") - place) < 2

    page.locator("#jump").click()
    expect(page.locator("#jump")).to_be_hidden()
    page.keyboard.press("Escape")
    answered(page)
    expect(page.locator("#jump")).to_be_hidden()


def test_a_reload_shows_the_end_to_who_follows_it_and_their_place_to_who_reads(page: Page) -> None:
    ask(page, "/slow 5 /long 2000 a long one")
    page.wait_for_url("**/c/**")
    page.wait_for_function("() => document.scrollingElement.scrollHeight > innerHeight * 2")
    seen = page.evaluate("scrollY")
    page.reload()
    page.wait_for_function(f"seen => scrollY > seen && {LEFT} < 2", arg=seen)
    expect(page.locator("#jump")).to_be_hidden()
    page.keyboard.press("Escape")
    answered(page)
    page.mouse.move(700, 300)
    page.mouse.wheel(0, -300)
    expect(page.locator("#jump")).to_be_visible()
    page.wait_for_function(f"() => {LEFT} > 250")
    place = page.evaluate("scrollY")
    page.reload()
    page.wait_for_function("place => Math.abs(scrollY - place) < 2", arg=place)
    expect(page.locator("#jump")).to_be_visible()


# In one moment the answer grows, the page follows it, and the reader scrolls up: observers are told
# in the order in which they were made, and of both scrollings there is one event.
SCROLL_WHILE_FOLLOWED = """() => new Promise((done) => {
  const answer = document.querySelector("#t > :last-child");
  const reader = new ResizeObserver(() => {
    reader.disconnect();
    scrollBy({ top: -50, behavior: "instant" });
    requestAnimationFrame(() => requestAnimationFrame(done));
  });
  reader.observe(document.getElementById("t"));
  answer.style.minHeight = `${answer.offsetHeight + 200}px`;
})"""


def test_scrolling_up_counts_also_in_the_moment_in_which_the_page_follows(page: Page) -> None:
    new_talk(page, "/long 400 a long one")
    page.wait_for_function(f"() => {LEFT} < 2")
    page.evaluate(SCROLL_WHILE_FOLLOWED)
    page.evaluate("document.querySelector('#t > :last-child').style.minHeight = '9000px'")
    expect(page.locator("#jump")).to_be_visible()


def test_the_end_stays_in_view_while_the_composer_grows(page: Page) -> None:
    new_talk(page, "/long 400 a long one")
    for lines in (1, 12, 3):
        page.locator("#text").fill("\n".join("word" for _ in range(lines)))
        page.wait_for_function(f"() => {LEFT} < 2")
        foot = page.locator(".foot .actions").last.bounding_box()
        dock = page.locator(".dock").bounding_box()
        assert foot
        assert dock
        assert foot["y"] + foot["height"] <= dock["y"]


def test_the_end_stays_in_view_when_the_window_gets_lower(page: Page) -> None:
    new_talk(page, "/long 400 a long one")
    page.wait_for_function(f"() => {LEFT} < 2")
    assert page.viewport_size
    page.set_viewport_size({"width": page.viewport_size["width"], "height": 420})
    page.wait_for_function(f"() => {LEFT} < 2")


def test_a_link_to_a_message_leads_to_it_and_not_to_the_end(visit: Visit) -> None:
    """Also where it is among the latest, on a page that would follow an answer."""
    visitor = visit()
    page = visitor.open("long")
    last = page.locator("#t > .message").last.get_attribute("id") or ""
    wanted = f"m{int(last[1:]) - 10}"
    link = f"{page.url}#{wanted}"
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator(f"#{wanted}")).to_be_in_viewport()
    expect(page.locator("#jump")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 700})
    expect(page.locator(f"#{wanted}")).to_be_in_viewport()


def test_a_greeting_is_read_from_its_beginning(visit: Visit) -> None:
    page = visit(viewport={"width": 320, "height": 568}).open("/")
    page.wait_for_function("() => document.scrollingElement.scrollHeight > innerHeight")
    page.locator("#text").fill("one\ntwo\nthree")
    expect(page.locator("#empty h2")).to_be_in_viewport()
    assert page.evaluate("scrollY") == 0


def test_ones_own_message_is_brought_into_view(page: Page) -> None:
    new_talk(page, "/long 600 a long one")
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("#jump")).to_be_visible()
    ask(page, "/long 5 another")
    expect(page.locator("#t .said").last).to_be_in_viewport()
    answered(page)
    expect(page.locator("#jump")).to_be_hidden()


@pytest.mark.parametrize("size", [(1280, 720), (720, 450)])
def test_what_has_the_focus_is_never_covered(visit: Visit, size: tuple[int, int]) -> None:
    """WCAG 2.4.11, forwards and backwards."""
    page = visit(viewport={"width": size[0], "height": size[1]}).open("states")
    page.evaluate("scrollTo(0, 0)")
    page.locator("#t").focus()
    seen = 0
    for key in ("Tab", "Shift+Tab"):
        for _ in range(18):
            page.keyboard.press(key)
            assert not page.evaluate(COVERED), page.evaluate("document.activeElement.outerHTML")
            seen += page.evaluate("Boolean(document.activeElement.closest('#t'))")
    assert seen > 20


def test_a_keyboard_on_the_screen_hides_neither_composer_nor_end(visit: Visit) -> None:
    """Where the keyboard is laid over the page: only the visual viewport gets lower."""
    page = visit(viewport={"width": 390, "height": 844}, **PHONE).open("/")
    new_talk(page, "/long 200 a long one")
    page.evaluate(
        """() => {
          Object.defineProperty(visualViewport, "height", { value: 500 });
          visualViewport.dispatchEvent(new Event("resize"));
        }"""
    )
    page.wait_for_function(f"() => {LEFT} < 2")
    dock, foot = (page.locator(each).last.bounding_box() for each in (".dock", ".foot .actions"))
    assert dock
    assert foot
    assert dock["y"] + dock["height"] == pytest.approx(500, abs=1)
    assert foot["y"] + foot["height"] <= dock["y"]
