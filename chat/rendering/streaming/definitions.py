"""What a long text says once for all of it: the addresses of its links, and its footnotes.

In: a text that is drawn in pieces. Out: what each piece has to know of the others. In a text that
ends with `[home]: http://a.example`, every piece is drawn behind that line; of a text with a line
`[^a]: It is.` that line goes to the end, and `<p>so[^a]</p>` is `<p>so<sup>1</sup></p>` then.

Lines of code only look like definitions, so code is found first, and stays as it is.
"""

import html
import re
from collections.abc import Iterable
from typing import Final

from chat.rendering.streaming.fences import FENCED

_LINK: Final = re.compile(
    rf"{FENCED}|(?P<link>^ {{0,3}}\[[^\]^\n][^\]\n]{{0,200}}+\]:[ \t]*+\S[^\n]{{0,600}}+$)", re.M
)
# A note goes on with indented lines, behind empty ones as well, and with plain words below it.
_NOTE: Final = re.compile(
    rf"{FENCED}|(?P<note>^ {{0,3}}\[\^(?P<label>[^\]\s]{{1,100}}+)\]:[^\n]*+"
    r"(?:\n(?:[ \t]++\S|[^\W\d]|\d++(?![.)\d]))[^\n]*+)*+"
    r"(?:\n(?:[ \t]*+\n)*+(?: {4}| {0,3}\t)[ \t]*+\S[^\n]*+)*+)\n?",
    re.M,
)
# In HTML: what is no text to be read, or a reference.
_REFERENCE: Final = re.compile(
    r"<(?P<code>code|math|pre)\b.*?</(?P=code)>"
    r"""|<[^"<>]*+(?:"[^"]*+"[^"<>]*+)*+>"""
    r"|\[\^(?P<label>[^\]\s<]{1,100}+)\]",
    re.S,
)
_LONGEST: Final = 4000


def links(text: str) -> str:
    """The lines that define links, as many as every piece can be drawn behind."""
    if "]:" not in text:
        return ""
    lines: list[str] = []
    left = _LONGEST
    for match in _LINK.finditer(text):
        if match["link"]:
            left -= len(match[0]) + 1
            if left < 0:
                break
            lines.append(match[0] + "\n")
    return "".join(lines) + "\n" if lines else ""


def without_notes(text: str) -> tuple[str, dict[str, str]]:
    """The text without its footnotes, and these by their labels."""
    notes: dict[str, str] = {}

    def take(match: re.Match[str]) -> str:
        if not match["note"]:
            return match[0]
        notes.setdefault(match["label"].lower(), match["note"])
        return "\n"

    return (_NOTE.sub(take, text) if "[^" in text else text), notes


def numbered(blocks: Iterable[str], notes: dict[str, str]) -> tuple[list[str], str]:
    """Drawn blocks with the numbers of their footnotes, and a text of nothing but these, in this
    order. Notes that nothing refers to are last: what refers to them may be drawn as written."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        label = html.unescape(match["label"] or "").lower()
        if label not in notes:
            return match[0]
        n = numbers.setdefault(label, len(numbers) + 1)
        return f'<sup class="footnote-ref">{n}</sup>'

    drawn = [_REFERENCE.sub(number, block) for block in blocks]
    labels = [*numbers, *(label for label in notes if label not in numbers)]
    references = "".join(f"[^{label}]" for label in labels)
    return drawn, references + "\n\n" + "\n\n".join(notes[label] for label in labels)
