"""Pictures open large, in a dialog that keys can use."""

import struct
import zlib

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.talking import answered, focused
from tests.browser.test_access import VISITS, faults
from tests.browser.visitors import Visit


def png(width: int, height: int) -> bytes:
    """A picture of this size."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    row = b"\x00" + bytes((90, 130, 200)) * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = zlib.compress(row * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def picture(name: str, width: int = 2400, height: int = 1800) -> FilePayload:
    return {"name": name, "mimeType": "image/png", "buffer": png(width, height)}


def attach(page: Page, *names: str) -> None:
    page.locator("input[type=file]").set_input_files([picture(name) for name in names])
    expect(page.locator("#attached > li:not([data-uploading])")).to_have_count(len(names))


def talk_with(page: Page, *names: str) -> None:
    attach(page, *names)
    page.locator("#text").fill("/long 3 look")
    page.locator("#go button").click()
    page.wait_for_url("**/c/**")
    answered(page, 1)


def shown(page: Page) -> Locator:
    return page.get_by_role("dialog")


def width(page: Page) -> float:
    return float(page.locator("#lightbox img").evaluate("image => image.clientWidth"))


def loaded(page: Page, name: str) -> None:
    expect(shown(page)).to_have_accessible_name(name)
    page.wait_for_function("() => document.querySelector('#lightbox img').naturalWidth === 2400")


def test_keys_open_it_lead_through_the_message_and_close_it(page: Page) -> None:
    talk_with(page, "one.png", "two.png", "three.png")
    page.locator("a.picture").nth(1).focus()
    page.keyboard.press("Enter")
    loaded(page, "two.png")
    expect(shown(page)).to_contain_text("2 / 3")
    page.keyboard.press("ArrowRight")
    loaded(page, "three.png")
    page.keyboard.press("ArrowRight")
    loaded(page, "one.png")
    page.keyboard.press("ArrowLeft")
    loaded(page, "three.png")
    assert width(page) <= 1440
    page.keyboard.press("Escape")
    expect(shown(page)).to_have_count(0)
    expect(page.locator("a.picture").nth(1)).to_be_focused()


def test_it_is_seen_in_its_actual_size_and_downloaded(page: Page) -> None:
    talk_with(page, "one.png", "two.png")
    page.locator("a.picture").first.click()
    loaded(page, "one.png")
    zoom = page.get_by_role("button", name="Actual size")
    zoom.press("Enter")
    expect(zoom).to_have_attribute("aria-pressed", "true")
    assert width(page) == 2400
    # Arrows now show the rest of it.
    before = page.locator("#lightbox .stage").evaluate("stage => stage.scrollLeft")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "(before) => document.querySelector('#lightbox .stage').scrollLeft > before", arg=before
    )
    expect(shown(page)).to_have_accessible_name("one.png")
    page.locator("#lightbox img").click()
    expect(zoom).to_have_attribute("aria-pressed", "false")
    assert width(page) <= 1440
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "one.png"
    # Beside the picture one closes it.
    page.locator("#lightbox .stage").click(position={"x": 5, "y": 300})
    expect(shown(page)).to_have_count(0)


def test_it_is_looked_at_before_it_is_sent(page: Page) -> None:
    attach(page, "one.png", "two.png")
    page.get_by_role("button", name="Open two.png").click()
    loaded(page, "two.png")
    expect(shown(page)).to_contain_text("2 / 2")
    page.keyboard.press("Escape")
    assert focused(page) == "Open two.png"


def test_without_scripts_the_link_opens_the_picture(visit: Visit) -> None:
    page = visit().open("/")
    talk_with(page, "one.png")
    plain = visit(java_script_enabled=False).open(page.url.removeprefix(visit().seeded.url))
    with plain.context.expect_page() as opened:
        plain.locator("a.picture").click()
    expect(opened.value.locator("img")).to_be_visible()


@pytest.mark.parametrize(("person", "width"), VISITS)
def test_axe_finds_nothing(visit: Visit, person: str, width: int) -> None:
    page = visit(person, width, bypass_csp=True).open("/")
    talk_with(page, "one.png", "two.png")
    page.locator("a.picture").first.click()
    expect(shown(page)).to_be_visible()
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
