"""Attaching by paperclip, paste and drop; taking back; sending with and without words (A17)."""

from base64 import b64encode

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.talking import answered, focused, new_talk
from tests.browser.visitors import Visit
from tests.support.sample_files import CODE, PNG

PICTURE: FilePayload = {"name": "photo.png", "mimeType": "image/png", "buffer": PNG}
SCRIPT: FilePayload = {"name": "f.py", "mimeType": "text/x-python", "buffer": CODE}

# What a browser hands over when files are pasted or dropped.
HAND_OVER = """([type, name, data]) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name));
  const target = document.getElementById("text");
  const values = { bubbles: true, cancelable: true };
  const event =
    type === "paste"
      ? new ClipboardEvent(type, { ...values, clipboardData: transfer })
      : new DragEvent(type, { ...values, dataTransfer: transfer });
  target.dispatchEvent(event);
  return event.defaultPrevented;
}"""

# Servers of their own and figures: too long, and too shaky, for every day.
pytestmark = pytest.mark.full


def hand_over(page: Page, how: str, name: str = "photo.png", data: bytes = PNG) -> bool:
    taken: bool = page.evaluate(HAND_OVER, [how, name, b64encode(data).decode()])
    return taken


def choose(page: Page, *files: FilePayload) -> None:
    page.get_by_label("Attach files").set_input_files(list(files))


def chips(page: Page) -> Locator:
    return page.locator("#attached > li:not([data-uploading])")


def text(page: Page) -> Locator:
    return page.get_by_label("Write a message")


def send(page: Page) -> None:
    page.get_by_role("button", name="Send").click()


def test_the_first_message_of_a_chat_brings_its_files(page: Page) -> None:
    text(page).fill("Look at these")
    choose(page, PICTURE, SCRIPT)
    expect(chips(page)).to_have_count(2)
    expect(chips(page).first.locator("img")).to_be_visible()
    expect(chips(page).last).to_contain_text("f.py")
    expect(chips(page).last).to_contain_text(f"{len(CODE)}\xa0B")
    send(page)
    page.wait_for_url("**/c/**")
    said = page.locator("#t > [data-role=user]")
    expect(said.locator("img")).to_be_visible()
    assert said.locator("img").evaluate("picture => picture.complete && picture.naturalWidth") == 8
    expect(said.locator(".chip")).to_contain_text("f.py")
    expect(said).to_contain_text("Look at these")
    answered(page)


@pytest.mark.parametrize("how", ["paste", "drop"])
def test_files_are_pasted_and_dropped_and_sent_over_the_socket(page: Page, how: str) -> None:
    new_talk(page)
    text(page).fill("a draft")
    assert hand_over(page, how)
    expect(chips(page)).to_have_count(1)
    expect(text(page)).to_have_value("a draft")
    send(page)
    said = page.locator("#t > [data-role=user]").last
    expect(said).to_contain_text("a draft")
    expect(said.locator("img")).to_be_visible()
    expect(chips(page)).to_have_count(0)
    expect(text(page)).to_have_value("")
    answered(page)


def test_files_alone_are_a_message_by_the_enter_key(page: Page) -> None:
    new_talk(page)
    hand_over(page, "paste")
    expect(chips(page)).to_have_count(1)
    text(page).press("Enter")
    expect(page.locator("#t > [data-role=user]").last.locator("img")).to_be_visible()
    answered(page)


def test_a_file_is_taken_back_by_keyboard(page: Page) -> None:
    choose(page, PICTURE, SCRIPT)
    expect(chips(page)).to_have_count(2)
    address = chips(page).first.get_attribute("data-url")
    page.get_by_role("button", name="Remove photo.png").press("Enter")
    expect(chips(page)).to_have_count(1)
    assert focused(page) == "Remove f.py"
    page.keyboard.press("Enter")
    expect(chips(page)).to_have_count(0)
    assert focused(page) == "text"
    assert page.request.get(f"{address}").status == 404


