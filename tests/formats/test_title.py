"""Titles made from what people and models write."""

import pytest

from chat.formats.title import LONGEST, title_from, title_from_answer


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello", "Hello"),
        ("  Hello   there \nand more", "Hello there"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("x" * 60, "x" * 60),
        ("字" * 61, "字" * 59 + "…"),
        ("a " + "x" * 70, "a " + "x" * 57 + "…"),
        ("", ""),
    ],
)
def test_the_first_line_is_a_title_cut_at_a_word(text: str, title: str) -> None:
    assert title_from(text) == title
    assert len(title) <= LONGEST


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Weather in Rome", "Weather in Rome"),
        ('\n\n# "Weather in Rome."\nand more', "Weather in Rome"),
        ("**Title:** Weather", "Weather"),
        ("标题：罗马的天气。", "罗马的天气"),
        ("《罗马的天气》", "罗马的天气"),
        ("<think>hm\nhm</think>\nWeather", "Weather"),
        ("Node.js vs. Deno?", "Node.js vs. Deno?"),
        ("word " * 30, "word word word word word word word word word word word…"),
        ("字" * 90, "字" * 59 + "…"),
        ("a\x00b", "ab"),
        ("", ""),
        ('""', ""),
    ],
)
def test_what_models_put_around_a_title_is_taken_off(answer: str, title: str) -> None:
    assert title_from_answer(answer) == title
    assert len(title_from_answer(answer)) <= LONGEST
