"""Each step of a frame alone, by the examples that its module gives."""

import pytest

from chat.rendering.streaming.changes import grow_at_the_end
from chat.rendering.streaming.fences import closes_code
from chat.rendering.streaming.marks import close_marks
from chat.rendering.streaming.open_block import OpenBlock
from chat.rendering.streaming.operations import Op
from chat.rendering.streaming.shorten import last_block, shorten
from chat.rendering.streaming.source import OpenSource
from chat.rendering.streaming.tags import path_to_open_end, split_by_depth
from chat.rendering.streaming.visible import visible


@pytest.mark.parametrize(
    ("words", "drawn"),
    [
        ("some **bo", "some **bo**"),
        ("see [the la", "see"),
        ("so $x^2", "so"),
        ("a `co", "a `co`"),
        ("costs $5", "costs $5"),
        ("**a *b", "**a *b***"),
        ("at http", "at"),
        ("a **", "a"),
    ],
)
def test_marks_are_closed_or_held_back(words: str, drawn: str) -> None:
    assert close_marks(words) == drawn


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("text\n-", "text"),
        ("text\n| a | b |\n", "text"),
        ("| a |\n|---|\n| b **c", "| a |\n|---|\n| b **c**"),
        ("- a\n- b *c", "- a\n- b *c*"),
        ("[x]: http://a.example", ""),
    ],
)
def test_what_may_still_change_is_not_visible(source: str, shown: str) -> None:
    assert visible(source, in_code=False) == shown


@pytest.mark.parametrize(
    ("source", "shorter"),
    [
        ("- a\n- b\n- c\n", "- c\n"),
        ("3. a\n4. b\n", "3. b\n"),
        ("> one\n>\n> two\n", "> two\n"),
        ("- a\n\n  b\n  - c\n", "- - c\n"),
        ("```py\nx = 1\ny = 2\n", "```py\n"),
        ("| a |\n|---|\n| b |\n| c |\n", "| a |\n|---|\n"),
        ("a paragraph\n", "a paragraph\n"),
        ("two\n\nblocks\n", "two\n\nblocks\n"),
    ],
)
def test_a_source_is_shortened_to_what_can_change(source: str, shorter: str) -> None:
    assert shorten(source) == shorter


def test_the_last_block_begins_where_the_others_have_ended() -> None:
    assert last_block("# a\n\n- b\n- c\n") == "- b\n- c\n"


def test_a_line_is_cut_at_the_same_places_however_it_comes() -> None:
    def whole_pieces(text: str, step: int) -> list[str]:
        source, found, begun = OpenSource(), [], ""
        for at in range(0, len(text), step):
            for piece in source.cut(text[at : at + step]):
                source.add(piece.text)
                begun += piece.text
                if piece.is_whole:
                    found.append(begun)
                    begun = ""
        return found

    text = "short\n" + "long " * 200 + "\nend"
    assert whole_pieces(text, len(text)) == whole_pieces(text, 7) == whole_pieces(text, 1)


def test_only_a_fence_as_long_as_the_first_closes_code() -> None:
    assert closes_code("```py\n```\n")
    assert not closes_code("```py\n```")
    assert not closes_code("````\n```\n")
    assert not closes_code("```py\n~~~\n")


def test_the_open_end_is_where_a_text_grows() -> None:
    path = path_to_open_end("<ul><li><p>a</p></li></ul>")
    assert [element.name for element in path] == ["ul", "li", "p"]
    assert split_by_depth(" more</p><p>next</p></li>") == [(0, " more"), (1, "<p>next</p>")]


def test_growth_is_appended_where_it_belongs() -> None:
    assert grow_at_the_end("#k-0", "<p>a</p>", "<p>ab</p>") == [Op("append", "#k-0", "b")]
    old, new = "<ul><li>a</li></ul>", "<ul><li>a</li><li>b</li></ul>"
    assert grow_at_the_end("#k-0", old, new) == [Op("append", "#k-0", "<li>b</li>")]
    assert grow_at_the_end("#k-0", "<p>a</p>", "<h2>a</h2>") is None


def test_what_was_let_go_of_stays_on_the_page() -> None:
    block = OpenBlock("k-0", '<ul id="k-0"><li><p>one</p></li><li><p>tw</p></li></ul>')
    assert block.let_go('<ul id="k-0"><li><p>tw</p></li></ul>')
    (op,) = block.update('<ul id="k-0"><li><p>two</p></li></ul>')
    assert op == Op("append", "#k-0>:last-child>:last-child", "o")
    assert block.html() == '<ul id="k-0"><li><p>one</p></li><li><p>two</p></li></ul>'


def test_nothing_is_let_go_of_for_a_source_that_draws_other_elements() -> None:
    block = OpenBlock("k-0", '<ol id="k-0" start="3"><li><p>one</p></li><li><p>tw</p></li></ol>')
    before = block.html()
    assert not block.let_go('<ol id="k-0"><li><p>tw</p></li></ol>')
    assert block.html() == before
