"""The variables in a saved prompt."""

import pytest

from chat.protocol.prompts import (
    NAME,
    Piece,
    Variable,
    Words,
    asked_variables,
    parse_prompt,
)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("plain { text }", (Words("plain { text }"),)),
        ("Dear {{name}},", (Words("Dear "), Variable("name"), Words(","))),
        ("{{ tone : kind }}", (Variable("tone", "kind"),)),
        ("{{收件人:同事}}好", (Variable("收件人", "同事"), Words("好"))),
        ("{{url:https://example.org}}", (Variable("url", "https://example.org"),)),
        # What is no variable stays as it is.
        ("{{}} {{ }} {{a\nb}}", (Words("{{}} {{ }} {{a\nb}}"),)),
        ("{{{x}}}", (Words("{"), Variable("x"), Words("}"))),
        ("{{" + "x" * 41 + "}}", (Words("{{" + "x" * 41 + "}}"),)),
        ("", ()),
    ],
)  # fmt: skip
def test_a_text_is_cut_into_words_and_variables(text: str, pieces: tuple[Piece, ...]) -> None:
    assert parse_prompt(text) == pieces


def test_each_name_is_asked_for_once_and_the_date_never() -> None:
    pieces = parse_prompt("{{a}} {{b:1}} {{a:2}} {{b:3}} {{date}} {{Date}} {{日期}}")
    assert asked_variables(pieces) == (Variable("a", "2"), Variable("b", "1"))


@pytest.mark.parametrize(
    ("name", "fits"),
    [("sum-up_2", True), ("总结", True), ("two words", False), ("", False), ("a/b", False),
     ("x" * 41, False), ("a\n", False)],
)  # fmt: skip
def test_a_name_is_one_word(name: str, fits: bool) -> None:
    assert bool(NAME.fullmatch(name)) is fits


def test_many_braces_take_no_longer() -> None:
    assert len(parse_prompt("{{" * 10_000)) == 1
