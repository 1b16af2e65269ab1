"""The composer and the keys."""

from playwright.sync_api import Page, expect

from tests.browser.talking import answered, ask, choose_model, focused, new_talk
from tests.browser.visitors import SESSION, Visit


def test_enter_sends_shift_enter_does_not_and_an_input_method_never(page: Page) -> None:
    new_talk(page)
    text = page.locator("#text")
    text.fill("one")
    page.keyboard.press("Shift+Enter")
    expect(text).to_have_value("one\n")
    # What a browser says while Chinese is being composed.
    text.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    text.dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
    expect(text).to_have_value("one\n")
    expect(page.locator("#t > [data-role=user]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#t > [data-role=user]")).to_have_count(2)
    expect(text).to_have_value("")
    answered(page)


def test_it_grows_with_the_text_and_keeps_a_long_paste_in_bounds(page: Page) -> None:
    text = page.locator("#text")
    before = text.bounding_box()["height"]
    text.fill("a line\n" * 6)
    assert text.bounding_box()["height"] > before + 60
    text.fill("a long line of many words " * 1000)
    assert text.bounding_box()["height"] <= 900 * 0.4 + 1
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport()


def test_a_draft_belongs_to_its_conversation_and_survives_a_reload(visit: Visit) -> None:
    page = visit().open("chat")
    page.locator("#text").fill("not yet sent")
    page.reload()
    expect(page.locator("#text")).to_have_value("not yet sent")
    page.goto(visit().places["states"])
    expect(page.locator("#text")).to_have_value("")


def test_a_draft_is_not_for_whoever_logs_in_next(visit: Visit) -> None:
    """In the same tab: what a tab keeps outlives a log-out."""
    ada, other = visit(), visit("en-dark")
    page = ada.open("/")
    page.locator("#text").fill("a secret of mine")
    page.reload()
    expect(page.locator("#text")).to_have_value("a secret of mine")
    mine = ada.context.cookies()
    ada.context.add_cookies([each for each in other.context.cookies() if each["name"] == SESSION])
    page.goto("/")
    expect(page.locator("#text")).to_have_value("")
    ada.context.add_cookies(mine)
    page.goto("/")
    expect(page.locator("#text")).to_have_value("a secret of mine")


def test_arrow_up_edits_the_last_message_and_escape_gives_the_focus_back(page: Page) -> None:
    """A14: edit with confirm and cancel."""
    new_talk(page, "/long 3 first")
    page.locator("#text").focus()
    page.keyboard.press("ArrowUp")
    box = page.locator(".edit textarea")
    expect(box).to_be_focused()
    expect(box).to_have_value("/long 3 first")
    page.keyboard.press("Escape")
    expect(box).to_have_count(0)
    assert focused(page) == "Edit"

    page.locator("#text").focus()
    page.keyboard.press("ArrowUp")
    box.fill("/long 3 second")
    expect(page.get_by_text("The earlier version and its answers are kept")).to_be_visible()
    # While Chinese is being composed, Enter is not ours.
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    box.press("End")
    page.keyboard.press("Shift+Enter")
    expect(box).to_have_value("/long 3 second\n")
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_have_text("/long 3 second")
    answered(page)
    expect(page.locator(".versions").first).to_contain_text("2 / 2")


def choose_the_usual(page: Page) -> None:
    """What was chosen is remembered for new chats, also of other tests."""
    with page.expect_response("**/choose/"):
        page.get_by_label("Agent").select_option("Assistant")
    expect(page.get_by_label("Model").locator("option:checked")).to_have_text("Parley · Demo")


def test_who_answers_next_can_be_chosen_in_a_conversation(page: Page) -> None:
    """There, in another tab of it, and after a reload."""
    new_talk(page)
    other = page.context.new_page()
    other.goto(page.url)
    choose_model(page, "glm-4.6")
    page.get_by_label("Agent").select_option("Researcher")
    for _ in range(2):
        for each in (page, other):
            expect(each.get_by_label("Agent").locator("option:checked")).to_have_text("Researcher")
            expect(each.get_by_label("Model").locator("option:checked")).to_have_text("glm-4.6")
        expect(page.locator("#chosen")).not_to_have_attribute("data-agent", "")
        page.reload()
    other.close()

    # It is remembered for new chats, until something else is chosen.
    page.goto("/")
    expect(page.get_by_label("Agent").locator("option:checked")).to_have_text("Researcher")
    expect(page.get_by_label("Model").locator("option:checked")).to_have_text("glm-4.6")
    page.get_by_label("Agent").select_option("Assistant")
    choose_model(page, "Parley")
    new_talk(page)
    page.goto("/")
    expect(page.get_by_label("Agent").locator("option:checked")).to_have_text("Assistant")
    expect(page.get_by_label("Model").locator("option:checked")).to_have_text("Parley · Demo")


