"""Markdown without its marks, as search results show it."""

import pytest

from chat.formats.plain_markdown import plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("## The **deposit** is _due_", "The deposit is due"),
        ("- [x] a `b * c` ~~d~~", "a b * c d"),
        ("> 1. see [the page](https://example.org/a_b_c) and ![a photo](/x.png)",
         "see the page and a photo"),
        ("| Item | **When** |\n| --- | :-: |\n| a | b |", "Item · When\na · b"),
        ("Title\n===\ntext\n\n---\nend", "Title\ntext\n\nend"),
        ("```python\ndef f(**kwargs): # _x_\n```\n*after*", "def f(**kwargs): # _x_\nafter"),
        ("snake_case_name, 2 * 3 * 4, a\\*b", "snake_case_name, 2 * 3 * 4, a*b"),
        ("**不可**以", "不可以"),
        ("plain words", "plain words"),
    ],
)  # fmt: skip
def test_the_marks_are_left_out(text: str, plain: str) -> None:
    assert plain_text(text) == plain


def test_a_text_that_begins_in_code_is_code() -> None:
    assert plain_text("a **b** c\n```\n**d**", "text\n```\nfirst\n") == "a **b** c\nd"
