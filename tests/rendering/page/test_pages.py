"""Whole pages: structure, safety, weight, and that they work without scripts."""

import gzip
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import html5lib
import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from chat.rendering.page.column import column_html, row_html
from chat.rendering.page.introduction import Introduction
from chat.rendering.page.pages import (
    composer_action_html,
    older_html,
    status_text,
    title_html,
    toast_html,
)
from tests.rendering.page.drawing import draw, one, page_source, parse, select, words
from tests.support import samples
from tests.support.samples import ADA

PAGES = {
    "busy": samples.busy_page(),
    "states": samples.states_page(),
    "empty": samples.empty_page(),
}
CHINESE = replace(ADA, language="zh-hans")


@pytest.fixture(params=PAGES)
def page(request):
    return PAGES[request.param]


def test_every_page_is_well_formed(page):
    """Attributes that stand on lines of their own must not run into each other, nor tags."""
    parser = html5lib.HTMLParser()
    parser.parse(page_source(page, ADA))
    assert parser.errors == []


def test_every_id_is_used_once(page):
    ids = Counter(draw(page).xpath("//@id"))
    assert not [name for name, count in ids.items() if count > 1]


def test_every_button_belongs_to_a_form_that_is_there(page):
    drawn = draw(page)
    forms = set(drawn.xpath("//form/@id"))
    assert set(drawn.xpath("//@form")) <= forms


def test_nothing_on_a_page_is_inline_or_from_elsewhere(page):
    """The content security policy is strict."""
    drawn = draw(page)
    assert not drawn.xpath("//@style | //style | //script[not(@src)] | //@onclick")
    loaded = drawn.xpath("//script/@src | //link/@href | //img/@src")
    assert all(address.startswith(("/static/", "data:image/svg+xml,")) for address in loaded)


def test_every_control_has_a_name(page):
    drawn = draw(page)
    controls = select(drawn, "button, a, summary, textarea, select")
    labelled = set(drawn.xpath("//label/@for"))
    for control in controls:
        in_label = bool(control.xpath("ancestor::label"))
        named = control.get("aria-label") or words(control)
        assert named or in_label or control.get("id") in labelled, control.attrib


def test_every_icon_is_in_the_sprite(page):
    drawn = draw(page)
    symbols = set(drawn.xpath("//symbol/@id"))
    assert {use.get("href").removeprefix("#") for use in select(drawn, "use")} <= symbols


def test_only_a_running_page_reloads_itself():
    """Without scripts a running page refreshes every 3 s."""
    assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in page_source(
        PAGES["busy"], ADA
    )
    assert 'http-equiv="refresh"' not in page_source(PAGES["states"], ADA)


def test_the_composer_is_a_plain_form_too():
    drawn = draw(PAGES["busy"])
    form = one(drawn, "form#composer")
    assert (form.get("method"), form.get("action")) == ("post", f"/c/{samples.SESSION}/send/")
    assert one(form, "textarea").get("name") == "content"
    stop = one(drawn, "#go button[form]")
    assert one(drawn, f"form#{stop.get('form')}").get("action") == f"/c/{samples.SESSION}/stop/"
    assert one(drawn, "main").get("ws-connect") == f"/ws/c/{samples.SESSION}/"


def test_an_empty_page_greets_and_offers_four_examples():
    drawn = draw(PAGES["empty"])
    assert words(one(drawn, ".empty h2")) == "Good morning, Ada"
    examples = select(drawn, "button.example")
    assert len(examples) == 4
    assert {button.get("form") for button in examples} == {"composer"}
    assert one(drawn, "form#composer").get("action") == "/new/"
    assert one(drawn, ".connect a").get("href") == "/admin/"
    assert not select(draw(PAGES["empty"], replace(ADA, is_staff=False)), ".connect")
    assert one(drawn, "main").get("ws-connect") == "/ws/"


def test_the_column_has_pinned_ones_first_and_groups_by_age():
    drawn = draw(PAGES["busy"])
    heads = [words(head) for head in select(drawn, "#column h2")]
    assert heads == ["Pinned", "Today", "Yesterday", "Previous 7 days", "Older"]
    assert len(select(drawn, "#column [aria-current=page]")) == 1
    assert len(select(drawn, "#column .live")) == 2


def test_live_pieces_are_the_pieces_of_the_page():
    """Stream equals reload: what is swapped in is what the page would have drawn."""
    source = page_source(PAGES["busy"], ADA)
    assert column_html(samples.column(), ADA) in source
    assert row_html(samples.column().entries[2], ADA) in source
    assert title_html(PAGES["busy"].title, ADA) in source
    assert composer_action_html(True, ADA) in source


def test_a_window_of_its_own_has_no_column():
    """A18"""
    drawn = draw(replace(PAGES["busy"], own_window=True))
    assert not select(drawn, "#sidebar, [popovertarget=sidebar]")


def test_older_messages_come_with_the_way_to_still_older_ones():
    drawn = parse(older_html(PAGES["states"], ADA))
    way = one(drawn, "#older")
    assert way.get("hx-get") == f"/c/{samples.SESSION}/older/?before=6"
    assert way.getnext().get("id") == "m6"
    last = older_html(replace(PAGES["states"], older_before=None), ADA)
    assert not select(parse(last), "#older")


def test_the_transcript_is_not_read_out_token_by_token():
    drawn = draw(PAGES["busy"])
    live = select(drawn, "[aria-live], [role=log], [role=status], [role=alert]")
    assert {element.get("id") for element in live} == {
        "status", "toasts", "connection", "found-count", "selected",
    }  # fmt: skip


def test_toasts_and_the_status_speak_the_language_of_the_reader():
    """A12, A13"""
    toast = parse(toast_html("error.chat_generation_in_progress", {}, CHINESE))
    assert "正在回答" in words(toast)
    assert status_text("done", CHINESE) == "回答已完成。"


def test_a_chinese_page_has_no_english_left():
    """A13: every string of the page is translated."""
    page = replace(PAGES["empty"], introduction=Introduction(), agents=(), models=())
    drawn = draw(page, CHINESE)
    for sample in select(drawn, "#column, .account .who, .mark, kbd, [lang=en], head, .sprite"):
        sample.drop_tree()
    kept = {"Ada", "SQLite", "PostgreSQL", "DuckDB", "Python", "Mac", "Ctrl", "JSON", "Markdown"}
    labels = " ".join(drawn.xpath("//@aria-label | //@placeholder"))
    english = set(re.findall(r"[A-Za-z]{2,}", words(drawn) + labels))
    assert english <= kept


@pytest.mark.parametrize("name", ["404.html", "403.html", "403_csrf.html", "500.html"])
def test_pages_that_say_no_need_nothing(name):
    drawn = parse(render_to_string(name))
    assert words(one(drawn, "h1"))


def test_the_first_visit_is_light():
    """Under 70 KB compressed in at most 30 requests, scripts included."""
    drawn = draw(PAGES["empty"])
    loaded = drawn.xpath("//script/@src | //link[@rel='stylesheet']/@href")
    paths = {finders.find(address.removeprefix("/static/")) for address in loaded}
    weight = len(gzip.compress(page_source(PAGES["empty"], ADA).encode()))
    weight += sum(len(gzip.compress(Path(path).read_bytes())) for path in paths)
    assert weight < 70_000
    assert len(paths) + 1 <= 30