def test_sending_shows_at_once_that_it_is_sent(page: Page) -> None:
    """A14: loading state on send; and a send waits until the choice before it is kept."""
    new_talk(page)
    held = []
    # Playwright marks its handlers, and a built-in method cannot be marked.
    page.route("**/choose/", lambda route: held.append(route))  # noqa: PLW0108
    page.get_by_label("Agent").select_option("Researcher")
    page.locator("#text").fill("wait for it")
    page.keyboard.press("Enter")
    expect(page.locator("#composer[data-busy]")).to_be_visible()
    expect(page.locator("#t > [data-role=user]")).to_have_count(1)
    held[0].continue_()
    expect(page.locator("#t > [data-role=user]")).to_have_count(2)
    expect(page.locator("#composer[data-busy]")).to_have_count(0)
    page.unroute("**/choose/")
    choose_the_usual(page)


def test_nothing_is_sent_to_a_model_that_was_not_chosen(page: Page) -> None:
    """A choice that could not be kept is said, and tried once more with the send."""
    new_talk(page)
    page.route("**/choose/", lambda route: route.abort())
    choose_model(page, "glm-4.6")
    toast = page.locator(".toast", has_text="This did not work")
    expect(toast).to_have_count(1)
    toast.get_by_role("button").click()
    expect(toast).to_have_count(0)
    page.locator("#text").fill("to glm")
    page.keyboard.press("Enter")
    expect(toast).to_have_count(1)
    expect(page.locator("#composer[data-busy]")).to_have_count(0)
    expect(page.locator("#text")).to_have_value("to glm")
    expect(page.locator("#t > [data-role=user]")).to_have_count(1)

    page.unroute("**/choose/")
    page.keyboard.press("Enter")
    expect(page.locator("#t > [data-role=user]")).to_have_count(2)
    page.reload()
    expect(page.get_by_label("Model").locator("option:checked")).to_have_text("glm-4.6")
    choose_the_usual(page)


def test_escape_in_another_box_does_not_stop_the_answer(page: Page) -> None:
    ask(page, "/slow 60 /long 200 a long one")
    page.wait_for_url("**/c/**")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Escape")
    # Whatever a key press sends is sent before the answer to this.
    page.request.get("/")
    expect(page.locator(".mark-line")).to_have_count(0)
    expect(stop).to_be_visible()
    page.locator("#text").focus()
    page.keyboard.press("Escape")
    expect(page.locator(".mark-line")).to_contain_text("Stopped by you")


def test_escape_closes_the_topmost_thing_and_only_then_stops(page: Page) -> None:
    ask(page, "/slow 60 /long 200 a long one")
    page.wait_for_url("**/c/**")
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_visible()

    page.locator("main").click(position={"x": 20, "y": 200})
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(stop).to_be_visible()

    page.locator(".topbar").get_by_label("More").click()
    page.keyboard.press("Escape")
    expect(stop).to_be_visible()

    page.locator("#text").dispatch_event(
        "keydown", {"key": "Escape", "isComposing": True, "bubbles": True}
    )
    expect(stop).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.locator(".mark-line")).to_contain_text("Stopped by you")


def test_keys_lead_to_the_composer_to_the_search_and_to_a_new_chat(visit: Visit) -> None:
    page = visit().open("chat")
    expect(page.locator("#text")).to_be_focused()
    page.locator("#t").focus()
    page.keyboard.press("/")
    expect(page.locator("#text")).to_be_focused()
    page.keyboard.type("/")
    expect(page.locator("#text")).to_have_value("/")
    page.locator("#text").fill("")
    page.keyboard.press("Control+k")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("Control+Shift+o")
    expect(page.locator("#empty")).to_be_visible()
