"""Stream equals reload: whatever the text, however it is cut."""

import os
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.rendering.streaming import StreamingMarkdown, StreamingText, render_part
from tests.rendering.streaming.grammar import AWKWARD, DOCUMENTS, SOUP
from tests.rendering.streaming.harness import KEY, stream
from tests.support.dom_apply import Page, canonical

FULL = bool(os.environ.get("PARLEY_FULL"))
often = settings(
    max_examples=3000 if FULL else 60,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not FULL,
)
CUTS = st.lists(st.floats(0, 1), max_size=40)


def _places(text: str, cuts: list[float]) -> list[int]:
    return sorted(int(cut * len(text)) for cut in cuts)


@often
@given(DOCUMENTS, CUTS)
def test_documents_cut_anywhere_end_as_the_full_render(text: str, cuts: list[float]) -> None:
    stream(text, _places(text, cuts))


@often
@given(SOUP, CUTS)
def test_soup_cut_anywhere_ends_as_the_full_render(text: str, cuts: list[float]) -> None:
    stream(text, _places(text, cuts))


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_cut_at_every_character(text: str) -> None:
    stream(text, range(1, len(text)), safe=True)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_cut_in_two(text: str) -> None:
    for cut in range(1, len(text), 1 if FULL else 3):
        stream(text, [cut])


_MARKS = re.compile(r"[\W_]")


@often
@given(
    st.lists(
        st.sampled_from(
            [
                "alpha beta",
                "**gamma** delta",
                "`epsilon` zeta",
                "- eta\n- theta",
                "1. iota\n2. kappa",
                "> lambda mu",
                "| nux | xix |\n|---|---|\n| omi | pip |\n| rhoo | sigma",
                "```py\ntau = ups\n```",
                "phi\n---",
                "# chi psi",
                "**omega open",
                "[label](https://example.org/x) after",
                "a * b and c_d_e",
                "中文**重点**文字",
                "$x$ is it",
                "costs $5 now",
                "- one\n\n  two\n\n- three",
            ]
        ),
        min_size=1,
        max_size=6,
    ).map("\n\n".join),
    st.integers(1, 9),
)
def test_words_that_are_shown_stay(text: str, step: int) -> None:
    live, page = StreamingMarkdown(KEY), Page(KEY)
    before = ""
    for start in range(0, len(text), step):
        page.apply("".join(op.fragment() for op in live.feed(text[start : start + step])))
        letters = _MARKS.sub("", page.text())
        assert letters.startswith(before), text[: start + step]
        before = letters


def test_an_ordinary_answer_needs_no_correction_at_its_end() -> None:
    text = (
        "# Title\n\nSome **bold** text.\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```py\nx = 1\n```\n\nEnd."
    )
    live = StreamingMarkdown(KEY)
    for char in text:
        live.feed(char)
    assert live.finish() == []


def test_what_is_closed_is_not_sent_again() -> None:
    live = StreamingMarkdown(KEY)
    live.feed("First paragraph.\n\n- one\n- two\n\nSecond paragraph")
    targets = {op.target for op in live.feed(" grows\nand grows.\n\nThird")}
    assert targets <= {f"#{KEY}", f"#{KEY}-2"}


def test_markers_that_may_still_change_are_held_back() -> None:
    live = StreamingMarkdown(KEY)
    live.feed("text\n")
    for piece in ("-", "-", "-"):
        assert live.feed(piece) == []
    assert "<h2" in "".join(op.html for op in live.feed("\n"))


def test_open_code_grows_by_text_and_is_coloured_when_it_closes() -> None:
    live = StreamingMarkdown(KEY)
    live.feed("```py\nimport os\n")
    (grown,) = live.feed("import sys\n")
    assert (grown.kind, grown.html) == ("append", "import sys\n")
    (coloured,) = live.feed("```\n")
    assert coloured.kind == "replace"
    assert '<span class="k">' in coloured.html


def test_long_code_is_coloured_at_the_end_only() -> None:
    live = StreamingMarkdown(KEY)
    live.feed("```py\n" + "import os\n" * 1000 + "```\n\nafter\n")
    assert "<span" not in live.html()
    assert any("<span" in op.html for op in live.finish())


def test_thinking_is_plain_while_open_and_markdown_when_done() -> None:
    live, page = StreamingText(KEY), Page(KEY)
    for piece in ("I **th", "ink** <b>\r", "\nso", "\n\n- a"):
        page.apply("".join(op.fragment() for op in live.feed(piece)))
        assert page.html() == canonical(live.html())
    assert page.text() == "I **think** <b>\nso\n\n- a"
    page.apply("".join(op.fragment() for op in live.finish()))
    assert page.html() == canonical(render_part(live.text(), KEY))


def test_rows_travel_inside_a_table_whatever_stands_before_them() -> None:
    live, page = StreamingMarkdown(KEY), Page(KEY)
    message = "".join(
        op.fragment() for op in live.feed("para\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3")
    )
    page.apply(message)
    page.apply("".join(op.fragment() for op in live.feed(" x | 4 |\n| five")))
    assert page.html() == canonical(live.html())
    assert "five" in page.text()
