"""Several conversations at once: selected by mouse, keys and touch, and put away together."""

import re
import zipfile
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.browser.talking import row
from tests.browser.visitors import Visit


def box(page: Page, title: str) -> Locator:
    return row(page, title).locator("[name=c]")


def selected(page: Page) -> list[str]:
    rows = page.locator("#column .row", has=page.locator("input:checked"))
    return [text.strip() for text in rows.locator(".name").all_inner_texts()]


def start(page: Page) -> None:
    page.get_by_role("link", name="Select several").click()
    expect(page.get_by_role("toolbar", name="Selected conversations")).to_be_visible()


def test_a_range_is_deleted_and_all_of_it_comes_back(visit: Visit) -> None:
    kim = visit("keeper8")
    other, page = kim.open("/"), kim.open("/")
    start(page)
    bar = page.locator(".select-bar")
    expect(bar.get_by_role("button", name="Delete")).to_be_disabled()
    row(page, "Berries").locator("a").first.click()
    row(page, "Dates").locator("a").first.click(modifiers=["Shift"])
    assert selected(page) == ["Berries", "Cherries", "Dates"]
    expect(bar.get_by_role("status")).to_have_text("Selected: 3")
    box(page, "Cherries").click()
    assert selected(page) == ["Berries", "Dates"]
    bar.get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("2 conversations deleted")
    for window in (page, other):
        expect(row(window, "Berries")).to_have_count(0)
        expect(row(window, "Dates")).to_have_count(0)
        expect(row(window, "Cherries")).to_have_count(1)
    expect(bar).to_be_hidden()

    page.get_by_role("button", name="Undo").click()
    for window in (page, other):
        expect(row(window, "Berries")).to_have_count(1)
        expect(row(window, "Dates")).to_have_count(1)


