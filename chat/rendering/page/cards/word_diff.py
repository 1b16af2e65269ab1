"""Two lines, one in the place of the other: which of their words differ."""

import re
from difflib import SequenceMatcher
from typing import Final

# A word, a Chinese character, some space, or any other sign.
_WORD: Final = re.compile(r"[\u3000-\u9fff\uff00-\uffef]|[^\W\u3000-\u9fff]+|\s+|.", re.S)
# Longer lines are not looked into.
_LONGEST: Final = 500
_MOST_WORDS: Final = 160
# Lines that have less in common are simply other lines.
_LEAST_ALIKE: Final = 0.4

# Whether it differs, and the words.
Piece = tuple[bool, str]


def words(old: str, new: str) -> tuple[list[Piece], list[Piece]] | None:
    """The pieces of both lines; None where nothing is gained by looking into them."""
    if max(len(old), len(new)) > _LONGEST:
        return None
    before, after = _WORD.findall(old), _WORD.findall(new)
    if max(len(before), len(after)) > _MOST_WORDS:
        return None
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _LEAST_ALIKE:
        return None
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        differs = tag != "equal"
        if old_from < old_to:
            left.append((differs, "".join(before[old_from:old_to])))
        if new_from < new_to:
            right.append((differs, "".join(after[new_from:new_to])))
    return left, right
