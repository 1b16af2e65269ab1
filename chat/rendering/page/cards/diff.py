"""Before and after of an edit: changed lines with a few around them, folded and bounded.

The lines of a block stand below each other, or side by side: what went to the left, what came to
the right. That is for the style sheet to decide, so a line that stayed is in the page twice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from chat.rendering.page.cards.compare import Change, changes
from chat.rendering.page.cards.word_diff import Piece, words

CONTEXT: Final = 3
# So much of a text is compared, and so much of what came out is drawn.
MOST_READ: Final = 1_500_000
MOST_DRAWN: Final = 800
MOST_CHARS: Final = 60_000
_LONGEST_LINE: Final = 2_000
# In so many pairs of lines the words are compared.
_MOST_PAIRS: Final = 300
# So many lines stand open; to fold away a few more would not be worth a click.
OPEN_LINES: Final = 24
_HARDLY_MORE: Final = 6


@dataclass(frozen=True, slots=True)
class Line:
    kind: Literal["same", "cut", "add"]
    number: int
    html: SafeString
    # Of a line that stayed: its number before.
    old_number: int = 0

    @property
    def sign(self) -> str:
        return {"cut": "−", "add": "+"}.get(self.kind, "")


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, after so many that are left out because nothing changed."""

    lines: tuple[Line, ...] = ()
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Diff:
    blocks: tuple[Block, ...]
    folded: tuple[Block, ...]
    added: int
    removed: int
    # Lines that are folded away, and changed lines that are not on the page at all.
    more: int = 0
    left_out: int = 0


def compare(before: str, after: str, first: int = 1) -> Diff:
    """`first` is the number of the first line in the file that the texts were taken from."""
    old, new = _lines(before, after), _lines(after, before)
    found = changes(old, new)
    room = _Room()
    blocks = list(_blocks(old, new, found, first, room))
    added = sum(change.new_to - change.new_from for change in found)
    removed = sum(change.old_to - change.old_from for change in found)
    open_blocks, folded = _fold(blocks)
    return Diff(
        blocks=tuple(open_blocks),
        folded=tuple(folded),
        added=added,
        removed=removed,
        more=sum(len(block.lines) for block in folded),
        left_out=added + removed - room.changed,
    )


def _lines(text: str, other: str) -> list[str]:
    """Ends of lines are only shown where they differ."""
    text = text[:MOST_READ]
    lines = text.replace("\r\n", "\n" if "\r\n" in other else "␍\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


@dataclass(slots=True)
class _Room:
    """How much may still be drawn."""

    lines: int = MOST_DRAWN
    chars: int = MOST_CHARS
    pairs: int = _MOST_PAIRS
    # Changed lines that were drawn.
    changed: int = 0

    def take(self, text: str) -> bool:
        self.lines -= 1
        self.chars -= min(len(text), _LONGEST_LINE)
        return self.lines >= 0 and self.chars >= 0

    @property
    def is_left(self) -> bool:
        return self.lines > 0 and self.chars > 0


def _blocks(
    old: list[str], new: list[str], found: list[Change], first: int, room: _Room
) -> Iterator[Block]:
    """Each change after what stayed before it; what stayed between two may be left out."""
    old_at = new_at = 0
    for change in found:
        if not room.is_left:
            return
        same = change.new_from - new_at
        after = min(CONTEXT, same) if new_at else 0
        gap = max(same - after - CONTEXT, 0)
        shift = change.old_from - change.new_from
        if gap:
            yield Block(_same(new, new_at, new_at + after, first, shift, room))
            yield Block(_same(new, new_at + after + gap, change.new_from, first, shift, room), gap)
        else:
            yield Block(_same(new, new_at, change.new_from, first, shift, room))
        yield Block(tuple(_changed(old, new, change, first, room)))
        old_at, new_at = change.old_to, change.new_to
    if found and room.is_left:
        rest = len(new) - new_at
        shift = old_at - new_at
        yield Block(_same(new, new_at, new_at + min(CONTEXT, rest), first, shift, room))
        yield Block(gap=max(rest - CONTEXT, 0))


def _same(
    new: list[str], start: int, end: int, first: int, shift: int, room: _Room
) -> tuple[Line, ...]:
    return tuple(
        Line("same", first + at, _html([(False, new[at])], ""), first + at + shift)
        for at in range(start, end)
        if room.take(new[at])
    )


def _changed(
    old: list[str], new: list[str], change: Change, first: int, room: _Room
) -> Iterator[Line]:
    """What went, then what came; a line that took the place of another is compared with it."""
    came: list[Line] = []
    rows = max(change.old_to - change.old_from, change.new_to - change.new_from)
    for at in range(rows):
        was = old[change.old_from + at] if change.old_from + at < change.old_to else None
        now = new[change.new_from + at] if change.new_from + at < change.new_to else None
        pieces = None
        if was is not None and now is not None and room.pairs > 0:
            room.pairs -= 1
            pieces = words(was, now)
        left, right = pieces or ([(False, was or "")], [(False, now or "")])
        if was is not None and room.take(was):
            room.changed += 1
            yield Line("cut", first + change.old_from + at, _html(left, "del"))
        if now is not None and room.take(now):
            room.changed += 1
            came.append(Line("add", first + change.new_from + at, _html(right, "ins")))
        if not room.is_left:
            break
    yield from came


def _html(pieces: list[Piece], tag: str) -> SafeString:
    """Safe HTML of a line; a very long one is cut off."""
    made: list[str] = []
    room = _LONGEST_LINE
    for differs, text in pieces:
        shown = escape(text[:room].replace("\r", "␍"))
        made.append(f"<{tag}>{shown}</{tag}>" if differs and tag else shown)
        room -= len(text)
        if room < 0:
            made.append("…")
            break
    return mark_safe("".join(made))


def _fold(blocks: list[Block]) -> tuple[list[Block], list[Block]]:
    blocks = [block for block in blocks if block.lines or block.gap]
    if sum(len(block.lines) for block in blocks) <= OPEN_LINES + _HARDLY_MORE:
        return blocks, []
    room = OPEN_LINES
    for index, block in enumerate(blocks):
        if len(block.lines) > room:
            head, rest = _halves(block, room)
            return [*blocks[:index], head], [rest, *blocks[index + 1 :]]
        room -= len(block.lines)
    return blocks, []


def _halves(block: Block, room: int) -> tuple[Block, Block]:
    """Cut so that lines which stand side by side stay together."""
    cut = [line for line in block.lines if line.kind == "cut"]
    others = [line for line in block.lines if line.kind != "cut"]
    rows = max(room // 2 if cut and others else room, 1)
    return (
        Block((*cut[:rows], *others[:rows]), block.gap),
        Block((*cut[rows:], *others[rows:])),
    )
