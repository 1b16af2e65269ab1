"""Closes the marks that are open in a paragraph which stops in the middle.

In: the words of a paragraph, heading or cell. Out: the words to draw now. What has begun is drawn
as what it most likely is, or held back for a bounded length and then shown as written:

    some **bo          →  some **bo**     bold from its first letter
    see [the la        →  see             a link, once its address is there
    so $x^2            →  so              a formula, once it is whole
    a `co              →  a `co`
    costs $5           →  costs $5

Each kind of mark has a reader. It says where to read on, or where to cut.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Final, NamedTuple

_MOST_MARKS: Final = 150
_MOST_OPEN: Final = 12
# Every branch begins with a plain sign, by which the search skips all other text: this is the part
# of a frame that would cost most.
_MARK: Final = re.compile(
    r"\\.|\\\Z|``*|\$\$?|\*\*{0,2}|__{0,2}|~~|\[|!\[|!\Z|<|&[#\w]{0,30}\Z", re.S
)
_BRACKET: Final = re.compile(r"[\[\]]")
_ADDRESS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:https?:|www\.)|(?<![A-Za-z0-9])(?:h(?:t(?:t(?:ps?)?)?)?|ww?w?)\Z"
)
_FORMULA_ENDS: Final = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_TAG_BEGUN: Final = re.compile(
    r"<(?:/?[a-zA-Z]{0,5}|(sub|sup|kbd)>[^<\n]{0,80}(?:</?[a-z]{0,3})?|https?:\S{0,600}+)\Z"
)
# How long something is held back: what is still open after that is no mark, but text.
_LONGEST_FORMULA: Final = {"$": 200, "$$": 2000, "\\(": 400, "\\[": 2000}
_LONGEST_CODE: Final = 300
_LONGEST_LABEL: Final = 200
_LONGEST_ADDRESS: Final = 600
_LABEL_WINDOW: Final = 1000


def close_marks(words: str) -> str:
    """The words with their open marks closed, or cut off where one of them is held back."""
    paragraph = _Paragraph(words)
    address = _start_of_address(words)
    at = count = 0
    while match := _MARK.search(words, at):
        count += 1
        if count > _MOST_MARKS:
            return words.rstrip()
        if at <= address < match.start():
            break
        mark = match[0]
        reader = _READERS.get(mark) or _READERS_BY_SIGN.get(mark[0], _held_back)
        step = reader(paragraph, mark, match.start(), match.end())
        if isinstance(step, _Cut):
            return paragraph.cut(step)
        at = step
    return paragraph.cut(_Cut(address if address >= at else len(words)))


def _start_of_address(words: str) -> int:
    """Where the address that the words end with begins, or may begin; their end if none does."""
    if words[-1:].isspace():
        return len(words)
    last_word = words[-_LONGEST_ADDRESS:].rsplit(None, 1)[-1:]
    found = _ADDRESS.search(words, len(words) - len("".join(last_word)))
    return found.start() if found else len(words)


def has_no_open_marks(words: str) -> bool:
    """Whether nothing in this paragraph waits for its end."""
    return close_marks(words) == words.rstrip()


class _Cut(NamedTuple):
    """Show the words up to here, then this mark."""

    at: int
    closing: str = ""


class _Paragraph:
    """The words, and what the readers remember of them."""

    def __init__(self, words: str) -> None:
        self.words = words
        self.open_emphasis: list[str] = []
        self.unclosed: set[str] = set()  # marks of formulas and code whose end is not ahead

    @cached_property
    def closing_brackets(self) -> dict[int, int]:
        """Where each bracket is closed, by the place behind it."""
        found: dict[int, int] = {}
        open_: list[int] = []
        for bracket in _BRACKET.finditer(self.words):
            if bracket[0] == "[":
                open_.append(bracket.end())
            elif open_:
                found[open_.pop()] = bracket.start()
        return found

    def cut(self, cut: _Cut) -> str:
        shown = self.words[: cut.at].rstrip()
        # A mark with nothing behind it would be shown as it is.
        while self.open_emphasis and shown.endswith(self.open_emphasis[-1]):
            shown = shown[: -len(self.open_emphasis.pop())].rstrip()
        return shown + cut.closing + "".join(reversed(self.open_emphasis))


# --- a reader for each kind of mark -------------------------------------------------
# `start` and `end` are where the mark stands; a number is the place to read on from.


def _formula(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    words = paragraph.words
    closed = -1
    if mark not in paragraph.unclosed:
        closed = words.find(_FORMULA_ENDS[mark], end)
    if closed >= 0:
        is_formula = mark != "$" or "\n\n" not in words[start:closed]
        return closed + len(mark) if is_formula else end
    paragraph.unclosed.add(mark)
    after = words[end : end + 1]
    if mark == "$" and (after.isspace() or after.isdigit()):
        return end  # a price
    return _Cut(start) if len(words) - end <= _LONGEST_FORMULA[mark] else end


def _code(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    words = paragraph.words
    if mark not in paragraph.unclosed:
        closed = re.compile(rf"(?<!`){mark}(?!`)").search(words, end)
        if closed:
            return closed.end()
        paragraph.unclosed.add(mark)
    code = words[end:].rstrip("`")
    if not code.strip():
        return _Cut(start)
    return _Cut(end + len(code), closing=mark) if len(code) <= _LONGEST_CODE else end


def _link(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    words = paragraph.words
    label_end = paragraph.closing_brackets.get(end, -1)
    if not end <= label_end < end + _LABEL_WINDOW:
        return _Cut(start) if len(words) - start <= _LONGEST_LABEL else end
    following = words[label_end + 1 : label_end + 2]
    if not following:
        return _Cut(start)
    if following not in "([":
        return end
    closed = words.find(")" if following == "(" else "]", label_end + 2)
    if closed >= 0:
        return closed + 1
    return _Cut(start) if len(words) - label_end <= _LONGEST_ADDRESS else end


def _tag(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    return _Cut(start) if _TAG_BEGUN.match(paragraph.words, start) else end


def _emphasis(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    open_, words = paragraph.open_emphasis, paragraph.words
    before, after = words[start - 1 : start], words[end : end + 1]
    if mark in open_ and before.strip():
        if not after and len(mark) == 1 and open_[-1] != mark:
            return _Cut(start)  # half of a double mark, perhaps
        del open_[open_.index(mark) :]
    elif not after:
        return _Cut(start)
    elif len(open_) < _MOST_OPEN and not after.isspace() and _can_open_after(before, mark):
        open_.append(mark)
    return end


def _can_open_after(before: str, mark: str) -> bool:
    """Inside of a word only `**`, `***` and `~~` open: not the mark of a*b, not those of x__y."""
    return (len(mark) > 1 and mark[0] != "_") or not before.isalnum()


def _escape(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    return end if len(mark) > 1 else _Cut(start)


def _held_back(paragraph: _Paragraph, mark: str, start: int, end: int) -> int | _Cut:
    """At the end of the words: `!` of an image, `&am` of a reference."""
    return _Cut(start)


_Reader = Callable[[_Paragraph, str, int, int], int | _Cut]
_READERS: Final[dict[str, _Reader]] = {
    **dict.fromkeys(_FORMULA_ENDS, _formula),
    "[": _link,
    "![": _link,
    "<": _tag,
}
_READERS_BY_SIGN: Final[dict[str, _Reader]] = {
    "`": _code,
    "*": _emphasis,
    "_": _emphasis,
    "~": _emphasis,
    "\\": _escape,
}
