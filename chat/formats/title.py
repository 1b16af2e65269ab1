"""Titles of conversations: one line, cut at a word."""

import re
from typing import Final

from chat.protocol.text import clean_text

LONGEST: Final = 60

_THINKING: Final = re.compile(r"<think>.*?(</think>|\Z)", re.DOTALL)
_PREFIX: Final = re.compile(r"^(the )?(title|标题|題目)\s*[:：]\s*", re.IGNORECASE)
_AROUND: Final = " \t\"'`*_#“”‘’「」『』《》«»"
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


def cut_title(line: str) -> str:
    """A line of at most `LONGEST` characters, cut after a word where there is one to cut after."""
    if len(line) <= LONGEST:
        return line
    cut = line[: LONGEST - 1]
    word = cut.rfind(" ")
    return (cut[:word] if word > LONGEST // 2 else cut) + "…"
