"""The column: everything in its menu, by mouse and keys, without a reload."""

import re
from urllib.parse import urlsplit

from playwright.sync_api import Locator, Page, expect

from tests.browser.talking import answered, ask, focused, menu, new_talk, row
from tests.browser.visitors import Visit


def test_a_delete_can_be_undone(page: Page) -> None:
    menu(page, "Bread at").get_by_role("button", name="Delete").click()
    toast = page.locator(".toast")
    expect(toast).to_contain_text("Conversation deleted")
    expect(row(page, "Bread at")).to_have_count(0)

    toast.get_by_role("button", name="Undo").click()
    expect(row(page, "Bread at")).to_have_count(1)
    expect(toast).to_have_count(0)


def test_an_archived_conversation_leaves_the_column_and_comes_back(visit: Visit) -> None:
    """In every window; search finds it, a page lists it."""
    ada = visit()
    other, page = ada.open("/"), ada.open("/")
    menu(page, "Bread at").get_by_role("button", name="Archive").click()
    expect(page.locator(".toast")).to_contain_text("Conversation archived")
    for window in (page, other):
        expect(row(window, "Bread at")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    for window in (page, other):
        expect(row(window, "Bread at")).to_have_count(1)

    menu(page, "Bread at").get_by_role("button", name="Archive").click()
    expect(row(page, "Bread at")).to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("bread")
    expect(page.locator("#found .found", has_text="Bread at")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator(".account summary").click()
    page.get_by_role("link", name="Archived").click()
    line = page.locator(".deleted > li", has_text="Bread at")
    line.get_by_role("button", name="Bring back").click()
    expect(page.locator("#title")).to_contain_text("Bread at")
    expect(row(other, "Bread at")).to_have_count(1)


def test_what_could_not_be_done_is_said(page: Page) -> None:
    """A14: no failure without a word, and what was to be undone can still be."""
    failed = page.locator(".toast", has_text="This did not work")
    page.route("**/organise/", lambda route: route.abort())
    menu(page, "Bread at").get_by_role("button", name="Delete").click()
    expect(failed).to_have_count(1)
    expect(row(page, "Bread at")).to_have_count(1)
    page.unroute("**/organise/")
    menu(page, "Bread at").get_by_role("button", name="Delete").click()
    undo = page.get_by_role("button", name="Undo")
    expect(undo).to_be_visible()

    page.route("**/organise/", lambda route: route.fulfill(status=503))
    undo.click()
    # The same again takes the place of the first.
    expect(undo).to_be_visible()
    expect(failed).to_have_count(1)
    page.unroute("**/organise/")
    undo.click()
    expect(row(page, "Bread at")).to_have_count(1)
    expect(undo).to_have_count(0)


def test_deleting_the_conversation_one_is_in_leads_home_and_back(page: Page) -> None:
    new_talk(page)
    here = page.url
    page.locator(".topbar").get_by_label("More").click()
    page.locator(".topbar").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_contain_text("Conversation deleted")
    expect(page.locator("#empty")).to_be_visible()
    # Told once: who loads the page again, or shares its address, is not told again.
    expect(page).to_have_url(re.compile(r"/$"))
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "hello").first).to_be_visible()
    page.goto(here)
    page.locator(".topbar").get_by_label("More").click()
    page.locator(".topbar").get_by_role("button", name="Delete").click()
    expect(page.locator("#empty")).to_be_visible()
    expect(page.locator("#text")).to_be_focused()
    page.reload()
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator(".toast")).to_have_count(0)


def test_a_conversation_is_renamed_in_its_place(page: Page) -> None:
    menu(page, "Regex for ISO").get_by_role("button", name="Rename").click()
    page.keyboard.type("Weeks")
    page.keyboard.press("Escape")
    expect(row(page, "Regex for ISO")).to_have_count(1)

    menu(page, "Regex for ISO").get_by_role("button", name="Rename").click()
    page.keyboard.type("Regex for ISO weeks, again")
    page.keyboard.press("Enter")
    expect(row(page, "Regex for ISO weeks, again")).to_have_count(1)
    expect(page.locator(".rename")).to_have_count(0)


def test_the_title_is_renamed_in_its_place_and_so_is_the_tab(page: Page) -> None:
    new_talk(page)
    page.locator(".topbar").get_by_label("More").click()
    page.locator(".topbar").get_by_role("button", name="Rename").click()
    page.keyboard.type("A better name")
    page.keyboard.press("Enter")
    expect(page.locator("#title")).to_have_text("A better name")
    # Others of hers may have ended unseen meanwhile.
    expect(page).to_have_title(re.compile(r"^(\(\d+\) )?A better name · Parley$"))
    expect(row(page, "A better name")).to_have_count(1)


