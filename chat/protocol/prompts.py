"""Prompts that are kept to be used again: what they are called, and the variables in their texts.

`{{name}}` is asked for before the text is used, `{{name:default}}` with a value to begin with, and
`{{date}}` is filled in by itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

LONGEST_NAME: Final = 40
LONGEST_TEXT: Final = 20_000
MOST_PROMPTS: Final = 200
MOST_VARIABLES: Final = 20
# A word: it is typed behind a slash, and a space ends it.
NAME: Final = re.compile(rf"[\w-]{{1,{LONGEST_NAME}}}")

_VARIABLE: Final = re.compile(r"\{\{[ \t]*([^{}:\s][^{}:\n]{0,39})(?::([^{}\n]{0,500}))?\}\}")
_DATES: Final = ("date", "日期")


@dataclass(frozen=True, slots=True)
class SavedPrompt:
    """One of one's own, or one that everybody may use."""

    id: str
    name: str
    text: str
    shared: bool = False

    @property
    def beginning(self) -> str:
        """Its first words, on one line."""
        return " ".join(self.text[:300].split())[:120]


@dataclass(frozen=True, slots=True)
class Words:
    """Text between variables."""

    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    default: str = ""

    @property
    def is_date(self) -> bool:
        return self.name.lower() in _DATES


Piece = Words | Variable


def parse_prompt(text: str) -> tuple[Piece, ...]:
    """The words and the variables of a text, in their order."""
    pieces: list[Piece] = []
    at = 0
    for found in _VARIABLE.finditer(text):
        if found.start() > at:
            pieces.append(Words(text[at : found.start()]))
        pieces.append(Variable(found[1].strip(), (found[2] or "").strip()))
        at = found.end()
    if at < len(text):
        pieces.append(Words(text[at:]))
    return tuple(pieces)


def asked_variables(pieces: Sequence[Piece]) -> tuple[Variable, ...]:
    """What has to be asked for: each name once, with the first default that there is for it."""
    asked: dict[str, str] = {}
    for piece in pieces:
        if isinstance(piece, Variable) and not piece.is_date:
            asked[piece.name] = asked.get(piece.name) or piece.default
    return tuple(Variable(name, default) for name, default in asked.items())
