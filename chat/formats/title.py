"""Titles of conversations: one line, cut at a word."""

import re
from typing import Final

from chat.protocol.text import clean_text

LONGEST: Final = 60

_THINKING: Final = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_PREFIX: Final = re.compile(r"^(the )?(title|标题|題目)\s*[:：]\s*", re.IGNORECASE)
_AROUND: Final = " \t\"'`*_#“”‘’「」『』《》«»"
_MOST_WORDS: Final = 10
# What is no title: an excuse, an answer, a placeholder.
_NO_TITLE: Final = re.compile(
    r"(sorry|i |i['’]|as an ai|sure\b|okay\b|here (is|are)|certainly|untitled|hello\b"
    r"|new (chat|conversation)|conversation( title)?$|title$|chat$|none$|n/a$"
    r"|抱歉|对不起|当然|好的|无标题|新对话)",
    re.IGNORECASE,
)
_AT_END: Final = ".。,，;；"


def title_from(text: str) -> str:
    """The first line of a text as a title."""
    lines = text.strip().splitlines()
    return cut_title(" ".join(lines[0].split())) if lines else ""


def title_from_answer(answer: str) -> str:
    """The title in a model's answer, without what models put around it; may be empty."""
    text = _THINKING.sub("", clean_text(answer))
    line = next((line for line in text.splitlines() if line.strip(_AROUND)), "")
    line = _PREFIX.sub("", " ".join(line.split()).strip(_AROUND)).strip(_AROUND)
    return cut_title(line.rstrip(_AT_END).strip(_AROUND))


def is_better(title: str, made: str, said: str) -> bool:
    """Whether a model's title says more than the first words: small models answer the question,
    excuse themselves or name something else. `said` is what the conversation is about."""
    words = title.split()
    if not title or title.endswith("…") or len(words) > _MOST_WORDS or _NO_TITLE.match(title):
        return False
    if _plain(title) == _plain(made):
        return False
    return bool(_terms(title) & _terms(said))


def _plain(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


def _terms(text: str) -> set[str]:
    """What two texts can have in common: the beginnings of their words, and Chinese characters."""
    found = {word[:5] for word in re.findall(r"[^\W\d_]{3,}|\d+", text.lower())}
    return found | {character for character in text if character > "\u2e7f"}


def cut_title(line: str) -> str:
    """A line of at most `LONGEST` characters, cut after a word where there is one to cut after."""
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    word = cut.rfind(" ")
    return (cut[:word] if word > LONGEST // 2 else cut) + "…"
