"""Before and after: every line is accounted for, words that differ are marked, cost is bounded."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml.html import fragment_fromstring

from chat.rendering.page.cards.compare import changes
from chat.rendering.page.cards.diff import MOST_CHARS, MOST_DRAWN, OPEN_LINES, Diff, Line, compare
from chat.rendering.page.cards.word_diff import words

lines = st.lists(st.sampled_from(["a", "b", "c", "d", "", "  x", "return 1"]), max_size=40)


@given(lines, lines)
def test_the_changes_make_the_new_text_of_the_old(old, new):
    made, at = [], 0
    for change in changes(old, new):
        made += old[at : change.old_from] + new[change.new_from : change.new_to]
        at = change.old_to
    assert made + old[at:] == new


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_words_of_a_line_make_the_line(old, new):
    pieces = words(old, new)
    if pieces:
        left, right = ["".join(text for _, text in side) for side in pieces]
        assert (left, right) == (old, new)
        same = ["".join(text for differs, text in side if not differs) for side in pieces]
        assert same[0] == same[1]


def drawn(diff: Diff) -> list[Line]:
    return [line for block in (*diff.blocks, *diff.folded) for line in block.lines]


def text_of(line: Line) -> str:
    return str(fragment_fromstring(line.html, create_parent="code").text_content())


@given(lines, lines)
def test_what_is_drawn_is_both_texts(old, new):
    """The lines of each side, with their numbers; all that is missing are lines that stayed."""
    diff = compare("".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new))
    for line in drawn(diff):
        side = old if line.kind == "cut" else new
        assert text_of(line) == side[line.number - 1]
        if line.kind == "same":
            assert old[line.old_number - 1] == side[line.number - 1]
    kinds = [line.kind for line in drawn(diff)]
    assert (kinds.count("add"), kinds.count("cut")) == (diff.added, diff.removed)
    gaps = sum(block.gap for block in (*diff.blocks, *diff.folded))
    if drawn(diff):
        assert kinds.count("same") + kinds.count("add") + gaps == len(new)


def test_the_words_that_differ_are_marked():
    cut, add = drawn(compare("total = sum(rows)\n", "total = max(rows)\n"))
    assert cut.html == "total = <del>sum</del>(rows)"
    assert add.html == "total = <ins>max</ins>(rows)"
    cut, add = drawn(compare("今天很好", "今天不好"))
    assert (cut.html, add.html) == ("今天<del>很</del>好", "今天<ins>不</ins>好")
    cut, add = drawn(compare("<b>", "something else"))
    assert (cut.html, add.html) == ("&lt;b&gt;", "something else")


def test_three_lines_stand_around_a_change_and_numbers_are_those_of_the_file():
    before = [str(n) for n in range(20)]
    after = [*before[:10], "ten", *before[11:]]
    diff = compare("\n".join(before), "\n".join(after), first=100)
    assert [line.html for line in drawn(diff)] == [
        "7", "8", "9", "10", "ten", "11", "12", "13",
    ]  # fmt: skip
    assert [block.gap for block in diff.blocks if block.gap] == [7, 6]
    assert [line.number for line in drawn(diff)][:4] == [107, 108, 109, 110]


def test_ends_of_lines_are_shown_where_they_differ():
    assert not drawn(compare("a\r\nb\r\n", "a\r\nb\r\n"))
    assert [line.html for line in drawn(compare("a\r\n", "a\n"))] == ["a<del>␍</del>", "a"]


def test_long_changes_are_folded():
    diff = compare("", "".join(f"line {n}\n" for n in range(200)))
    assert sum(len(block.lines) for block in diff.blocks) == OPEN_LINES
    assert (diff.more, diff.left_out, diff.added) == (200 - OPEN_LINES, 0, 200)


RANDOM = random.Random(4)
MEGABYTE = {
    "other lines": ("".join(f"{n} old\n" for n in range(90_000)),
                    "".join(f"{n} new\n" for n in range(90_000))),
    "the same lines": ("x\n" * 500_000, "x\n" * 499_999 + "y\n"),
    "two lines in turn": ("a\nb\n" * 250_000, "b\na\na\n" * 160_000),
    "shuffled": ("".join(f"{n}\n" for n in RANDOM.sample(range(140_000), 140_000)),
                 "".join(f"{n}\n" for n in RANDOM.sample(range(140_000), 140_000))),
    "one long line": ("a b " * 250_000, "a c " * 250_000),
    "every other line": ("".join(f"{n} {n}\n" for n in range(80_000)),
                         "".join(f"{n} {n + n % 2}\n" for n in range(80_000))),
    "few words": ("".join(f"{RANDOM.randrange(50)}\n" for n in range(300_000)),
                  "".join(f"{RANDOM.randrange(50)}\n" for n in range(300_000))),
    "markup": ("<&\n" * 200_000, "&<\n" * 200_000),
}  # fmt: skip


@pytest.mark.parametrize("name", MEGABYTE)
def test_a_megabyte_costs_little_and_is_short(name):
    began = time.process_time()
    diff = compare(*MEGABYTE[name])
    assert time.process_time() - began < 2.5
    assert len(drawn(diff)) <= MOST_DRAWN
    assert sum(len(line.html) for line in drawn(diff)) < 10 * MOST_CHARS
    assert diff.added or diff.removed
