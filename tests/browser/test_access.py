"""Everybody can use it: axe finds nothing, keys suffice, small and zoomed screens fit."""

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Page, expect

from tests.browser.talking import focused
from tests.browser.visitors import Visit

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
PEOPLE = ("en-light", "en-dark", "zh-hans-light", "zh-hans-dark")
# Both languages, themes and widths every day; each with each in the full run.
EVERY_DAY = {("en-light", 1440), ("zh-hans-dark", 390)}
VISITS = [
    pytest.param(person, width, marks=() if (person, width) in EVERY_DAY else pytest.mark.full)
    for person in PEOPLE
    for width in (1440, 390)
]
SCREENS = ("/", "chat", "states", "/settings/", "/no/such/page")
OPENED = "all => all.forEach(details => (details.open = true))"


def faults(page: Page) -> list[Any]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run().then(result => result.violations)")
    return [(fault["id"], [node["html"][:200] for node in fault["nodes"]]) for fault in found]


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    """Every screen, with everything on it opened."""
    visitor = visit(person, width, bypass_csp=True)
    found: dict[str, Any] = {}
    for screen in SCREENS:
        page = visitor.open(screen)
        found[screen] = faults(page)
        page.locator("details:not([name])").evaluate_all(OPENED)
        found[f"{screen} opened"] = faults(page)
        page.close()
    page = visitor.open("/")
    page.locator("[data-keys]").dispatch_event("click")
    found["keys"] = faults(page)
    visitor.context.clear_cookies()
    found["log in"] = faults(visitor.open("/accounts/login/"))
    assert {screen: fault for screen, fault in found.items() if fault} == {}


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


@pytest.mark.parametrize(("width", "screen"), [(w, s) for w in (390, 320) for s in SCREENS[:4]])
def test_nothing_is_wider_than_a_phone(visit: Visit, width: int, screen: str) -> None:
    """320 px is also a window of 1280 px at 400 %."""
    page = visit("en-light", width).open(screen)
    page.locator("#t details").evaluate_all(OPENED)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("screen", ["/", "chat", "states", "/settings/"])
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
