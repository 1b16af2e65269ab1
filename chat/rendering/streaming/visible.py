"""What to show of a text that stops in the middle.

In: the source of the open blocks. Out: the source to draw now. Words that are shown stay. So what
may still turn into something else is held back until it is known: `text⏎-` may become a heading, an
item or a rule, so `text` is shown. Inside of a line, `marks.py` does the same.
"""

import re
from typing import Final

from chat.rendering.streaming.marks import close_marks

_CONTAINERS: Final = re.compile(r"[\s>]*(?:(?:[-+*]|\d{1,9}[.)])\s+)*")
_UNDECIDED: Final = re.compile(r"[\s\-=#*_>~|+`.:)\d]*+(?:\[(?:[ xX]?\]?)|\[![A-Za-z]*\]?)?\s*+")
_OPENING_FENCE: Final = re.compile(r"`{3}|~{3}")
_FENCED_LINE: Final = re.compile(r"(?:^|\n)[ \t>]*+(?:`{3}|~{3})")
_DEFINITION: Final = re.compile(r"\[[^\]]{1,200}\]:\s*+\S{0,600}+(?:\s++[\"'(].{0,200})?")
_DELIMITER_ROW: Final = re.compile(r"[\s>]*+[\s|:-]*+")
_BLOCK_START: Final = re.compile(r"\n(?=[ >]*(?:(?:[-+*]|\d{1,9}[.)]|#{1,6})\s|\|))")
_LONGEST_ROW: Final = 1000
_LONGEST_PARAGRAPH: Final = 4000


def visible(source: str, in_code: bool) -> str:
    """The part of an open source to draw now."""
    start = source.rfind("\n") + 1
    line = source[start:]
    if in_code:
        return source[:start] if line and not is_decided_code(line) else source
    if line and _is_undecided(line):
        source = source[:start]
    return _with_marks_closed(_without_table_head(source))


def is_decided_code(line: str) -> bool:
    """Whether a line in a block of code can no longer become its end."""
    return _UNDECIDED.fullmatch(line) is None


def _is_undecided(line: str) -> bool:
    """Whether the line is a marker, a fence or a definition so far: more may make it another."""
    inner = line[_end_of_containers(line) :]
    return (
        _UNDECIDED.fullmatch(line) is not None
        or _OPENING_FENCE.match(inner) is not None
        or _DEFINITION.fullmatch(inner) is not None
    )


def _end_of_containers(line: str) -> int:
    """Where the line's own words begin, behind the markers of quotes and items."""
    match = _CONTAINERS.match(line)
    return match.end() if match else 0


def _without_table_head(source: str) -> str:
    """A row of pipes is a table's head or plain text: the line below it says which."""
    end = source[-2 * _LONGEST_ROW :]
    if "|" not in end:
        return source
    lines = end.split("\n")
    if not lines[-1]:
        lines.pop()
    held = len(lines[-1])
    if _DELIMITER_ROW.fullmatch(lines[-1]) and len(lines) > 1 and not source.endswith("\n"):
        held += len(lines[-2]) + 1
        lines.pop()
    head = lines[-1][_end_of_containers(lines[-1]) :]
    above = lines[-2] if len(lines) > 1 else ""
    if not head.startswith("|") or "|" in above or len(head) > _LONGEST_ROW:
        return source
    return source[: len(source.rstrip("\n")) - held]


def _with_marks_closed(source: str) -> str:
    """Close what is open in the last paragraph, cell or heading."""
    if source.endswith("\n\n"):
        return source
    start = _start_of_words(source, _start_of_last_paragraph(source))
    words = source[start:]
    if words.startswith(("    ", "\t", "<")) or _has_fence(words):
        return source
    return source[:start] + close_marks(words)


def _has_fence(words: str) -> bool:
    return ("```" in words or "~~~" in words) and _FENCED_LINE.search(words) is not None


def _start_of_last_paragraph(source: str) -> int:
    window = max(0, len(source) - _LONGEST_PARAGRAPH)
    blank = source.rfind("\n\n", window)
    return blank + 2 if blank >= 0 else window


def _start_of_words(source: str, paragraph: int) -> int:
    """Where the words of the last item, heading or cell begin in the lines of a paragraph."""
    start = paragraph
    for match in _BLOCK_START.finditer(source, paragraph):
        start = match.end()
    line_end = source.find("\n", start)
    line = source[start : line_end if line_end >= 0 else len(source)]
    start += _end_of_containers(line) if not line.startswith("    ") else 0
    return source.rfind("|", start) + 1 if source.startswith("|", start) else start