def test_all_of_it_works_by_keys(visit: Visit) -> None:
    page = visit("keeper9").open("/")
    page.get_by_role("link", name="Select several").focus()
    page.keyboard.press("Enter")
    expect(box(page, "Apples")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    assert selected(page) == ["Apples", "Berries", "Cherries"]
    page.keyboard.press("Control+a")
    expect(page.locator(".select-bar [role=status]")).to_have_text("Selected: 6")
    page.keyboard.press("Escape")
    expect(page.locator(".select-bar")).to_be_hidden()
    assert selected(page) == []

    row(page, "Figs").locator("summary").focus()
    page.keyboard.press("Enter")
    row(page, "Figs").get_by_role("button", name="Select").focus()
    page.keyboard.press("Enter")
    expect(box(page, "Figs")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Space")
    assert selected(page) == ["Elder", "Figs"]
    page.get_by_role("toolbar").get_by_role("button", name="Archive").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("2 conversations archived")
    expect(row(page, "Figs")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "Elder")).to_have_count(1)
    expect(row(page, "Figs")).to_have_count(1)


def test_what_is_selected_moves_together(visit: Visit) -> None:
    """By the bar, into a folder that is made for it; by the mouse, out of it."""
    page = visit("keeper10").open("/")
    start(page)
    box(page, "Apples").check()
    box(page, "Figs").check()
    page.get_by_role("toolbar").get_by_role("button", name="Move to…").click()
    page.get_by_label("Name of the new folder").fill("Fruit")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    folder = page.locator("#column .folder")
    expect(folder.locator(".row")).to_have_count(2)
    expect(page.locator(".toast")).to_contain_text("2 moved to “Fruit”")

    start(page)
    box(page, "Apples").check()
    box(page, "Figs").check()
    row(page, "Apples").locator("a").first.drag_to(row(page, "Cherries"))
    expect(folder.locator(".row")).to_have_count(0)


def test_what_is_selected_stays_so_while_rows_are_drawn_anew(visit: Visit) -> None:
    kim = visit("keeper11")
    other, page = kim.open("/"), kim.open("/")
    start(page)
    box(page, "Berries").check()
    box(page, "Dates").check()
    other.bring_to_front()
    for title in ("Berries", "Dates"):
        row(other, title).hover()
        row(other, title).locator("summary").click()
        verb = "Pin" if title == "Berries" else "Delete"
        row(other, title).get_by_role("button", name=verb).click()
    page.bring_to_front()
    expect(row(page, "Berries").locator(".pinned")).to_have_count(1)
    expect(row(page, "Dates")).to_have_count(0)
    expect(page.locator(".select-bar [role=status]")).to_have_text("Selected: 1")
    assert selected(page) == ["Berries"]


def test_several_are_exported_as_one_archive(visit: Visit, tmp_path: Path) -> None:
    page = visit("keeper12").open("first")
    for name, ending, words in (
        ("Markdown", ".md", "About Apples: which are ripe?"),
        ("Parley JSON", ".json", '"format": "parley.v2"'),
    ):
        start(page)
        box(page, "Apples").check()
        box(page, "Cherries").check()
        page.get_by_role("toolbar").get_by_role("button", name="Export…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label(name).check()
        with page.expect_download() as started:
            dialog.get_by_role("button", name="Export", exact=True).click()
        assert re.fullmatch(r"parley-[\d-]{10}\.zip", started.value.suggested_filename)
        file = tmp_path / f"all{ending}.zip"
        started.value.save_as(file)
        with zipfile.ZipFile(file) as archive:
            assert archive.testzip() is None
            names = archive.namelist()
            assert [each.split("-")[0] for each in names] == ["apples", "cherries"]
            assert all(each.endswith(ending) for each in names)
            assert words in archive.read(names[0]).decode()
        # The dialog is gone, and nothing is selected any more.
        expect(page.locator("dialog[open]")).to_have_count(0)
        expect(page.locator(".select-bar")).to_be_hidden()


def test_deleting_what_is_open_with_others_leads_home(visit: Visit) -> None:
    page = visit("keeper13").open("first")
    start(page)
    box(page, "Apples").check()
    box(page, "Berries").check()
    page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator(".toast")).to_contain_text("2 conversations deleted")
    page.get_by_role("button", name="Undo").click()
    for title in ("Apples", "Berries"):
        expect(row(page, title)).to_have_count(1)


def test_on_a_phone_a_long_press_selects(visit: Visit) -> None:
    page = visit("keeper14", width=390).open("/")
    page.get_by_label("Open the column").tap()
    link = row(page, "Cherries").locator("a").first
    # Until the drawer stands still.
    link.scroll_into_view_if_needed()
    place = link.bounding_box()
    assert place is not None
    touch = page.context.new_cdp_session(page)
    point = {"x": place["x"] + 40, "y": place["y"] + 10}
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
    expect(page.locator(".select-bar [role=status]")).to_have_text("Selected: 1")
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    row(page, "Dates").locator("a").first.tap()
    assert selected(page) == ["Cherries", "Dates"]
    page.get_by_role("toolbar").get_by_role("button", name="Archive").tap()
    expect(row(page, "Dates")).to_have_count(0)
    expect(page.locator("#sidebar")).to_be_visible()


def test_without_scripts_several_are_put_away_by_a_form(visit: Visit) -> None:
    page = visit("keeper15", java_script_enabled=False).open("first")
    page.get_by_role("link", name="Select several").click()
    box(page, "Berries").check()
    box(page, "Figs").check()
    page.get_by_role("toolbar").get_by_role("button", name="Move to…").click()
    page.get_by_label("Name of the new folder").fill("Fruit")
    page.locator("[name=folder][value=new]").check()
    page.get_by_role("button", name="Move").click()
    expect(page.locator("#column .folder .row")).to_have_count(2)

    page.get_by_role("link", name="Select several").click()
    box(page, "Berries").check()
    box(page, "Figs").check()
    page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("2 conversations deleted")
    expect(row(page, "Figs")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "Figs")).to_have_count(1)
    expect(row(page, "Berries")).to_have_count(1)
