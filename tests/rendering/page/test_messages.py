"""One message, in each of its states."""

from dataclasses import replace
from typing import Any

import pytest

from chat.protocol.events import Retry
from chat.protocol.ids import new_id
from chat.protocol.messages import AnswerTime, MessageError
from chat.protocol.notes import PartNotes, Unreadable, with_part_notes
from chat.protocol.parts import FilePart, Tokens
from chat.rendering.page.footer import foot_html, work_html
from chat.rendering.page.messages import file_html, message_html
from tests.rendering.page.drawing import one, parse, select, words
from tests.support.samples import (
    ADA,
    NOW,
    SESSION,
    answer,
    done,
    every_card,
    failed,
    failed_answer,
    finished_answer,
    said,
    step,
    streaming_answer,
    text,
    thinking,
    tool,
    uid,
    waiting_answer,
)

CHINESE = replace(ADA, language="zh-hans")


def article(message: Any, reader: Any = ADA, **options: Any) -> Any:
    return one(parse(message_html(message, reader, **options)), "article")


def test_parts_are_direct_children_of_the_body_in_their_order():
    """E5: the order of parts is kept; step marks draw nothing."""
    drawn = article(finished_answer(13))
    assert (drawn.get("id"), drawn.get("data-role")) == ("m13", "answer")
    assert one(drawn, "footer#f13").get("data-state") == "done"
    parts = one(drawn, "#b13").getchildren()
    assert [part.get("id") for part in parts] == ["p13-1", "p13-2", "p13-3", "p13-4"]


def test_a_part_drawn_alone_is_the_part_drawn_on_the_page():
    from chat.rendering.page.messages import part_html

    message = finished_answer(13)
    whole = message_html(message, ADA)
    for position, part in enumerate(message.parts):
        assert part_html(part, 13, position, ADA) in whole
    assert foot_html(message, ADA) in whole
    assert work_html(message, ADA) in whole


def test_open_texts_of_a_loaded_page_say_how_much_is_shown():
    drawn = article(streaming_answer(4), cursors=True)
    open_text = one(drawn, "#p4-3")
    assert open_text.get("data-n") == str(len(streaming_answer().parts[3].text))
    assert not select(article(streaming_answer(4)), "[data-n]")
    assert not select(article(finished_answer(4), cursors=True), "[data-n]")


def test_thinking_is_closed_and_has_a_clock_while_it_runs():
    """A14: thinking collapsed, expandable."""
    drawn = article(answer(3, thinking("**bold** <b>", end=None), status="streaming"))
    thought = one(drawn, "details.thinking")
    assert (thought.get("data-state"), thought.get("open")) == ("running", None)
    assert words(one(thought, ".label")) == "Thinking… 4 s"
    assert words(one(thought, "#p3-0-x")) == "**bold** <b>"
    over = article(answer(3, thinking("**bold**")))
    assert words(one(over, ".thinking .label")) == "Thought for 6 s"
    assert one(over, "#p3-0-x strong").text == "bold"


def test_the_work_line_comes_when_the_work_is_done():
    """D4: a summary line."""
    line = one(article(finished_answer(2)), "#w2 details")
    assert words(line) == "Finished working · 2 tools · 8.2 s"
    assert not len(one(article(streaming_answer(4)), "#w4"))
    broken = answer(5, step(), tool("x", failed({}, "no")), tool("y", done({}, "z"), "b"))
    assert "2 tools · 1 failed" in words(one(article(broken), "#w5"))


def test_a_done_answer_has_its_facts():
    """A15: model, agent, tokens and cost, readable per message."""
    facts = words(one(article(finished_answer()), "footer"))
    assert facts == "Assistantglm-4.609:411,284 tokens$0.0040"


def test_the_demo_model_is_called_demo():
    drawn = article(answer(1, text("x"), provider_id="demo", model_id="demo"))
    assert words(one(drawn, ".tag")) == "Demo"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        ({"by_id": "7", "by": "Ada"}, "Stopped by you after 3.1 s"),
        ({"by_id": "8", "by": "Ben"}, "Stopped by Ben after 3.1 s"),
        ({"reason": "unwatched"}, "Stopped after 3.1 s because nobody was watching"),
        ({}, "Stopped after 3.1 s"),
    ],
)
def test_a_stopped_answer_says_by_whom(data, line):
    """A5: the mark, and regenerate."""
    drawn = article(
        answer(
            6,
            text("There are three"),
            status="cancelled",
            time=AnswerTime(created=NOW - 3_100, completed=NOW),
            error=MessageError(name="MessageAbortedError", data=data),
        )
    )
    assert words(one(drawn, ".mark-line span")) == line
    again = one(drawn, "footer button[form=again]")
    assert (again.get("name"), again.get("value")) == ("message_id", uid(6))


