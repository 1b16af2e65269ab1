"""Writing: what is typed, pasted and attached, before and after it is sent."""

from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from tests.browser.talking import answered, choose_model, new_talk
from tests.browser.test_composer import choose_the_usual
from tests.browser.visitors import Visit
from tests.support.sample_files import PDF, PNG

CLIPBOARD = {"permissions": ["clipboard-read", "clipboard-write"]}
QUESTION = "One line\nand *another* with `code`:\n\n```py\nprint(1)\n```"


def test_a_question_is_drawn_as_markdown_and_edited_as_it_was_typed(visit: Visit) -> None:
    page = visit(**CLIPBOARD).open("/")
    new_talk(page)
    page.locator("#text").fill(QUESTION)
    page.keyboard.press("Enter")
    message = page.locator("#t > [data-role=user]").last
    said = message.locator(".said")
    expect(said.locator("p code")).to_have_text("code")
    expect(said.locator("em")).to_have_text("another")
    # The line that was ended by hand is a line.
    assert said.locator("p").first.inner_text().startswith("One line\nand another")
    live = said.evaluate("element => element.outerHTML")
    answered(page)

    said.get_by_label("Copy").click()
    expect(said.locator("[data-done]")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "print(1)"
    message.locator(".actions").get_by_label("Copy").click()
    expect(message.locator(".actions [data-done]")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == QUESTION

    page.reload()
    # Which code the button of the code says that it has copied is a matter of a moment.
    assert said.evaluate("element => element.outerHTML") == live
    page.locator("#text").press("ArrowUp")
    expect(page.locator(".edit textarea")).to_have_value(QUESTION)


def test_on_a_phone_enter_ends_a_line_and_nothing_takes_the_focus(visit: Visit) -> None:
    page = visit("en-light", 390).open("/")
    expect(page.locator("#text")).not_to_be_focused()
    page.locator("#text").tap()
    page.keyboard.type("/long 3 one\ntwo")
    page.keyboard.press("Enter")
    expect(page.locator("#text")).to_have_value("/long 3 one\ntwo\n")
    page.get_by_role("button", name="Send").tap()
    page.wait_for_url("**/c/**")
    answered(page, 1)
    expect(page.locator("#text")).not_to_be_focused()
    page.locator("[data-role=user]").get_by_label("Edit").tap()
    page.keyboard.type("three")
    page.keyboard.press("Enter")
    expect(page.locator(".edit textarea")).to_have_value("/long 3 one\ntwothree\n")
    expect(page.locator(".edit kbd")).to_be_hidden()


def test_a_link_to_a_message_keeps_the_focus_out_of_the_composer(page: Page) -> None:
    expect(page.locator("#text")).to_be_focused()
    new_talk(page)
    page.goto(f"{page.url}#m1")
    page.reload()
    expect(page.locator("#connection")).to_be_hidden()
    expect(page.locator("#text")).not_to_be_focused()


def files(page: Page) -> Locator:
    return page.locator("#attached > li:not([data-uploading])")


def choose(page: Page, name: str, data: bytes) -> None:
    payload: FilePayload = {"name": name, "mimeType": "", "buffer": data}
    page.get_by_label("Attach files").set_input_files([payload])


def paste(page: Page, text: str) -> None:
    page.locator("#text").evaluate(
        """(box, words) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text/plain", words);
          const values = { bubbles: true, cancelable: true, clipboardData };
          const event = new ClipboardEvent("paste", values);
          if (box.dispatchEvent(event)) box.setRangeText(words, 0, box.value.length, "end");
        }""",
        text,
    )


def test_a_long_paste_is_a_file_that_can_be_read_and_turned_back(page: Page) -> None:
    long = "\n".join(f"Line {n} of the log." for n in range(101))
    paste(page, "short")
    expect(page.locator("#text")).to_have_value("short")
    page.locator("#text").fill("/long 3 What is wrong here? ")
    paste(page, long)
    expect(files(page)).to_have_count(1)
    paste(page, "x" * 4001)
    expect(files(page)).to_have_count(2)
    expect(files(page).first).to_contain_text("Pasted text.txt")
    expect(files(page).last).to_contain_text("Pasted text 2.txt")
    page.get_by_role("button", name="Remove Pasted text 2.txt").click()

    page.reload()
    expect(files(page)).to_have_count(1)
    page.get_by_role("button", name="Open Pasted text.txt").click()
    dialog = page.get_by_role("dialog", name="Pasted text.txt")
    expect(dialog.locator("pre")).to_have_text(long)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()

    page.get_by_role("button", name="Turn back into text Pasted text.txt").click()
    expect(files(page)).to_have_count(0)
    expect(page.locator("#text")).to_be_focused()
    expect(page.locator("#text")).to_have_value(f"/long 3 What is wrong here? {long}")

    page.locator("#text").fill("/long 3 What is wrong here?")
    paste(page, long)
    expect(files(page)).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url("**/c/**")
    expect(page.locator("[data-role=user] .chip")).to_contain_text("Pasted text.txt")
    answered(page, 1)


def test_pastes_have_names_of_their_own_also_while_others_are_put_back(page: Page) -> None:
    """And a send waits for a paste that is not a file yet."""
    paste(page, "x" * 4001)
    expect(files(page)).to_have_count(1)
    held: list[Route] = []
    # Playwright marks its handlers, and a built-in method cannot be marked.
    page.route("**/attachments/*/", lambda route: held.append(route), times=1)  # noqa: PLW0108
    page.reload()
    expect(page.locator("#text")).to_be_focused()
    paste(page, "y" * 4001)
    paste(page, "z" * 4001)
    page.keyboard.press("Enter")
    expect(files(page)).to_have_count(0)
    held[0].continue_()
    page.wait_for_url("**/c/**")
    names = page.locator("[data-role=user] .chip span").all_text_contents()
    assert names == ["Pasted text.txt", "Pasted text 2.txt", "Pasted text 3.txt"]
    answered(page, 1)


def test_what_would_be_refused_is_not_uploaded(page: Page) -> None:
    """In the words of the server; and a pasted text that cannot be kept stays a text."""
    posted: list[str] = []
    page.on("request", lambda request: request.method == "POST" and posted.append(request.url))
    toasts = page.locator(".toast")
    choose(page, "large.png", PNG + bytes(10_000_000))
    expect(toasts.last).to_contain_text("large.png is too large: at most 10\xa0MB.")
    choose(page, "long.txt", b"a" * 5_000_001)
    expect(toasts.last).to_contain_text("long.txt is too long for a text file: at most 5\xa0MB.")
    choose(page, "a.zip", b"PK\x03\x04\x00\x00")
    expect(toasts.last).to_contain_text("a.zip cannot be attached: only images")
    choose(page, "nothing.txt", b"")
    expect(toasts.last).to_contain_text("nothing.txt is empty.")
    expect(page.locator("#attached > li")).to_have_count(0)
    assert posted == []

    page.route("**/attachments/", lambda route: route.abort())
    paste(page, "x" * 5000)
    expect(toasts.last).to_contain_text("could not be uploaded")
    expect(page.locator("#text")).to_have_value("x" * 5000)


def test_what_the_picked_model_cannot_take_is_said_before_sending(page: Page) -> None:
    new_talk(page)
    line = page.locator("#not-taken")
    choose(page, "photo.png", PNG)
    expect(files(page)).to_have_count(1)
    with page.expect_response("**/choose/"):
        choose_model(page, "glm-4.6")
    expect(line).to_have_text(
        "glm-4.6 cannot see images. You can send anyway: a note takes the place of photo.png."
    )
    choose(page, "paper.pdf", PDF)
    expect(line).to_contain_text("glm-4.6 cannot read PDF files.")
    expect(line).to_contain_text("It gets the text of paper.pdf.")
    page.reload()
    expect(line).to_contain_text("glm-4.6 cannot see images.")
    # It follows the picker: no model here sees, so one is said to.
    seeing = page.locator("#composer [name=model] option", has_text="Parley")
    seeing.evaluate("option => (option.dataset.takes = 'image/png application/pdf')")
    with page.expect_response("**/choose/"):
        choose_model(page, "Parley")
    expect(line).to_be_hidden()
    with page.expect_response("**/choose/"):
        choose_model(page, "glm-4.6")
    expect(line).to_be_visible()
    page.get_by_role("button", name="Remove photo.png").click()
    page.get_by_role("button", name="Remove paper.pdf").click()
    expect(line).to_be_hidden()
    choose_the_usual(page)
