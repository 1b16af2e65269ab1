"""Everybody can use it: axe finds nothing, keys suffice, small and zoomed screens fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from django.template.loader import render_to_string
from django.utils import translation
from playwright.sync_api import Page, expect

from tests.browser.talking import focused
from tests.browser.visitors import Visit, Visitor

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PEOPLE = ("en-light", "en-dark", "zh-hans-light", "zh-hans-dark")
# Both languages, themes and widths every day; each with each in the full run.
EVERY_DAY = {("en-light", 1440), ("zh-hans-dark", 390)}
VISITS = [
    pytest.param(person, width, marks=() if (person, width) in EVERY_DAY else pytest.mark.full)
    for person in PEOPLE
    for width in (1440, 390)
]
OPENED = "all => all.forEach(details => (details.open = true))"
# What fades in is half transparent, and so of little contrast, for as long as it does.
SETTLED = """() => document.getAnimations()
    .filter(one => one instanceof CSSTransition).forEach(one => one.finish())"""


def faults(page: Page) -> list[Any]:
    page.evaluate(SETTLED)
    page.evaluate(AXE)
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found]


# --- the screens, and how each comes to be as it is looked at ------------------------------------


def as_it_is(page: Page) -> None:
    """Nothing is to be done."""


def all_opened(page: Page) -> None:
    page.locator("details:not([name])").evaluate_all(OPENED)


def search_dialog(page: Page) -> None:
    page.keyboard.press("Control+K")
    page.locator("#q").fill("the")
    expect(page.locator("#found [href]").first).to_be_visible()


def nothing_found(page: Page) -> None:
    page.keyboard.press("Control+K")
    page.locator("#q").fill("zanzibar7431")
    expect(page.locator("#found .nothing")).to_be_visible()


def model_list(page: Page) -> None:
    page.locator("[data-models]").click()
    expect(page.locator("#models [role=option]").first).to_be_visible()


def tools_menu(page: Page) -> None:
    page.locator(".composer .tools summary").click()
    expect(page.locator(".composer .tools label").first).to_be_visible()


def shortcuts(page: Page) -> None:
    page.locator("[data-keys]").dispatch_event("click")
    expect(page.locator("#keys")).to_be_visible()


def feedback_dialog(page: Page) -> None:
    page.locator("[data-words]").first.click()
    expect(page.locator("#reason")).to_be_visible()


def answer_details(page: Page) -> None:
    page.locator("[data-details]").first.dispatch_event("click")
    expect(page.locator("#details")).to_be_visible()


def outline(page: Page) -> None:
    page.locator("[data-show-outline]").click()
    expect(page.locator("#outline a").first).to_be_visible()


def being_edited(page: Page) -> None:
    page.locator("#t [data-edit]").first.dispatch_event("click")
    expect(page.locator(".message > .edit")).to_be_visible()


def queue_edited(page: Page) -> None:
    page.locator("#queue [data-edit-queued]").first.dispatch_event("click")


def drawer(page: Page) -> None:
    """The column of a phone, with the menus of a row and of the account."""
    if page.get_by_label("Open the column").or_(page.get_by_label("打开侧栏")).is_visible():
        page.locator("[data-show-column]").click()
    page.locator("#sidebar details.menu").evaluate_all("all => (all.at(-1).open = true)")


def folder_dialog(page: Page) -> None:
    page.locator("[data-dialog][href='/folders/new/']").dispatch_event("click")
    expect(page.locator("#form-dialog")).to_be_visible()


def move_dialog(page: Page) -> None:
    page.locator("#column [data-dialog]").first.dispatch_event("click")
    expect(page.locator("#form-dialog")).to_be_visible()


def selecting(page: Page) -> None:
    drawer(page)
    page.locator("[data-select]").dispatch_event("click")
    expect(page.locator(".select-bar")).to_be_visible()


def toast(page: Page) -> None:
    expect(page.locator("#toasts .toast")).to_be_visible()


Prepare = Callable[[Page], None]

# By name: the place, as the seed calls it or as an address, and what is done there.
SCREENS: dict[str, tuple[str, Prepare]] = {
    "new chat": ("/", as_it_is),
    "new temporary chat": ("/?temporary=1", as_it_is),
    "conversation": ("chat", as_it_is),
    "conversation, opened": ("chat", all_opened),
    "every card": ("states", as_it_is),
    "every card, opened": ("states", all_opened),
    "message being edited": ("chat", being_edited),
    "own window": ("window", as_it_is),
    "queue": ("queue", as_it_is),
    "queued message being edited": ("queue", queue_edited),
    "details of an answer": ("chat", answer_details),
    "outline": ("long", outline),
    "model list": ("chat", model_list),
    "tools menu": ("chat", tools_menu),
    "feedback dialog": ("queue", feedback_dialog),
    "column and its menus": ("chat", drawer),
    "folder dialog": ("chat", folder_dialog),
    "dialog that moves": ("chat", move_dialog),
    "selecting several": ("chat", selecting),
    "folder page": ("/folders/new/", as_it_is),
    "search dialog": ("/", search_dialog),
    "search without a hit": ("/", nothing_found),
    "search page": ("/?q=the", as_it_is),
    "shortcuts": ("/", shortcuts),
    "toast": ("/?ended", toast),
    "settings": ("/settings/", all_opened),
    "export": ("/export/", as_it_is),
    "archived": ("/archived/", as_it_is),
    "recently deleted": ("/deleted/", all_opened),
    "not found": ("/no/such/page", as_it_is),
}
PLACES = (
    *("/", "/?temporary=1", "chat", "states", "queue", "/settings/", "/settings/prompts/"),
    *("/archived/", "/deleted/"),
)
# Pages that say no, and that no address leads to.
REFUSALS = ("403.html", "403_csrf.html", "500.html")


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    """Every screen, in both themes."""
    visitor = visit(person, width, bypass_csp=True)
    found: dict[str, Any] = {}
    page = visitor.open("/")
    for screen, (place, prepare) in SCREENS.items():
        page.goto(visitor.seeded.url + visitor.places.get(place, place))
        prepare(page)
        found[screen] = faults(page)
    for template in REFUSALS:
        found[template] = faults(refused(visitor, template))
    found["temporary chat"] = faults(temporary(visitor))
    visitor.context.clear_cookies()
    found["log in"] = faults(visitor.open("/accounts/login/"))
    assert {screen: fault for screen, fault in found.items() if fault} == {}


def refused(visitor: Visitor, template: str) -> Page:
    """The page of a refusal, with the styles of the server."""
    page = visitor.context.new_page()
    with translation.override("en"):
        text = render_to_string(template)
    address = f"{visitor.seeded.url}/refused/{template}"
    page.route(address, lambda route: route.fulfill(body=text, content_type="text/html"))
    page.goto(address)
    expect(page.locator("h1")).to_be_visible()
    return page


def temporary(visitor: Visitor) -> Page:
    page = visitor.open("/?temporary=1")
    page.locator("#text").fill("/long 5 hello")
    page.locator("#go button").click()
    page.wait_for_url("**/c/**")
    expect(page.locator("#temporary button")).to_be_visible()
    expect(page.locator("#t .foot[data-state=done]")).to_be_visible()
    return page


@pytest.mark.parametrize("name", ["menu", "composer"])
def test_axe_can_find_something(visit: Visit, name: str) -> None:
    """The test above can fail."""
    page = visit(bypass_csp=True).open("chat")
    if name == "menu":
        page.locator(".topbar .menu summary").evaluate("e => e.removeAttribute('aria-label')")
    else:
        page.locator("label[for=text]").evaluate("e => e.remove()")
        page.locator("#text").evaluate("e => e.removeAttribute('placeholder')")
    assert faults(page)


def go_to_the_top(page: Page) -> None:
    """From the composer, where one begins, past the last thing of the page."""
    expect(page.locator("#text")).to_be_focused()
    for _ in range(20):
        page.keyboard.press("Tab")
        if focused(page) == "BODY":
            return


def test_a_tour_by_keyboard(visit: Visit) -> None:
    """Everything that can be pressed can be come to, in the order it is seen, and is marked."""
    page = visit("en-dark").open("chat")
    go_to_the_top(page)
    seen = []
    for _ in range(120):
        page.keyboard.press("Tab")
        name = focused(page)
        if name == "BODY":
            break
        # A button says its key below its name.
        seen.append(name.partition("\n")[0])
        marked = page.evaluate(
            "getComputedStyle(document.activeElement).outlineStyle != 'none' ||"
            "!!document.activeElement.closest('.composer')"
        )
        assert marked, f"{name} has the focus and does not show it"
    assert seen[:2] == ["Skip to the conversation", "Skip to writing a message"]
    wanted = ["Hide the column", "Search", "Settings", "More", "Copy", "Edit", "Regenerate", "text"]
    assert set(wanted) <= set(seen)
    first = [seen.index(name) for name in wanted]
    assert first == sorted(first)


def test_the_skip_links_lead_past_the_column(visit: Visit) -> None:
    for presses, place in enumerate(("t", "text"), start=1):
        page = visit().open("chat")
        go_to_the_top(page)
        for _ in range(presses):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert focused(page) == place


@pytest.mark.parametrize(("width", "screen"), [(w, s) for w in (390, 320) for s in PLACES])
def test_nothing_is_wider_than_a_phone(visit: Visit, width: int, screen: str) -> None:
    """320 px is also a window of 1280 px at 400 %."""
    page = visit("en-light", width).open(screen)
    page.locator("#t details").evaluate_all(OPENED)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("screen", PLACES)
def test_a_finger_can_hit_everything(visit: Visit, screen: str) -> None:
    page = visit("en-light", 390).open(screen)
    if page.get_by_label("Open the column").count():
        page.get_by_label("Open the column").tap()
    small = page.evaluate(
        """() => [...document.querySelectorAll(
            "button, a.button, summary, select, .row > a, .switch")]
          .filter(e => e.checkVisibility({ opacityProperty: false }))
          .map(e => [e.ariaLabel || e.innerText.slice(0, 30), e.getBoundingClientRect()])
          .filter(([, box]) => box.width && (box.height < 39.5 || box.width < 39.5))
          .map(([name, box]) => `${name} ${box.width}x${box.height}`)"""
    )
    assert small == []


def test_at_200_percent_everything_is_still_there(visit: Visit) -> None:
    page = visit("en-light", 720, device_scale_factor=2).open("chat")
    expect(page.get_by_label("Write a message")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= 720


def test_what_moves_stands_still_for_those_who_want_that(visit: Visit) -> None:
    page = visit(reduced_motion="reduce").open("chat")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter(e => {
          const style = getComputedStyle(e);
          return style.animationName != "none" || parseFloat(style.transitionDuration) > 0;
        }).length"""
    )
    assert moving == 0


def test_forced_colours_keep_what_shades_say(visit: Visit) -> None:
    page = visit(forced_colors="active").open("chat")
    expect(page.locator(".row:has([aria-current])")).to_have_css("outline-style", "solid")
    expect(page.locator(".said").first).to_have_css("outline-style", "solid")


def test_landmarks_and_headings_say_what_is_where(visit: Visit) -> None:
    page = visit().open("chat")
    expect(page.get_by_role("navigation", name="Conversations")).to_be_visible()
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    assert page.locator("h1:visible").count() == 1
    assert page.locator("main article > h2").count() == 2
