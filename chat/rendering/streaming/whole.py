"""A text that is finished as HTML, with the ids that the stream gave it.

In: a text, and the id of the element it stands in. Out: the inner HTML of that element. For example
`render_part("# Hi⏎⏎there", "p7")` is `<h1 id="p7-0">Hi</h1><p id="p7-1">there</p>`.

A text of ordinary length is drawn at once. A long one, and one that is too complex to be drawn at
once, is drawn in pieces, by the same steps as one that grows: so what is ever drawn at once is
short, and drawing takes a time that goes with the length, whatever the text.
"""

from functools import lru_cache
from typing import Final

from chat.rendering.streaming.blocks import safe_blocks
from chat.rendering.streaming.chrome import ENGLISH, Labels, identify, with_few_frames
from chat.rendering.streaming.definitions import links, numbered, without_notes
from chat.rendering.streaming.draw import as_written
from chat.rendering.streaming.markdown import GrowingMarkdown
from chat.rendering.streaming.normalise import normalise
from chat.rendering.streaming.parse import TooComplex

_AT_ONCE: Final = 8000
_LONG: Final = 4000


def render_part(text: str, key: str, labels: Labels = ENGLISH) -> str:
    """The inner HTML of a finished part, with the ids that the stream gave it."""
    return "".join(identified_blocks(text, key, labels))


def identified_blocks(text: str, key: str, labels: Labels) -> list[str]:
    """The same, one string for each top-level block."""
    return [identify(block, f"{key}-{n}") for n, block in enumerate(whole_blocks(text, labels))]


def whole_blocks(text: str, labels: Labels = ENGLISH) -> tuple[str, ...]:
    """The top-level blocks of a text without ids."""
    text = normalise(text)
    return _remembered(text, labels) if len(text) >= _LONG else _blocks(text, labels)


def _blocks(text: str, labels: Labels) -> tuple[str, ...]:
    return tuple(with_few_frames(_all_blocks(text, labels)))


def _all_blocks(text: str, labels: Labels) -> tuple[str, ...]:
    if len(text) <= _AT_ONCE:
        try:
            return tuple(safe_blocks(text, labels))
        except TooComplex:
            pass
    words, notes = without_notes(text)
    pieces = _in_pieces(words, labels)
    if not notes:
        return tuple(pieces)
    pieces, last = numbered(pieces, notes)
    return (*pieces, *_footnotes(last, labels))


def _in_pieces(text: str, labels: Labels) -> list[str]:
    pieces = GrowingMarkdown("", labels, is_whole=True)
    pieces.links = links(text)
    pieces.feed(text)
    return pieces.finished_blocks()


def _footnotes(notes: str, labels: Labels) -> list[str]:
    """The footnotes alone, without the paragraph that refers to them; very long ones as written."""
    try:
        return [block for block in safe_blocks(notes, labels) if block.startswith("<section")]
    except TooComplex:
        return [as_written(notes.partition("\n\n")[2])]


# A long text is drawn once for all its readers.
_remembered: Final = lru_cache(maxsize=32)(_blocks)
