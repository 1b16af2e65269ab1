"""Messages: copying, reading, older ones, and what is announced."""

import re

from playwright.sync_api import Page, expect

from tests.browser.talking import answered, ask, new_talk
from tests.browser.visitors import Visit

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}


def clipboard(page: Page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def test_an_answer_is_copied_as_its_markdown_and_code_as_code(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("chat")
    foot = page.locator(".foot .actions").first
    foot.get_by_label("Copy").click()
    expect(foot.locator("[data-done]")).to_be_visible()
    copied = clipboard(page)
    assert copied.startswith("The holding deposit is **409.50 €**.")
    assert "| Item | When | Share | Amount |" in copied
    expect(page.locator("#status")).to_have_text("Copied")

    page.locator("figure.code").get_by_label("Copy").click()
    expect(page.locator("figure.code [data-done]")).to_be_visible()
    assert clipboard(page).startswith("from decimal import Decimal\n\ndef deposit(")

    said = page.locator("[data-role=user]").first
    said.hover()
    said.get_by_label("Copy").click()
    expect(said.locator("[data-done]")).to_be_visible()
    assert clipboard(page).startswith("The landlord wants")


def test_what_could_not_be_copied_is_said(visit: Visit) -> None:
    """Without a clipboard the old command is asked, and it may refuse."""
    page = visit().open("chat")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.execCommand = () => false")
    page.locator("figure.code").get_by_label("Copy").click()
    expect(page.locator(".toast")).to_contain_text("This did not work")
    expect(page.locator("figure.code [data-done]")).to_have_count(0)


def test_what_a_card_shows_can_be_copied(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("chat")
    page.locator(".work summary").click()
    card = page.locator(".tool", has_text="Calculator")
    card.locator("summary").click()
    card.get_by_label("Copy").click()
    expect(card.locator("[data-done]")).to_be_visible()
    assert clipboard(page) == "17.5 / 100 * 2340 = 409.5"


def test_changes_and_plans_are_copied_as_one_would_write_them(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("states")
    copied = []
    for name in ("edit", "Plan"):
        card = page.locator(".tool", has=page.get_by_text(name, exact=True)).first
        card.locator("summary").click()
        card.get_by_label("Copy").click()
        expect(card.locator("[data-done]")).to_be_visible()
        copied.append(clipboard(page).splitlines())
    changes, plan = copied
    assert {line[0] for line in changes} == {" ", "+", "-"}
    assert {line[:6] for line in plan} == {"- [x] ", "- [ ] "}


def test_older_messages_come_without_a_jump(visit: Visit) -> None:
    page = visit().open("long")
    messages = page.locator("#t > .message")
    expect(messages).to_have_count(50)
    top = page.locator("#m371")
    page.evaluate("scrollTo(0, 0)")
    expect(messages).to_have_count(100)
    expect(top).to_be_in_viewport()
    moved = page.evaluate("document.querySelector('#m371').getBoundingClientRect().top")
    assert 0 < moved < 200


def test_no_more_than_some_hundred_messages_are_kept(visit: Visit) -> None:
    page = visit().open("long")
    messages = page.locator("#t > .message")
    for count in (100, 150, 200, 250, 300):
        page.evaluate("scrollTo(0, 0)")
        expect(messages).to_have_count(count)
    page.evaluate("scrollTo(0, 0)")
    page.get_by_role("link", name="Older messages").click()
    expect(page.locator("#m121")).to_have_count(0)
    expect(page.locator("#m120")).to_be_visible()
    expect(page.locator("#composer")).to_be_visible()
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.locator("#m420")).to_be_in_viewport()


def test_at_the_end_of_a_long_page_the_oldest_go(visit: Visit) -> None:
    page = visit("en-dark").open("long")
    for count in (100, 150, 200, 250, 300):
        page.evaluate("scrollTo(0, 0)")
        expect(page.locator("#t > .message")).to_have_count(count)
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.locator("#jump")).to_be_hidden()
    ask(page, "/long 3 one more")
    answered(page)
    expect(page.locator("#m171")).to_have_count(0)
    assert page.locator("#t > .message").count() in (250, 251)
    first = page.locator("#t > .message").first.get_attribute("id").removeprefix("m")
    expect(page.locator("#older")).to_have_attribute("hx-get", re.compile(f"before={first}$"))
    expect(page.locator("#t > .message").last).to_be_in_viewport()


def test_what_is_being_done_is_announced_and_the_words_are_not(page: Page) -> None:
    page.add_init_script(
        """addEventListener("DOMContentLoaded", () => {
          window.said = [];
          const status = document.getElementById("status");
          // Each counts that a frame tells, not only its last.
          new MutationObserver((changes) => {
            const added = changes.flatMap((change) => [...change.addedNodes]);
            said.push(...added.map((node) => node.textContent));
          }).observe(status, { childList: true });
        })"""
    )
    new_talk(page)
    # The first answer may end before or after its page is loaded.
    page.evaluate("said.length = 0")
    ask(page, "/think 20 /tools 1 what is 2+2?")
    answered(page)
    said = page.evaluate("said.filter(Boolean)")
    assert said[0] == "Answering…"
    assert "Thinking…" in said
    assert "Using Calculator" in said or "Using Web search" in said, said
    assert said[-1] == "The answer is ready."
    assert len(said) < 12


def test_a_server_that_is_not_running_is_told_soon(visit: Visit) -> None:
    """After one more try, for it may just be starting; nobody listens where this model is."""
    page = visit("zh-hans-light").open("/")
    choose = page.locator("#composer [name=model]")
    choose.select_option(label="glm-4.6", force=True)
    ask(page, "在吗？")
    expect(page.locator("#t .foot")).to_contain_text("（第 2 次，共 2 次）")
    expect(page.locator(".reason p")).to_have_text("无法连接到提供商。")
    expect(page.locator(".reason button:visible")).to_have_text(["重试"])


def test_actions_are_seen_when_the_keyboard_comes_to_them(visit: Visit) -> None:
    page = visit().open("chat")
    edit = page.locator("[data-role=user]").get_by_label("Edit")
    actions = page.locator("[data-role=user] .actions")
    expect(actions).to_have_css("opacity", "0")
    edit.focus()
    expect(actions).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.locator(".edit textarea")).to_be_focused()


def test_a_window_of_its_own_has_no_column(visit: Visit) -> None:
    """A18"""
    page = visit().open("chat")
    page.locator(".topbar").get_by_label("More").click()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open in a window").click()
    window = opened.value
    expect(window.locator("#title")).to_be_visible()
    expect(window.locator("#sidebar")).to_have_count(0)
    expect(window.locator("#composer")).to_be_visible()


def test_a_toast_stays_while_somebody_is_at_it(page: Page) -> None:
    page.clock.install()
    page.reload()
    page.evaluate(
        """() => document.getElementById("toasts").insertAdjacentHTML(
             "beforeend", '<div class="toast"><p>Said</p><button data-dismiss>x</button></div>')"""
    )
    toast = page.locator(".toast")
    toast.hover()
    page.clock.run_for(20_000)
    expect(toast).to_be_visible()
    page.mouse.move(5, 5)
    page.clock.run_for(20_000)
    expect(toast).to_have_count(0)


def test_printing_gives_a_clean_document(visit: Visit) -> None:
    page = visit().open("chat")
    page.emulate_media(media="print")
    for gone in (".sidebar", ".dock", ".message .actions >> nth=0", ".topbar .actions"):
        expect(page.locator(gone).first).to_be_hidden()
    expect(page.locator(".said")).to_be_visible()
    expect(page.locator("figure.code")).to_be_visible()
    # Dark ink on white paper, also for those who read light on dark.
    dark = visit("en-dark").open("chat")
    dark.emulate_media(media="print")
    expect(dark.locator(".said").first).to_have_css("color", "rgb(22, 22, 22)")
