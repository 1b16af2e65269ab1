"""Whether a question is so long that it is folded: its first lines, and a button for the rest.

Decided here and not by measuring on the page, so that every page of every width begins alike and
nothing moves after it was drawn.
"""

from math import ceil
from typing import Final
from unicodedata import east_asian_width

# About so many characters stand in a line of a question on a wide screen.
LINE: Final = 70
MOST_LINES: Final = 12


def is_long(text: str) -> bool:
    """Whether it takes more than about a dozen lines. Empty ones take hardly any room."""
    count = 0
    for line in text.splitlines():
        count += ceil(_width(line.strip()) / LINE)
        if count > MOST_LINES:
            return True
    return False


def _width(line: str) -> int:
    if line.isascii() or len(line) > LINE * MOST_LINES:
        return len(line)
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in line)