def test_a_name_being_written_is_not_redrawn(visit: Visit) -> None:
    """The list is drawn anew when another window changes it; not under the writer's hands."""
    ada = visit()
    page, other = ada.open("/"), ada.open("/")
    menu(page, "Notes on").get_by_role("button", name="Rename").click()
    page.keyboard.type("Half a na")
    menu(other, "SQL: last").get_by_role("button", name="Pin").click()
    expect(other.locator("#column h2").first).to_have_text("Pinned")
    page.keyboard.type("me")
    expect(page.locator(".rename")).to_have_value("Half a name")
    page.keyboard.press("Escape")
    expect(row(page, "SQL: last").locator(".pinned")).to_have_count(1)


def test_pinning_needs_no_reload_and_reaches_other_windows(visit: Visit) -> None:
    ada = visit()
    # The last one opened is in front: Chromium moves no mouse in a page behind another.
    other, page = ada.open("chat"), ada.open("/")
    menu(page, "Compare three").get_by_role("button", name="Pin").click()
    for window in (page, other):
        expect(row(window, "Compare three").locator(".pinned")).to_have_count(1)
    menu(page, "Compare three").get_by_role("button", name="Unpin").click()
    expect(row(other, "Compare three").locator(".pinned")).to_have_count(0)


def press_in_menu(row: Locator, name: str) -> None:
    """Everything by keys: open the menu, go to the button, press it."""
    row.locator("summary").focus()
    row.page.keyboard.press("Enter")
    button = row.get_by_role("button", name=name)
    expect(button).to_be_visible()
    while not button.evaluate("e => e === document.activeElement"):
        row.page.keyboard.press("Tab")
    row.page.keyboard.press("Enter")


def test_the_focus_stays_where_somebody_works_in_the_column(visit: Visit) -> None:
    """On the conversation that moved; on its neighbour when it is gone; and back on it."""
    page = visit("zh-hans-light").open("/")
    # Where a page has much to do the next frame is late, and keys are pressed before it.
    page.evaluate("window.requestAnimationFrame = () => 0")
    titles = [text.strip() for text in page.locator("#column .name").all_inner_texts()]
    moved, gone, after = titles[3], titles[4], titles[5]
    for verb in ("置顶", "取消置顶"):
        press_in_menu(row(page, moved), verb)
        expect(row(page, moved).locator(".pinned")).to_have_count(int(verb == "置顶"))
        expect(row(page, moved).locator("summary")).to_be_focused()
    press_in_menu(row(page, gone), "删除")
    expect(row(page, gone)).to_have_count(0)
    expect(row(page, after).locator("summary")).to_be_focused()
    undo = page.get_by_role("button", name="撤销")
    undo.focus()
    page.keyboard.press("Enter")
    expect(row(page, gone).locator("a").first).to_be_focused()
    press_in_menu(row(page, gone), "归档")
    expect(row(page, after).locator("summary")).to_be_focused()
    undo.focus()
    page.keyboard.press("Enter")
    expect(row(page, gone).locator("a").first).to_be_focused()


def test_a_running_conversation_has_a_dot_everywhere(visit: Visit) -> None:
    ada = visit()
    watching, page = ada.open("/"), ada.open("/")
    ask(page, "/slow 200 /long 2000 dots")
    page.wait_for_url("**/c/**")
    expect(row(watching, "dots").locator(".live")).to_be_visible()
    page.keyboard.press("Escape")
    answered(page)
    expect(row(watching, "dots").locator(".live")).to_have_count(0)


def test_a_menu_closes_by_escape_and_by_a_click_elsewhere(page: Page) -> None:
    opened = page.locator("details.menu[open]")
    menu(page, "A gentle plan")
    expect(opened).to_have_count(1)
    page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    assert focused(page) == "Rename, pin, move, archive, delete"

    row(page, "A gentle plan").locator("summary").click()
    page.locator("main").click(position={"x": 600, "y": 200})
    expect(opened).to_have_count(0)


def test_every_entry_of_a_menu_has_a_line_of_its_own_in_sight(page: Page) -> None:
    """Also in the menu of the last row."""
    entries = menu(page, "Bread at").locator(".menu .button")
    expect(entries.last).to_be_in_viewport(ratio=1)
    boxes = [entry.bounding_box() or {} for entry in entries.all() if entry.is_visible()][1:]
    assert len({box["x"] for box in boxes}) == 1
    assert len({box["y"] for box in boxes}) == len(boxes)
    assert len({box["height"] for box in boxes}) == 1


