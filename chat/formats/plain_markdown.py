"""Markdown as one would read it aloud, without its marks: for a few lines, not whole answers."""

import re
from collections.abc import Iterator
from typing import Final

from chat.formats.markdown_code import CodeTracker

_FENCE: Final = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[^`\n]*")
# A rule, the line below a heading, the line below the head of a table.
_RULE: Final = re.compile(r"[ \t>]*(?:[-=*_][ \t]*){3,}|[ \t|:-]*-[ \t|:-]*\|[ \t|:-]*")
_BEGINNING: Final = re.compile(
    r"[ \t]*(?:>[ \t]?)*[ \t]*(?:#{1,6}[ \t]+|(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?"
)
_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*(?:[ \t]+\"[^\"\n]*\")?\)")
_EMPHASIS: Final = (
    re.compile(r"(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1"),
    re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\1(?!\w)"),
    re.compile(r"(~~)(?=\S)([^~\n]+?)(?<=\S)\1"),
)
_CODE: Final = re.compile(r"(`+)(?!`)([^\n]*?[^`\n])\1(?!`)")
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_CELLS: Final = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")


def plain_text(text: str, before: str = "") -> str:
    """The lines of a text; `before` says whether they begin inside a block of code."""
    code = CodeTracker()
    code.feed(before)
    return "\n".join(_lines(text, code))


def _lines(text: str, code: CodeTracker) -> Iterator[str]:
    for line in text.split("\n"):
        was_code = code.in_code()
        code.feed(f"{line}\n")
        if _FENCE.fullmatch(line):
            continue
        if was_code:
            yield line
        elif not _RULE.fullmatch(line):
            yield _without_marks(line)


def _without_marks(line: str) -> str:
    line = line[_BEGINNING.match(line).end() :]  # type: ignore[union-attr]  # it matches nothing too
    if line.startswith("|"):
        line = _CELLS.sub(" · ", line.strip().strip("|")).strip(" ·")
    # What stands in code is not looked at again.
    pieces, at = [], 0
    for code in _CODE.finditer(line):
        pieces += [_without_emphasis(line[at : code.start()]), code[2].strip()]
        at = code.end()
    return "".join([*pieces, _without_emphasis(line[at:])])


def _without_emphasis(text: str) -> str:
    text = _LINK.sub(r"\1", text)
    for emphasis in _EMPHASIS:
        text = emphasis.sub(r"\2", text)
    return _ESCAPED.sub(r"\1", text)
