"""Text cut into the words that are searched: the same way for what is indexed and for queries.

Words are folded (case, accents, full-width forms). Scripts that are written without blanks have
no words to cut at, so each letter is kept together with the next: 天气很好 is 天气 气很 很好 好.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

# More of one text is not searched; PostgreSQL takes a megabyte of different words at most.
LONGEST_TEXT: Final = 100_000
LONGEST_WORD: Final = 64

# Han, kana, Hangul and Thai.
_UNSPACED = (
    "\u0e01-\u0e7f\u3005-\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowels and accents that Python does not count as letters, but that belong to a word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
)
_WORD: Final = re.compile(f"([{_UNSPACED}]+)|((?:[^\\W_{_UNSPACED}]|[{_MARKS}])+)")
_ASCII_WORD: Final = re.compile(r"[^\W_]+", re.ASCII)
_ACCENT: Final = re.compile("[\u0300-\u036f]+")
# Characters that a database might not take as part of a word: blanks, quotes, wildcards.
_NOT_IN_WORD: Final = re.compile(r"[\x00-/:-`{-\x7f]+")


class Token(NamedTuple):
    """A folded word, and where in the text it stands."""

    word: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The words of a text in their order, as far as it is searched."""
    for match in _WORD.finditer(text, 0, min(len(text), LONGEST_TEXT)):
        start, end = match.span()
        if match[1] is not None:
            for at in range(start, end):
                pair = min(at + 2, end)
                yield Token(text[at:pair], at, pair)
        elif word := fold(match[2]):
            yield Token(word, start, end)


def words_of(text: str) -> str:
    """The words of a text as the index keeps them, with blanks between; as `tokens` cuts them."""
    return " ".join(word for line in text[:LONGEST_TEXT].splitlines() for word in _words(line))


def _words(line: str) -> Iterable[str]:
    """No word goes over the end of a line, and in most lines there is nothing to fold but case."""
    if line.isascii():
        return (word[:LONGEST_WORD] for word in _ASCII_WORD.findall(line.lower()))
    return (token.word for token in tokens(line))


def fold(word: str) -> str:
    """A word without case, accents and width: Café and ＣＡＦＥ are both cafe."""
    if word.isascii():
        return word.lower()[:LONGEST_WORD]
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", word.casefold()))
    return _NOT_IN_WORD.sub("", unicodedata.normalize("NFC", plain).lower())[:LONGEST_WORD]


def is_unspaced(word: str) -> bool:
    """Whether this is a piece of a text without blanks."""
    found = _WORD.match(word)
    return found is not None and found[1] is not None
