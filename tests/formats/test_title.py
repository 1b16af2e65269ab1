"""Titles made from what people and models write."""

import pytest

from chat.formats.title import LONGEST, is_better, title_from, title_from_answer


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


SAID = "Could you tell me what the weather will be in Rome? Sunny, with some wind."


@pytest.mark.parametrize("title", ["Weather in Rome", "Rome: sunny and windy", "Roman weather"])
def test_a_title_that_names_what_was_said_is_better_than_the_first_words(title):
    assert is_better(title, "Could you tell me what the weather…", SAID)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Sorry, I cannot do that",
        "Sure! Here is a title",
        "New conversation",
        "Untitled",
        "Recipes for an apple pie",
        "The weather in Rome tomorrow will be sunny with some wind from the",
        "could you tell me what the weather",
        "抱歉，我不知道",
    ],
)
def test_what_is_no_title_is_not(title):
    assert not is_better(title, "Could you tell me what the weather…", SAID)


def test_chinese_titles_are_compared_by_their_characters():
    assert is_better("罗马天气", "明天罗马的天气怎么样…", "明天罗马的天气怎么样，适合出门吗？")
    assert not is_better("苹果派", "明天罗马的天气怎么样…", "明天罗马的天气怎么样，适合出门吗？")