def test_files_stay_through_a_reload_until_they_are_sent(page: Page) -> None:
    """In a new chat, and then in the conversation."""
    for _ in range(2):
        choose(page, PICTURE, SCRIPT)
        expect(chips(page)).to_have_count(2)
        page.reload()
        expect(chips(page)).to_have_count(2)
        expect(chips(page).first.locator("img")).to_be_visible()
        page.get_by_role("button", name="Remove photo.png").click()
        expect(chips(page)).to_have_count(1)
        page.reload()
        expect(chips(page)).to_have_count(1)
        expect(chips(page)).to_contain_text("f.py")
        before = page.locator("#t .chip").count()
        text(page).fill("with a file")
        send(page)
        answered(page)
        expect(page.locator("#t .chip")).to_have_count(before + 1)
        page.reload()
        expect(chips(page)).to_have_count(0)


def test_a_file_that_was_sent_elsewhere_does_not_come_back(page: Page) -> None:
    """In a tab that was duplicated, or left before the reply came."""
    new_talk(page)
    choose(page, SCRIPT)
    expect(chips(page)).to_have_count(1)
    [(key, kept)] = page.evaluate(
        "Object.entries(sessionStorage).filter(([k]) => k.startsWith('files:'))"
    )
    text(page).fill("with a file")
    send(page)
    answered(page)
    page.evaluate("([key, kept]) => sessionStorage.setItem(key, kept)", [key, kept])
    page.reload()
    expect(page.locator("#t .chip")).to_have_count(1)
    page.wait_for_function("(key) => !sessionStorage.getItem(key)", arg=key)
    expect(page.locator("#attached > li")).to_have_count(0)


def test_a_refused_file_says_why_and_leaves_the_rest(page: Page) -> None:
    text(page).fill("a draft")
    choose(page, {"name": "x.zip", "mimeType": "image/png", "buffer": b"PK\x03\x04\x00"}, SCRIPT)
    expect(page.locator(".toast")).to_contain_text("x.zip cannot be attached")
    expect(chips(page)).to_have_count(1)
    expect(text(page)).to_have_value("a draft")


def test_too_many_files_are_said_to_be_too_many(page: Page) -> None:
    choose(page, *[SCRIPT] * 6)
    expect(page.locator(".toast")).to_contain_text("At most 5 files")
    expect(chips(page)).to_have_count(5)


def test_a_send_waits_for_what_is_being_uploaded(page: Page) -> None:
    new_talk(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/attachments/", hold)
    hand_over(page, "drop")
    expect(page.locator("#attached progress")).to_be_visible()
    text(page).fill("with a picture")
    send(page)
    page.wait_for_function("() => document.querySelector('#composer[data-busy]')")
    assert page.locator("#t > [data-role=user]").count() == 1
    held[0].continue_()
    expect(page.locator("#t > [data-role=user]").last.locator("img")).to_be_visible()
    answered(page)


def test_words_that_are_copied_with_a_picture_of_them_stay_words(page: Page) -> None:
    taken = page.evaluate("""() => {
      const transfer = new DataTransfer();
      transfer.setData("text/plain", "words");
      transfer.items.add(new File(["x"], "x.png"));
      const event = new ClipboardEvent("paste", { clipboardData: transfer, cancelable: true });
      document.getElementById("text").dispatchEvent(event);
      return event.defaultPrevented;
    }""")
    assert not taken
    expect(page.locator("#attached > li")).to_have_count(0)


def test_without_scripts_the_form_brings_the_files(visit: Visit) -> None:
    page = visit(java_script_enabled=False).open("/")
    page.locator("input[type=file]").set_input_files([PICTURE, SCRIPT])
    send(page)
    page.wait_for_url("**/c/**")
    said = page.locator("#t > [data-role=user]")
    expect(said.locator("img")).to_have_count(1)
    expect(said.locator(".chip")).to_contain_text("f.py")


def test_a_page_without_files_does_not_load_their_script(visit: Visit) -> None:
    """The first visit has few requests to make."""
    visitor = visit()
    asked: list[str] = []
    visitor.context.on("request", lambda request: asked.append(request.url))
    page = visitor.open("/")
    page.wait_for_load_state("networkidle")
    assert not [url for url in asked if "/attach." in url]
    choose(page, SCRIPT)
    expect(chips(page)).to_have_count(1)
    assert [url for url in asked if "/attach." in url]
