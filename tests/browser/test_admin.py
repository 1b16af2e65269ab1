"""A conversation in the administration looks as its reader sees it (F3)."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.visitors import SESSION, Visit, Visitor

LOOKS = """element => {
  const { backgroundColor, color, fontSize, fontWeight, padding, textTransform } =
    getComputedStyle(element);
  return { backgroundColor, color, fontSize, fontWeight, padding, textTransform };
}"""


def in_administration(visitor: Visitor, talk: str = "chat") -> str:
    conversation = visitor.places[talk].strip("/").removeprefix("c/")
    return f"/admin/chat/conversation/{conversation}/change/"


def looks(element: Locator) -> dict[str, str]:
    expect(element).to_be_visible()
    return dict(element.evaluate(LOOKS))


@pytest.mark.parametrize("person", ["en-light", "en-dark"])
def test_a_heading_of_an_answer_looks_as_its_reader_sees_it(visit: Visit, person: str) -> None:
    """Django draws bars across the headings of its own pages."""
    visitor = visit(person)
    read = looks(visitor.open("chat").locator(".markdown h2").first)
    page = visitor.open(in_administration(visitor))
    assert looks(page.locator(".markdown h2").first) == read
    assert read["backgroundColor"] == "rgba(0, 0, 0, 0)"


PARTS = (".said", ".body > .markdown p", ".markdown a", ".markdown th", ".code pre", ".facts")


@pytest.mark.parametrize("person", ["en-light", "en-dark"])
def test_the_parts_of_a_message_look_as_their_reader_sees_them(visit: Visit, person: str) -> None:
    visitor = visit(person)
    read = visitor.open("chat")
    page = visitor.open(in_administration(visitor))
    for part in PARTS:
        assert looks(page.locator(part).first) == looks(read.locator(part).first), part


def test_the_theme_of_the_administration_is_that_of_the_messages(visit: Visit) -> None:
    """Its switch may say something else than the system."""
    visitor = visit("en-light")
    page = visitor.open(in_administration(visitor))
    text = page.locator(".body > .markdown p").first
    light = looks(text)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert (
        looks(text)["color"]
        == looks(visit("en-dark").open("chat").locator(".body > .markdown p").first)["color"]
    )
    assert looks(text)["color"] != light["color"]


def test_the_administration_around_it_is_not_changed(visit: Visit) -> None:
    """As on a page without messages: nothing is clipped, nothing has our colours."""
    visitor = visit()
    page = visitor.open(in_administration(visitor))
    other = visitor.open("/admin/chat/agent/")
    other.locator("#result_list tbody th a").first.click()
    for selector in ("[name=_save]", "#content > h1"):
        box = "element => [element.offsetHeight, getComputedStyle(element).boxSizing]"
        here, there = page.locator(selector).first, other.locator(selector).first
        assert looks(here) == looks(there), selector
        assert here.evaluate(box) == there.evaluate(box), selector


def test_nothing_is_offered_that_does_nothing_there(visit: Visit) -> None:
    visitor = visit()
    page = visitor.open(in_administration(visitor))
    expect(page.locator(".message").first).to_be_visible()
    nothing = "[data-copy=source]:visible, [data-edit]:visible, .go-on:visible"
    expect(page.locator(nothing)).to_have_count(0)


def test_a_part_is_mended_in_place_and_seen_in_another_tab(visit: Visit) -> None:
    """F3: what breaks a rule is said below its box, and nothing written is lost on the way."""
    visitor = visit("zh-hans-light")
    reader = visitor.open("chat")
    page = visitor.open(in_administration(visitor))
    page.locator("[data-inspect]", has_text="计算器").first.click()
    inspector = page.locator(".inspector")
    output = inspector.get_by_label("输出")
    output.fill("")
    save = inspector.get_by_role("button", name="保存")
    save.click()
    expect(inspector.get_by_role("alert")).to_contain_text("state.output 违反 BR-09")
    expect(output).to_have_attribute("aria-invalid", "true")
    output.fill("kanaryone")
    # A proxy may answer with a page of its own.
    page.route("**/inspect/", lambda route: route.fulfill(body="<h1>Log in</h1>"))
    save.click()
    expect(inspector.get_by_text("无法保存")).to_be_visible()
    expect(output).to_have_value("kanaryone")
    page.unroute("**/inspect/")
    # Whoever must first give a reason again, or log in, finds here what was written.
    [session] = [each for each in visitor.context.cookies() if each["name"] == SESSION]
    visitor.context.clear_cookies(name=SESSION)
    save.click()
    expect(inspector.get_by_text("尚未保存")).to_be_visible()
    expect(output).to_have_value("kanaryone")
    visitor.context.add_cookies([session])
    save.click()
    expect(inspector).to_have_count(0)
    expect(page.locator(".stored", has_text="kanaryone").first).to_be_attached()
    expect(reader.locator("body")).to_contain_text("kanaryone")


def test_a_list_is_read_and_sorted_on_a_phone(visit: Visit) -> None:
    """Rows are blocks there, and for a screen reader still rows with their columns."""
    page = visit("en-light", 390).open("/admin/chat/conversation/")
    row = page.get_by_role("row").filter(has_text="Deposit on the Lisbon flat").first
    link = row.get_by_role("rowheader").get_by_role("link")
    cost = row.locator(".field-cost")
    expect(cost).to_have_role("cell")
    expect(cost).to_have_text("$0.0040")
    label = "element => getComputedStyle(element, '::before').content"
    assert cost.evaluate(label).startswith('"Cost"')
    assert page.get_by_role("columnheader").count() == row.locator("th, td").count()
    for each in row.locator("td:not(.says-nothing)").all():
        box = each.bounding_box()
        assert box is not None
        assert box["x"] + box["width"] <= 390
    expect(link).to_be_visible()
    page.get_by_role("columnheader", name="Owner").get_by_role("link").press("Enter")
    page.wait_for_url("**o=*")
    expect(page.locator("th.sorted.ascending")).to_contain_text("Owner")


def test_the_column_shows_the_page_one_is_at(visit: Visit) -> None:
    """Its last groups are below what fits on a screen; on a phone it is a drawer."""
    page = visit("en-light").open("/admin/chat/auditentry/")
    here = page.locator("#sidebar [aria-current=page]")
    expect(here).to_have_text("Audit log")
    expect(here).to_be_in_viewport(ratio=1)
    page = visit("en-light", 390).open("/admin/chat/auditentry/")
    page.locator("[data-show-column]").click()
    expect(page.locator("#sidebar [aria-current=page]")).to_be_in_viewport(ratio=1)


def test_only_what_was_copied_is_said_to_be(visit: Visit) -> None:
    """Without HTTPS there is no clipboard, but the old command; it may refuse, too."""
    page = visit().open("/admin/chat/invitation/add/")
    page.locator("[name=_save]").click()
    button = page.locator("[data-copy-field]")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    done = page.locator("[data-copy-field][data-done]")
    page.evaluate("void (document.execCommand = () => !(window.asked = true))")
    button.click()
    page.wait_for_function("window.asked")
    assert page.evaluate("getSelection().toString()").startswith("http")
    expect(done).to_have_count(0)
    page.evaluate("void (document.execCommand = () => true)")
    button.click()
    expect(done).to_have_count(1)