def test_the_menu_of_an_archived_conversation_brings_it_back(visit: Visit) -> None:
    """In a window of its own too."""
    ada = visit()
    page = ada.open("/")
    new_talk(page)
    window = ada.open(f"{urlsplit(page.url).path}?window=1")
    page.bring_to_front()
    page.locator(".topbar").get_by_label("More").click()
    page.locator(".topbar").get_by_role("button", name="Archive").click()
    expect(window.locator("#put-away")).to_have_text("Bring back")
    window.bring_to_front()
    window.locator(".topbar").get_by_label("More").click()
    window.locator(".topbar").get_by_role("button", name="Bring back").click()
    for each in (window, page):
        expect(each.locator("#put-away")).to_have_text("Archive")


def test_what_was_deleted_can_be_restored_later_or_deleted_for_good(visit: Visit) -> None:
    """A16: by keys too; each says until when it is kept."""
    page = visit("en-dark").open("/")
    for title in ("Regex for ISO", "SQL: last"):
        menu(page, title).get_by_role("button", name="Delete").click()
        expect(row(page, title)).to_have_count(0)
    page.locator(".account summary").click()
    page.get_by_role("link", name="Recently deleted").click()
    lines = page.locator(".deleted > li")
    expect(lines.first).to_contain_text("SQL: last")
    expect(lines.first).to_contain_text("Gone for good on")
    before = lines.count()

    lines.first.locator("summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(lines).to_have_count(before - 1)
    lines.first.get_by_role("button", name="Restore").click()
    expect(page.locator("#title")).to_contain_text("Regex for ISO")
    expect(row(page, "Regex for ISO")).to_have_count(1)
    expect(row(page, "SQL: last")).to_have_count(0)


def test_the_column_can_be_put_away_and_stays_away(page: Page) -> None:
    page.get_by_label("Hide the column").click()
    expect(page.locator("#sidebar")).to_be_hidden()
    assert focused(page) == "Open the column"
    page.reload()
    expect(page.locator("#sidebar")).to_be_hidden()

    page.keyboard.press("Control+k")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_label("Open the column").click()
    expect(page.locator("#sidebar")).to_be_visible()
    page.reload()
    expect(page.locator("#sidebar")).to_be_visible()


def test_the_column_lists_on_as_one_scrolls(visit: Visit) -> None:
    """A16: to the last conversation, with the mouse, by keys and on a phone; the open one is there
    from the beginning, in its place as soon as that is reached."""
    page = visit("collector").open("last")
    rows, current = page.locator("#column .row"), page.locator("#column [aria-current]")
    expect(rows).to_have_count(61)
    expect(current).to_be_in_viewport()
    for listed in (120, 150):
        page.locator("#column .row").last.scroll_into_view_if_needed()
        expect(rows).to_have_count(listed + (listed < 150))
    expect(page.get_by_role("link", name="Show more")).to_be_hidden()
    expect(rows.last).to_contain_text("Talk 149")
    expect(current).to_have_count(1)

    menu(page, "Talk 140").get_by_role("button", name="Pin").click()
    expect(row(page, "Talk 140").locator(".pinned")).to_have_count(1)
    expect(rows.first).to_contain_text("Talk 140")
    menu(page, "Talk 140").get_by_role("button", name="Unpin").click()
    expect(rows.first).to_contain_text("Talk 000")


def test_on_a_phone_and_without_scripts_there_is_more_too(visit: Visit) -> None:
    page = visit("collector", width=390).open("/")
    page.get_by_label("Open the column").tap()
    page.locator("#column .row").last.scroll_into_view_if_needed()
    expect(page.locator("#column .row")).to_have_count(120)

    page = visit("collector", java_script_enabled=False).open("last")
    page.get_by_role("link", name="Show more").click()
    expect(page.locator("#column .row")).to_have_count(121)
    page.get_by_role("link", name="Show more").click()
    expect(page.locator("#column .row")).to_have_count(150)


def test_on_a_phone_the_column_is_a_drawer(visit: Visit) -> None:
    page = visit(width=390).open("chat")
    expect(page.locator("#sidebar")).to_be_hidden()
    page.get_by_label("Open the column").tap()
    expect(page.locator("#sidebar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_be_hidden()


def test_without_scripts_the_menu_works_too(visit: Visit) -> None:
    page = visit("en-dark", java_script_enabled=False).open("chat")
    menu(page, "Bread at").get_by_role("button", name="Delete").click()
    expect(row(page, "Bread at")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(row(page, "Bread at")).to_have_count(1)

    page.locator(".topbar").get_by_label("More").click()
    page.locator(".topbar").get_by_label("A new title").fill("Renamed without scripts")
    page.locator(".topbar").get_by_role("button", name="Save").click()
    expect(page.locator("#title")).to_have_text("Renamed without scripts")
