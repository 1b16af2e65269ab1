"""Code in colour: what is what in each language, the same text, and time that grows with it."""

import html
import re
from functools import partial

import pytest

from chat.rendering import languages
from chat.rendering.highlight import highlight, language_name, spans
from tests.support.measuring import cost, ratio

LANGUAGES = sorted({known.pattern: name for name, known in languages.KNOWN.items()}.values())
# What begins, ends and separates things somewhere, and is never closed here.
HOSTILE = [
    "a", "a ", "a\n", " a\n", "ab: ", "a=", "a(", "(", "{-", "[[", "<a ", "</a>", "<script", "<!--",
    '"', "'", "`", '"""', "'''", "\\", "/*", "//", "(*", "#=", "--", "@a", "$", "${", "%", "&",
    "=begin\n", "```\n", "**", "[a", "1.", "1e+", " ", "\n", "中", 'r#"', "$ a\n", "{{",
    "<![CDATA[",
]  # fmt: skip


def coloured(code: str, language: str) -> list[tuple[str, str]]:
    """What has a colour, but for punctuation."""
    runs = re.findall(r'<span class="(\w+)">(.*?)</span>', highlight(code, language), re.S)
    return [(role, html.unescape(text).strip()) for role, text in runs if role != "p"]


@pytest.mark.parametrize(
    ("language", "code", "runs"),
    [
        ("py", "@a.b\ndef f(x='\\'é'):  # no\n    return print(1)", [
            ("nb", "@a.b"), ("k", "def"), ("nf", "f"), ("s", "'\\'é'"), ("c", "# no"),
            ("k", "return"), ("nb", "print"), ("m", "1"),
        ]),
        ("csharp", 'class A { string s = @"a""b"; }// e', [
            ("k", "class"), ("nf", "A"), ("k", "string"), ("s", '@"a""b"'), ("c", "// e"),
        ]),
        ("rust", "fn f<'a>() { c == 'c' }", [("k", "fn"), ("nf", "f"), ("s", "'c'")]),
        ("SQL", "select 'it''s' -- c", [("k", "select"), ("s", "'it''s'"), ("c", "-- c")]),
        ("sh", "cd http://a#b; # c", [("nb", "cd"), ("c", "# c")]),
        ("yaml", "a-b: true # c", [("nt", "a-b"), ("k", "true"), ("c", "# c")]),
        ("html", '<p class="a">f(x)</p><script>let a = "<b>"</script>', [
            ("nt", "<p"), ("na", "class"), ("s", '"a"'), ("nt", ">"), ("nt", "</p><script"),
            ("k", "let"), ("s", '"<b>"'), ("nt", "</script>"),
        ]),
        ("tsx", "<A.B x={1}><p>", [("nt", "<A.B"), ("m", "1"), ("nt", "<p")]),
        ("diff", "-a\n+b\n c", [("gd", "-a"), ("gi", "+b")]),
        ("console", "$ cd /\ncd", [("nb", "cd")]),
        ("py", '"""never closed\n1', [("s", '"""never closed\n1')]),
    ],
)  # fmt: skip
def test_words_have_the_colours_of_their_language(
    language: str, code: str, runs: list[tuple[str, str]]
) -> None:
    assert coloured(code, language) == runs


def test_a_language_nobody_knows_and_very_long_code_are_plain() -> None:
    assert highlight("if <a>", "klingon") == "if &lt;a&gt;"
    assert "<span" not in highlight("if a\n" * 30_000, "python")


def test_languages_are_called_as_people_write_them() -> None:
    names = [language_name(name) for name in ("cs", "JS", "sh", "vue", "Klingon")]
    assert names == ["C#", "JavaScript", "Shell", "vue", "Klingon"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_code_takes_longer_than_its_length_says(language: str) -> None:
    """S2: rules that look far ahead and take nothing made 10 KB cost a minute."""
    ordinary = partial(_anew, _code_of("if word1 = other (2)\n"), "python")
    enough = 8 * cost(ordinary)
    for unit in HOSTILE:
        hostile = partial(_anew, _code_of(unit), language)
        if cost(hostile) > enough:  # or the machine was busy
            assert ratio(hostile, ordinary, 8) < 8, unit


@pytest.mark.parametrize("language", LANGUAGES)
def test_colour_changes_no_text(language: str) -> None:
    code = "".join(f"{unit}<b>&amp;{unit}\n" for unit in HOSTILE)
    assert html.unescape(re.sub("<[^>]*>", "", highlight(code, language))) == code


def _code_of(unit: str) -> str:
    return (unit * 10_000)[:10_000]


def _anew(code: str, language: str) -> str:
    return "".join(spans(code, languages.KNOWN[language]))
