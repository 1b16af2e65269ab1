"""Markdown to comrak's HTML, within limits. It is not safe yet: `blocks.py` makes it so.

In: markdown, a few thousand characters at the most. Out: HTML with HTML of the model escaped, and,
where it is asked for, with the lines and columns of every block.

So little is read fast, with a few exceptions, where comrak takes the square of the length, makes
far more than it was given, or calls itself so deep that the process dies. They are told by simple
signs before it sees them, and raise `TooComplex`: many levels of quotes and lists, rows that are
filled up to a wide head, and very many of the openings below.
"""

import re
from typing import Final

import comrak

from chat.rendering.streaming.fences import is_open_code

DEEPEST: Final = 48
_LONGEST: Final = 16_000
# How many of each may stand in one source. An e-mail address is linked by a call inside the call
# for the one before; behind the others, comrak looks through the rest of the paragraph for an end.
_MOST_ADDRESSES: Final = 300
_MOST_FOOTNOTES: Final = 200
_MOST_FORMULAS: Final = 300
_MOST_UNCLOSED_FORMULAS: Final = 100
_FEW_COLUMNS: Final = 24
_MOST_COLUMNS: Final = 250
_MOST_EMPTY_CELLS: Final = 6_000

_MARKER: Final = r"(?:>|[-+*](?=[ \t])|\d{1,9}+[.)](?=[ \t]))"
_DEEP: Final = re.compile(
    r"\n(?=[ \t>+*\d-])"
    rf"(?:(?:[ \t]*+{_MARKER}){{24}}|(?: {{0,3}}\t| {{4}}){{20}}[ \t]*+{_MARKER})"
)
_DELIMITER_ROW: Final = re.compile(r"\n[ \t>]*+([|:-][|: \t-]*+)(?=\n)")

# The blocks in comrak's HTML. Leaf blocks hold no other block, so each is one match; boxes are
# matched tag by tag.
BLOCK: Final = re.compile(
    r"<(?P<leaf>p|h[1-6]|pre|table)\b(?P<attributes>[^>]*)>(?P<inner>.*?)</(?P=leaf)>|<hr\b[^>]*>"
    r"|<(?P<end>/?)(?P<box>ul|ol|li|blockquote|div|section)\b(?P<more>[^>]*)>|<input[^>]*> ?",
    re.S,
)


class TooComplex(Exception):
    """This text would take too long, or nest too deep, to be drawn as markdown."""


def _extensions(latex: bool) -> comrak.ExtensionOptions:
    options = comrak.ExtensionOptions()
    for name in (
        "table", "tasklist", "strikethrough", "autolink", "footnotes", "alerts",
        "math_dollars", "cjk_friendly_emphasis",
    ):  # fmt: skip
        setattr(options, name, True)
    options.math_latex = latex
    return options


def _rendering(positions: bool) -> comrak.RenderOptions:
    options = comrak.RenderOptions()
    options.escape = True
    options.compact_html = True
    options.sourcepos = positions
    return options


_WITH_LATEX: Final = _extensions(latex=True)
_WITHOUT_LATEX: Final = _extensions(latex=False)
_PARSING: Final = comrak.ParseOptions()
_WITHOUT_POSITIONS: Final = _rendering(positions=False)
_WITH_POSITIONS: Final = _rendering(positions=True)


def parse(source: str, positions: bool = False) -> str:
    """Comrak's own HTML."""
    if not is_open_code(source):
        _refuse_what_takes_long(source)
    options = _WITH_POSITIONS if positions else _WITHOUT_POSITIONS
    return comrak.render_markdown(source, _extensions_for(source), _PARSING, options)


def _refuse_what_takes_long(source: str) -> None:
    if (
        len(source) > _LONGEST
        or source.count("@") > _MOST_ADDRESSES
        or source.count("[^") > _MOST_FOOTNOTES
        or ("\\" in source and source.count("\\(") + source.count("\\[") > _MOST_FORMULAS)
        or _DEEP.search("\n" + source)
        or ("|" in source and _fills_up_rows(source))
    ):
        raise TooComplex


def _fills_up_rows(source: str) -> bool:
    """Whether a table has rows that are mostly empty: each is given as many cells as the head."""
    heads = _DELIMITER_ROW.finditer(source)
    widest = max(heads, key=lambda row: row[1].count("|"), default=None)
    if widest is None:
        return False
    columns = widest[1].count("|")
    if columns > _MOST_COLUMNS:
        return True
    if columns <= _FEW_COLUMNS:
        return columns * source.count("\n") > 2 * source.count("|") + _MOST_EMPTY_CELLS
    rows = source[widest.end() + 1 :].partition("\n\n")[0]
    return columns * rows.count("\n") - rows.count("|") > columns // 2


def _extensions_for(source: str) -> comrak.ExtensionOptions:
    """Behind every `\\(` and `\\[`, comrak looks through the rest of the paragraph for its end. In
    a text of nothing but beginnings that takes the square of its length, so where the text has no
    end at all, they are not looked for; where one stands before very many beginnings, we refuse."""
    if "\\" not in source:
        return _WITHOUT_LATEX
    round_end, square_end = source.rfind("\\)"), source.rfind("\\]")
    if round_end < 0 and square_end < 0:
        return _WITHOUT_LATEX
    unclosed = source.count("\\(", round_end + 1) + source.count("\\[", square_end + 1)
    if unclosed > _MOST_UNCLOSED_FORMULAS:
        raise TooComplex
    return _WITH_LATEX
