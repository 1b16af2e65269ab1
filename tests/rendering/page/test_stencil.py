"""What is filled in is what the template would have drawn."""

import re
from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.safestring import SafeString

from chat.protocol.feedback import Feedback
from chat.rendering import stencil as stencils
from chat.rendering.page import dom
from chat.rendering.page.column import row_html
from chat.rendering.page.footer import facts, foot_html, work_html
from chat.rendering.page.messages import message_html
from chat.rendering.reader import Reader
from chat.rendering.stencil import stencil
from tests.support import samples

LOOKS = {"state": "streaming", "notice": "", "reader.may_act": True}
HOSTILE = "<b>\"&'</b> {{ id }} %s \\1 \x00"


def drawn(waits: bool, element: str, note: str) -> str:
    values = {"state": "streaming", "notice": "", "reader": {"may_act": True}}
    own = {"waits": waits, "id": element, "note": note}
    return render_to_string("chat/foot_working.html", values | own).strip()


def filled(waits: bool, element: str, note: str) -> str:
    fills = {"id": element, "note": note}
    return stencil("chat/foot_working.html", {**LOOKS, "waits": waits}, fills)


def test_a_stencil_gives_what_its_template_draws():
    for waits in (True, False, True):
        for note in (HOSTILE, "Working…", "", HOSTILE):
            assert filled(waits, "f2", note) == drawn(waits, "f2", note)


def test_a_stencil_speaks_the_language_of_the_moment():
    assert "Try now" in filled(True, "f1", "…")
    with translation.override("zh-hans"):
        assert "Try now" not in filled(True, "f1", "…")
        assert filled(True, "f1", "…") == drawn(True, "f1", "…")


def test_addresses_are_made_of_what_is_filled_in():
    entry = {
        "entry.id": "018f2c4e-0000-7000-8000-000000000001",
        "entry.element": "c-1",
        "entry.mark": "",
        "entry.url": "/c/1/",
    }
    titled = stencil("chat/column_row.html", {}, {**entry, "entry.title": "Tea & scones"})
    untitled = stencil("chat/column_row.html", {}, {**entry, "entry.title": ""})
    assert titled.count(entry["entry.id"]) > 4
    assert "Tea &amp; scones" in titled
    assert "New chat" in untitled


@pytest.mark.parametrize(
    "given", [None, Feedback(verdict="up"), Feedback(verdict="down", comment=HOSTILE)]
)
@pytest.mark.parametrize(
    "reader",
    [samples.ADA, replace(samples.ADA, may_act=False, is_public=True),
     replace(samples.ADA, may_act=False, in_admin=True)],
)  # fmt: skip
def test_a_foot_has_all_that_its_template_asks_for(reader: Reader, given: Feedback | None) -> None:
    message = samples.answer(2, samples.text("Yes."), version=2, versions=3)
    message = message.model_copy(
        update={"info": message.info.model_copy(update={"feedback": given})}
    )
    values = {
        "id": dom.foot_id(2), "state": "done", "cut": "", "info": message.info, "reader": reader,
        "facts": facts(message.info, reader),
    }  # fmt: skip
    assert foot_html(message, reader) == render_to_string("chat/foot_done.html", values).strip()


@pytest.mark.parametrize("editing", [False, True])
@pytest.mark.parametrize(
    "reader", [samples.ADA, replace(samples.ADA, may_act=False, is_public=True)]
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_question_has_all_that_its_template_asks_for(
    version: int, reader: Reader, editing: bool
) -> None:
    message = samples.said(1, 'Tea <b> & "scones"?')
    versions = message.info.model_copy(update={"version": version, "versions": version})
    message = message.model_copy(update={"info": versions})
    shown = message_html(message, reader, editing=editing)
    values = {
        "element": dom.message_id(1), "body": dom.body_id(1), "info": message.info,
        "reader": reader, "editing": editing, "text": "" if not editing else message.text,
        "said": SafeString("" if editing else words_of(shown)),
    }  # fmt: skip
    assert shown == render_to_string("chat/user_message.html", values).strip()


def words_of(question: str) -> str:
    """The words of a question, as they stand in it."""
    [words] = re.findall(r'<div\s+class="said.*?</div>', question, re.DOTALL)
    return str(words)


def test_an_answer_has_all_that_its_template_asks_for() -> None:
    message = samples.answer(2, samples.text("Yes."))
    shown = message_html(message, samples.ADA)
    [parts] = re.findall(r'<div class="markdown.*?</div>', shown, re.DOTALL)
    values = {
        "element": dom.message_id(2), "body": dom.body_id(2), "info": message.info,
        "parts": SafeString(parts), "work_id": dom.work_id(2),
        "work": work_html(message, samples.ADA), "foot": foot_html(message, samples.ADA),
    }  # fmt: skip
    assert shown == render_to_string("chat/answer.html", values).strip()


def test_what_somebody_wrote_is_kept_with_no_stencil() -> None:
    """A looked-up drawing stays; a comment would stay with it, and push others out."""
    message = samples.answer(2, samples.text("Yes."))
    kept = []
    for comment in ("Right", "Left", "Nowhere"):
        given = {"feedback": Feedback(verdict="down", comment=comment)}
        info = message.info.model_copy(update=given)
        assert comment in foot_html(message.model_copy(update={"info": info}), samples.ADA)
        kept.append(stencils._cut.cache_info().currsize)
    assert len(set(kept)) == 1


def test_a_row_has_all_that_its_template_asks_for() -> None:
    for entry in samples.column().entries:
        for row in (entry, replace(entry, unread=True), replace(entry, archived=True, title="")):
            drawn_row = render_to_string("chat/column_row.html", {"entry": row}).strip()
            assert row_html(row, samples.ADA) == drawn_row
