"""How texts and questions are cut into words, and what is marked in what was found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.formats.search_query import Clause, parse_query, spans
from chat.formats.search_snippet import LENGTH, marked, snippet
from chat.formats.search_text import tokens, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Hello, World!", "hello world"),
        ("天气很好", "天气 气很 很好 好"),
        ("用GPT4模型", "用 gpt4 模型 型"),
        ("Café ＣＡＦＥ ﬁn", "cafe cafe fin"),
        ("snake_case-word", "snake case word"),
        ("한국어", "한국 국어 어"),
        ("हिन्दी भाषा।", "हिन्दी भाषा"),
        ("½ ⒈ '; DROP % _", "12 1 drop"),
        ("", ""),
        ("a" * 100, "a" * 64),
    ],
)
def test_a_text_is_cut_into_folded_words(text: str, words: str) -> None:
    assert words_of(text).replace("\u2044", "") == words


@given(st.text() | st.text("aB9_-\n\r\x85 é天气", max_size=80))
def test_the_short_way_for_plain_lines_cuts_as_the_long_one(text: str) -> None:
    assert words_of(text) == " ".join(token.word for token in tokens(text))


@pytest.mark.parametrize(
    ("query", "clauses"),
    [
        ("AI", [Clause(("ai",))]),
        ("weath", [Clause(("weath",), open=True)]),
        ('"weather"', [Clause(("weather",))]),
        ("weather AI weather", [Clause(("weather",), open=True), Clause(("ai",))]),
        ('"two words"', [Clause(("two", "words"))]),
        ("“two words”", [Clause(("two", "words"))]),
        ("天", [Clause(("天",), open=True)]),
        ("天气", [Clause(("天气",))]),
        ("天气预报", [Clause(("天气", "气预", "预报"))]),
        ("foo_bar", [Clause(("foo", "bar"), open=True)]),
        ('"unfinished phr', [Clause(("unfinished",), open=True), Clause(("phr",), open=True)]),
        ('" ( * AND : ^ -', [Clause(("and",), open=True)]),
        ("", []),
        ('"" *', []),
    ],
)
def test_nothing_that_is_typed_is_wrong(query: str, clauses: list[Clause]) -> None:
    assert list(parse_query(query)) == clauses


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("The weather in Rome", "weath", "The [weather] in Rome"),
        ("今天天气很好", "天气", "今天[天气]很好"),
        ("今天天气预报说", "天气预报", "今天[天气预报]说"),
        ("天天", "天", "[天天]"),
        ("AIM at AI", "ai", "AIM at [AI]"),
        ("one two, one three", '"one three"', "one two, [one three]"),
        ("Über-Café", "uber cafe", "[Über]-[Café]"),
        ("<b>bold</b>", "bold", "<b>[bold]</b>"),
    ],
)
def test_what_was_asked_for_is_marked(text: str, query: str, shown: str) -> None:
    pieces = marked(text, parse_query(query))
    assert "".join(f"[{piece}]" if hit else piece for piece, hit in pieces) == shown


def test_a_snippet_stands_around_the_first_hit() -> None:
    text = "word " * 400 + "the\nneedle  here " + "more " * 400
    pieces = snippet(["nothing", text], parse_query("needle"))
    said = "".join(piece for piece, _ in pieces)
    assert ("needle", True) in pieces
    assert said.startswith("…word")
    assert said.endswith("…")
    assert "the needle here" in said
    assert len(said) <= LENGTH + 2
    assert snippet(["nothing"], parse_query("needle")) == ()


@given(st.text(max_size=60), st.text(max_size=20))
def test_pieces_are_the_text(text: str, query: str) -> None:
    """Whatever is asked, marking loses and adds nothing but blanks."""
    clauses = parse_query(query)
    pieces = "".join(piece for piece, _ in marked(text, clauses))
    assert pieces.split() == text.split()
    assert all(0 <= start < end <= len(text) for start, end in spans(text, clauses))


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_text_is_found_by_itself(before: str, text: str) -> None:
    """What is kept and what is asked are cut in the same way."""
    kept = f" {words_of(f'{before} {text} after')} "
    for clause in parse_query(text):
        end = "" if clause.open else " "
        assert f" {' '.join(clause.words)}{end}" in kept


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("## All\n\nThe **deposit** is [due](https://example.org)", "deposit due",
         "All The [deposit] is [due]"),
        ("one\n```\nneedle(**x)\n```", "needle", "one [needle](**x)"),
        # What was asked for is in what would be left out.
        ("See [here](https://needle.example)", "needle", "See [here](https://[needle].example)"),
    ],
)  # fmt: skip
def test_a_snippet_is_read_without_marks(text: str, query: str, shown: str) -> None:
    pieces = snippet([text], parse_query(query))
    found = "".join(f"[{piece}]" if hit else piece for piece, hit in pieces)
    assert found == shown