def test_a_failed_answer_gives_its_reason_and_details_to_staff_only():
    """A12: translated, on the message."""
    drawn = article(failed_answer())
    assert words(one(drawn, ".reason p")) == "The provider is busy; it asked us to wait a little."
    assert "429" in words(one(drawn, ".failure details pre"))
    assert not select(article(failed_answer(), replace(ADA, is_staff=False)), ".failure details")


def test_a_retry_is_told():
    retry = Retry(
        conversation_id=new_id(),
        error_key="error.chat_provider_overloaded",
        attempt=2,
        attempts=5,
        wait=4.0,
        until=ADA.now + 3200,
    )
    drawn = article(waiting_answer(3), retry=retry)
    assert words(one(drawn, ".working p")) == (
        "The provider is overloaded at the moment. Trying again in 4 s (2 of 5)."
    )
    clock = one(drawn, "[data-until]")
    assert (clock.get("data-until"), clock.get("data-wait")) == (str(retry.until), "4000")
    assert one(drawn, ".working button").get("form") == "try-now"

    asked = article(waiting_answer(3), retry=replace(retry, wait=0))
    assert words(one(asked, ".working")) == (
        "The provider is overloaded at the moment. Trying again now (2 of 5)."
    )


def test_what_a_person_said_is_drawn_as_markdown_and_kept_as_typed():
    typed = "See <b>this</b>\nand https://x.example/ `a_b`:\n\n```py\nprint(1)\n```\n"
    drawn = one(article(said(3, typed)), ".said")
    assert drawn.get("data-text") == typed
    assert one(drawn, "p").text == "See <b>this</b>\nand "
    assert one(drawn, "p a").get("rel") == "noopener noreferrer nofollow ugc"
    assert one(drawn, "p code").text == "a_b"
    assert words(one(drawn, "figure.code pre")) == "print(1)"


@pytest.mark.parametrize("typed", ["[a]: https://x.example/", "[^1]: a note", "<!-- -->"])
def test_what_markdown_would_not_show_is_shown_as_typed(typed):
    assert words(one(article(said(3, typed)), ".said")) == typed


def test_what_a_person_said_can_run_nothing():
    typed = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) <script>1</script>"
    drawn = one(article(said(3, typed)), ".said")
    assert not select(drawn, "script, img, [onerror]")
    assert not any("javascript" in link.get("href", "") for link in select(drawn, "a"))


def test_what_a_person_said_can_be_edited():
    editing = article(said(3, "a </textarea><b>b</b>"), editing=True)
    assert one(editing, "textarea[form=change]").text == "\na </textarea><b>b</b>"
    assert one(editing, "button[form=change]").get("value") == uid(3)
    assert "The earlier version and its answers are kept" in words(editing)


def test_where_nothing_can_be_done_there_are_no_buttons_for_it():
    watching = replace(ADA, may_act=False)
    for message in (said(1, "x"), finished_answer(), every_card(), failed_answer()):
        drawn = article(message, watching)
        assert not select(drawn, "[form], [data-edit]")


def test_a_part_that_no_longer_validates_keeps_its_place():
    notes = with_part_notes(None, PartNotes(unreadable=Unreadable("tool")))
    lost = {**text(""), "ignored": True, "metadata": notes}
    drawn = article(answer(2, text("before"), lost, text("after")))
    parts = one(drawn, "#b2").getchildren()
    assert [part.get("id") for part in parts] == ["p2-0", "p2-1", "p2-2"]
    assert "cannot be shown" in words(parts[1])


@pytest.mark.parametrize(
    ("url", "mime", "tag", "attribute"),
    [
        ("/files/1", "image/png", "img", "/files/1"),
        ("/files/1", "text/plain", "a", "/files/1"),
        ("https://x.org/a", "image/png", "a", "https://x.org/a"),
        ("//x.org/a", "image/png", "span", None),
        ("javascript:alert(1)", "image/png", "span", None),
        ("data:image/svg+xml;base64,x", "image/svg+xml", "span", None),
    ],
)
def test_a_file_is_a_picture_a_link_or_only_a_name(url, mime, tag, attribute):
    """A17: shown on the message; nothing is fetched from elsewhere."""
    part = FilePart(
        id="f", session_id=SESSION, message_id=uid(1), mime=mime, filename="a.png", url=url
    )
    drawn = parse(file_html(part, "p1-0", ADA))
    found = select(drawn, tag)[0]
    assert (found.get("src") or found.get("href")) == attribute
    assert bool(select(drawn, "img")) == (tag == "img")


def test_a_message_is_drawn_in_the_language_of_its_reader():
    """A13: language per reader."""
    drawn = words(article(finished_answer(), CHINESE))
    assert "已完成" in drawn
    assert "2 个工具" in drawn
    assert "8.2 秒" in drawn
    assert "1284 个 token" in drawn


def test_tokens_of_every_kind_are_counted_once():
    drawn = article(answer(1, text("x"), tokens=Tokens(input=1)))
    assert "1 token" in words(one(drawn, "footer"))
