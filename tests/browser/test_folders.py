"""Folders: made, filled and emptied by mouse, keys and plain forms, seen in every window."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.talking import answered, ask, menu, row
from tests.browser.visitors import Visit


def folder(page: Page, name: str) -> Locator:
    head = page.locator(".folder-head", has=page.get_by_role("button", name=name))
    return page.locator("#column .folder", has=head)


def folder_menu(page: Page, name: str) -> Locator:
    head = folder(page, name).locator(".folder-head")
    head.hover()
    head.locator("summary").click()
    return head


def new_folder(page: Page, name: str, instructions: str = "") -> None:
    page.get_by_role("link", name="New folder").click()
    dialog = page.get_by_role("dialog", name="New folder")
    expect(dialog.get_by_label("Name")).to_be_focused()
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Instructions").fill(instructions)
    dialog.get_by_label("Name").press("Enter")
    expect(dialog).to_have_count(0)
    expect(folder(page, name)).to_have_count(1)


def move(page: Page, title: str, name: str) -> None:
    menu(page, title).get_by_role("link", name="Move to…").click()
    dialog = page.get_by_role("dialog", name="Move to…")
    dialog.get_by_label(name, exact=True).check()
    dialog.get_by_role("button", name="Move").click()
    expect(dialog).to_have_count(0)


def test_a_folder_is_made_renamed_and_deleted_in_every_window(visit: Visit) -> None:
    kim = visit("keeper0")
    other, page = kim.open("/"), kim.open("/")
    new_folder(page, "Work")
    new_folder(page, "Art")
    for window in (page, other):
        expect(window.locator(".folder-head .name")).to_have_text(["Art", "Work"])
    folder_menu(page, "Art").get_by_role("link", name="Name and instructions").click()
    page.get_by_label("Name", exact=True).fill("work")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_have_text("You have a folder “work” already.")
    page.get_by_label("Name", exact=True).fill("Zoo")
    page.get_by_role("button", name="Save").click()
    for window in (page, other):
        expect(window.locator(".folder-head .name")).to_have_text(["Work", "Zoo"])
    expect(folder(page, "Zoo").locator(".folder-head summary")).to_be_focused()

    move(page, "Figs", "Zoo")
    expect(folder(page, "Zoo").locator(".row")).to_have_count(1)
    folder_menu(page, "Zoo").get_by_role("link", name="Delete the folder").click()
    expect(page.get_by_role("dialog")).to_contain_text("Its conversations stay.")
    page.keyboard.press("Enter")
    for window in (page, other):
        expect(window.locator(".folder-head .name")).to_have_text(["Work"])
        expect(row(window, "Figs")).to_have_count(1)


def test_a_conversation_is_dragged_in_and_out(visit: Visit) -> None:
    kim = visit("keeper1")
    other, page = kim.open("/"), kim.open("/")
    new_folder(page, "Work")
    row(page, "Cherries").locator("a").first.drag_to(folder(page, "Work").locator(".fold"))
    for window in (page, other):
        expect(folder(window, "Work").locator(".row")).to_contain_text(["Cherries"])
    expect(page.locator(".toast")).to_contain_text("Moved to “Work”")
    row(page, "Cherries").locator("a").first.drag_to(row(page, "Figs"))
    for window in (page, other):
        expect(folder(window, "Work").locator(".row")).to_have_count(0)
    page.reload()
    expect(folder(page, "Work").locator(".row")).to_have_count(0)


def test_a_conversation_is_moved_by_keys_alone(visit: Visit) -> None:
    """From its row, and from its own menu into a folder that is made for it."""
    page = visit("keeper2").open("first")
    new_folder(page, "Work")
    row(page, "Dates").locator("summary").focus()
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Move to…")
    expect(dialog.get_by_label("No folder")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(folder(page, "Work").locator(".row")).to_contain_text(["Dates"])
    expect(dialog).to_have_count(0)
    expect(row(page, "Dates").locator("summary")).to_be_focused()

    page.locator(".topbar summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(dialog).to_be_visible()
    page.get_by_label("Name of the new folder").focus()
    page.keyboard.type("Orchard")
    page.keyboard.press("Enter")
    expect(folder(page, "Orchard").locator(".row")).to_contain_text(["Apples"])
    expect(page.locator(".topbar summary")).to_be_focused()


def test_a_folder_stays_collapsed_and_says_what_is_new(visit: Visit) -> None:
    kim = visit("keeper3")
    page = kim.open("/")
    new_folder(page, "Work")
    move(page, "Figs", "Work")
    expect(folder(page, "Work").locator(".row")).to_have_count(1)
    fold = folder(page, "Work").locator(".fold")
    fold.focus()
    page.keyboard.press("Enter")
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(row(page, "Figs")).to_have_count(0)
    expect(fold).to_be_focused()
    page.reload()
    expect(fold).to_have_attribute("aria-expanded", "false")
    expect(row(page, "Figs")).to_have_count(0)

    fold.click()
    expect(row(page, "Figs")).to_be_visible()
    writing = kim.open("/")
    row(writing, "Figs").locator("a").first.click()
    writing.wait_for_url("**/c/**")
    ask(writing, "/slow 200 /long 2000 figs")
    page.bring_to_front()
    fold.click()
    expect(folder(page, "Work").locator(".live")).to_be_visible()
    expect(fold).to_contain_text("answering now")
    writing.bring_to_front()
    # The open one is in sight all the same.
    expect(writing.locator("#column [aria-current]")).to_be_in_viewport()
    writing.keyboard.press("Escape")
    answered(writing)
    expect(folder(page, "Work").locator(".live")).to_have_count(0)


def test_a_chat_begins_in_a_folder(visit: Visit) -> None:
    page = visit("keeper4").open("/")
    new_folder(page, "Work")
    folder_menu(page, "Work").get_by_role("link", name="New chat in this folder").click()
    expect(page.locator(".in-folder")).to_contain_text("A new chat in “Work”")
    ask(page, "/long 5 hello")
    page.wait_for_url("**/c/**")
    answered(page)
    expect(folder(page, "Work").locator("[aria-current]")).to_have_count(1)


def test_a_drawer_comes_back_behind_a_dialog(visit: Visit) -> None:
    page = visit("keeper5", width=390).open("/")
    page.get_by_label("Open the column").tap()
    page.get_by_role("link", name="New folder").tap()
    page.get_by_label("Name", exact=True).fill("Pocket")
    page.get_by_role("button", name="Save").tap()
    expect(folder(page, "Pocket")).to_be_visible()
    row(page, "Figs").locator("summary").tap()
    row(page, "Figs").get_by_role("link", name="Move to…").tap()
    page.get_by_label("Pocket", exact=True).check()
    page.get_by_role("button", name="Move", exact=True).tap()
    expect(folder(page, "Pocket").locator(".row")).to_contain_text(["Figs"])
    expect(page.locator("#sidebar")).to_be_visible()


def test_without_scripts_there_are_pages_for_it(visit: Visit) -> None:
    page = visit("keeper6", java_script_enabled=False).open("first")
    page.get_by_role("link", name="New folder").click()
    page.get_by_label("Name", exact=True).fill("Plain")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("Folder Plain").click()
    expect(folder(page, "Plain")).to_have_count(1)
    menu(page, "Berries").get_by_role("link", name="Move to…").click()
    page.get_by_label("Plain", exact=True).check()
    page.get_by_role("button", name="Move").click()
    expect(folder(page, "Plain").locator(".row")).to_contain_text(["Berries"])
    folder(page, "Plain").locator(".fold").click()
    expect(row(page, "Berries")).to_have_count(0)
    folder(page, "Plain").locator(".fold").click()
    expect(row(page, "Berries")).to_have_count(1)

    folder_menu(page, "Plain").get_by_role("link", name="Delete the folder").click()
    page.get_by_role("button", name="Delete the folder").click()
    expect(folder(page, "Plain")).to_have_count(0)
    expect(row(page, "Berries")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/$"))


def test_a_search_is_narrowed_to_a_folder(visit: Visit) -> None:
    """In the dialog, which knows of a folder at once, and on the page without scripts."""
    page = visit("keeper7").open("/")
    page.keyboard.press("Control+k")
    expect(page.get_by_label("Folder", exact=True)).to_be_hidden()
    page.keyboard.press("Escape")
    new_folder(page, "Work")
    move(page, "Figs", "Work")
    expect(folder(page, "Work").locator(".row")).to_have_count(1)
    page.keyboard.press("Control+k")
    page.keyboard.type("ripe")
    hits = page.locator("#found .found")
    expect(hits).to_have_count(6)
    page.get_by_label("Folder", exact=True).select_option("Work")
    expect(hits).to_have_count(1)
    expect(hits).to_contain_text("Figs")
    # Whatever else becomes of folders, what is chosen stays chosen.
    page.keyboard.press("Escape")
    new_folder(page, "Another")
    expect(page.locator("#search-folders select")).to_have_value(re.compile(".+"))

    page = visit("keeper7", java_script_enabled=False).open("/")
    page.locator(".search-page input[name=q]").fill("ripe")
    page.locator(".search-page select[name=in]").select_option("Work")
    page.locator(".search-page button").click()
    expect(page.locator("#column .found, .list .found")).to_have_count(1)
    expect(page.locator(".search-page select[name=in]")).to_have_value(re.compile(".+"))
