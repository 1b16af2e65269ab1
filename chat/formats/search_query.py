"""What somebody typed into the search box, as clauses; whatever is typed is a valid query."""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from chat.formats.search_text import Token, is_unspaced, tokens

LONGEST_QUERY: Final = 200
MOST_CLAUSES: Final = 10
# A word of two letters ("AI") is meant as it is; a longer one may be the beginning of a word.
SHORTEST_BEGINNING: Final = 3

_CHUNK: Final = re.compile(r'"([^"]*)"|(\S+)')
_QUOTES: Final = str.maketrans("“”„«»「」", '"' * 7)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Clause:
    """Words that follow each other; when it is `open`, the last may be the beginning of a word."""

    words: tuple[str, ...]
    open: bool = False

    def ends_with(self, recent: "deque[Token]") -> Span | None:
        """Where the clause stands in the text, if the latest words of the text end with it."""
        count, last = len(self.words), recent[-1]
        if not (last.word.startswith(self.words[-1]) if self.open else last.word == self.words[-1]):
            return None
        if len(recent) < count:
            return None
        before = zip(range(-count, -1), self.words[:-1], strict=True)
        if any(recent[at].word != word for at, word in before):
            return None
        single = self.open and is_unspaced(self.words[-1])
        return recent[-count].start, last.start + 1 if single else last.end


def parse_query(query: str) -> tuple[Clause, ...]:
    """Each word and each quoted phrase is a clause, and a text must have all of them."""
    found: list[Clause] = []
    for chunk in _CHUNK.finditer(query[:LONGEST_QUERY].translate(_QUOTES)):
        quoted = chunk[1] is not None
        clause = _clause(chunk[1] if quoted else chunk[2], quoted)
        if clause and clause not in found:
            found.append(clause)
    return tuple(found[:MOST_CLAUSES])


def _clause(text: str, quoted: bool) -> Clause | None:
    words = [token.word for token in tokens(text)]
    if not words:
        return None
    last = words[-1]
    if not is_unspaced(last):
        return Clause(tuple(words), open=not quoted and len(last) >= SHORTEST_BEGINNING)
    # The last letter stands alone in the query, but need not in the text.
    if len(words) > 1 and len(words[-2]) == 2 and is_unspaced(words[-2]):
        return Clause(tuple(words[:-1]))
    return Clause(tuple(words), open=True)


def spans(text: str, clauses: Iterable[Clause]) -> Iterator[Span]:
    """Where the clauses stand in a text, in order of their ends; some may overlap."""
    clauses = tuple(clauses)
    recent: deque[Token] = deque(maxlen=max((len(clause.words) for clause in clauses), default=1))
    for token in tokens(text):
        recent.append(token)
        for clause in clauses:
            if span := clause.ends_with(recent):
                yield span
