"""Markdown that grows: what the page shows of it, and what each frame changes there.

In: pieces of text. Out: operations. The part's element has the id `key` and holds one element for
each top-level block, with the ids `key-0`, `key-1`, … What a line closes is final; what is still
open is drawn again with every frame, from a source shortened to what can still change.
"""

from typing import Final

from chat.rendering.highlight import LONG, highlight
from chat.rendering.streaming.chrome import ENGLISH, Labels, identify
from chat.rendering.streaming.draw import open_blocks
from chat.rendering.streaming.open_block import OpenBlock
from chat.rendering.streaming.operations import Op, joined
from chat.rendering.streaming.parse import TooComplex
from chat.rendering.streaming.shorten import (
    last_block,
    shorten,
    shorten_paragraph,
    without_definitions,
)
from chat.rendering.streaming.source import OpenSource, State

# A paragraph is shortened in the middle of a line once it has this many characters or lines.
_LONG_PARAGRAPH: Final = 640
_MANY_LINES: Final = 32
# An open block that could not be shortened below so many characters and lines is drawn as it was
# written; so is one of so many words without an end.
_LONGEST_OPEN: Final = 4000
_MOST_OPEN_LINES: Final = 64
_LONGEST_WORDS: Final = 32_000
# A text that was far more work than its length should be is drawn as it was written from there on.
# Work is counted in characters of markdown that are gone through; a piece, whatever its length, and
# a tag of its HTML are as much work as so many. A text may take so many, and so many more for each
# of its own.
_WORK_OF_A_PIECE: Final = 600
_WORK_OF_A_TAG: Final = 16
_WORK: Final = 1_500_000
_WORK_OF_A_CHARACTER: Final = 14
_WORK_OF_WHOLE_CHARACTER: Final = 4


class GrowingMarkdown:
    """The HTML of a text that is still growing, and the operations that keep a page up to it.

    `is_whole` says that all of the text is there already: then it is drawn in longer pieces."""

    def __init__(self, key: str, labels: Labels = ENGLISH, is_whole: bool = False) -> None:
        self.key = key
        self.labels = labels
        self.is_whole = is_whole
        self.links = ""  # definitions that are known before they are read
        self._work = 0
        self._received: list[str] = []
        self._closed: list[str] = []
        self._open: list[OpenBlock] = []
        self._source = OpenSource(is_whole)

    def html(self) -> str:
        """The inner HTML of the part, as a page loaded now would show it."""
        return "".join(self._blocks())

    def text(self) -> str:
        """What was received so far."""
        return "".join(self._received)

    def feed(self, delta: str) -> list[Op]:
        """Take more text; the operations bring a page from the HTML before to the HTML now."""
        delta = self._source.normalise(delta)
        self._received.append(delta)
        plain = self._grow_plainly(delta)
        if plain is not None:
            return plain
        if self._open:
            self._open[-1].plain = None
        ops: list[Op] = []
        for piece in self._source.cut(delta):
            self._source.add(piece.text)
            ops += self._show_source()
            if piece.is_whole:
                self._let_go_of_what_is_final()
        return joined(ops)

    def finished_blocks(self) -> list[str]:
        """The blocks, without ids, of a text of which nothing is to come."""
        if self._source.state is State.CODE:
            self.feed(self._source.closing_fence())
        self._show_source(finished=True)
        return [
            block.replace(f' id="{self.key}-{n}"', "", 1) for n, block in enumerate(self._blocks())
        ]

    def _blocks(self) -> list[str]:
        return [*self._closed, *(block.html() for block in self._open)]

    # --- showing what has come --------------------------------------------------------

    def _grow_plainly(self, delta: str) -> list[Op] | None:
        """Append words that nothing has to be drawn for; None if they are not that plain."""
        if not self._open or not self._source.has_room_for(delta):
            return None
        in_code = self._source.state is State.CODE
        ops = self._open[-1].append_plain(self._source.short, delta, in_code)
        if ops is not None:
            self._source.add(delta)
        return ops

    def _show_source(self, finished: bool = False) -> list[Op]:
        """Bring the open blocks on the page up to the source."""
        new = self._draw(self._source.short, first=len(self._closed), finished=finished)
        first = self._open[0] if self._open else None
        ops: list[Op] = []
        if first and not first.is_continued_by(new[0] if new else ""):
            # Only the first open block is ever shortened. What it has become does not go on from
            # what was let go of: a row of dashes has made a heading of a long paragraph.
            source = self._source.full()
            full = self._draw(source, first=len(self._closed), finished=finished)
            # A text that does this with every line would be drawn whole with every line.
            self._work += _work_of(source, full)
            new = full or [first.html()]
            ops = first.show_stopgap(new[0])
        elif first and new:
            ops = self._update(first, new[0]) + self._colour_closed_code(first)
        for block, html in zip(self._open[1:], new[1:], strict=False):
            ops += self._update(block, html)
        return ops + self._add_and_remove(new)

    def _update(self, block: OpenBlock, html: str) -> list[Op]:
        """Nobody follows how a whole text is drawn."""
        if not self.is_whole:
            return block.update(html)
        block.drawn, block.stopgap = html, None
        return []

    def _draw(self, source: str, first: int, finished: bool = False) -> list[str]:
        """The top-level blocks of an open source, with their ids; the first has this number."""
        found = open_blocks(source, self._source.state, self.labels, finished, self.links)
        return [identify(block, f"{self.key}-{first + n}") for n, block in enumerate(found)]

    def _add_and_remove(self, new: list[str]) -> list[Op]:
        """Append the blocks that are new, remove those that are gone."""
        count, first = len(self._open), len(self._closed)
        removed = [Op("remove", block.selector) for block in self._open[len(new) :]]
        del self._open[len(new) :]
        added = new[count:]
        for n, html in enumerate(added, start=first + count):
            self._open.append(OpenBlock(f"{self.key}-{n}", html))
        return removed + ([Op("append", f"#{self.key}", "".join(added))] if added else [])

    def _colour_closed_code(self, block: OpenBlock) -> list[Op]:
        """Code is coloured when its last line is in; long code waits for the end of the text."""
        if not (block.has_plain_code() and self._source.closes_code()):
            return []
        code = block.plain_code()
        if not code.language or (len(code.text) > LONG and not self.is_whole):
            return []
        return block.colour(highlight(code.text, code.language))

    # --- letting go of what is final --------------------------------------------------

    def _let_go_of_what_is_final(self) -> None:
        """Shorten the source; the page does not change by this."""
        if not self._source.grows_by_frames():
            self._count_work()
        try:
            if self._open:
                self._keep_stopgap()
                self._shorten()
            else:
                self._source.short = without_definitions(self._source.short)
        except TooComplex:
            self._source.state = State.AS_WRITTEN
        allowed = _WORK_OF_WHOLE_CHARACTER if self.is_whole else _WORK_OF_A_CHARACTER
        self._source.stays_as_written |= self._work > _WORK + allowed * self._source.length
        if self._has_too_much_open() or self._source.stays_as_written:
            self._source.state = State.AS_WRITTEN
        if self._source.state is State.AS_WRITTEN:
            self._go_on_from("")
            self._end_what_is_as_written()

    def _has_too_much_open(self) -> bool:
        """Whether so little could be let go of that every frame would cost more than the last."""
        short = self._source.short
        words = self._open[0].final_words if self._open else 0
        return (
            len(short) > _LONGEST_OPEN
            or short.count("\n") > _MOST_OPEN_LINES
            or words > _LONGEST_WORDS
        )

    def _count_work(self) -> None:
        work = _work_of(self._source.short, [block.drawn for block in self._open])
        # A piece that ends inside of a line is a long one: it comes in several frames.
        self._work += work if self._source.ends_a_line() else 2 * work

    def _end_what_is_as_written(self) -> None:
        """Behind an empty line, markdown is tried again."""
        if self._open and self._source.ends_as_written():
            self._closed += [block.html() for block in self._open]
            self._open = []
            self._source.begin_with("")
            self._source.state = State.MARKDOWN

    def _keep_stopgap(self) -> None:
        """What was shown in the place of a block for the rest of a line is the block now."""
        first = self._open[0]
        if first.stopgap is not None:
            self._source.short = self._source.full()
            self._open[0] = OpenBlock(first.id, first.stopgap)

    def _shorten(self) -> None:
        source = self._source
        if source.ends_a_line() and source.state is not State.AS_WRITTEN:
            self._close_blocks()
            self._go_on_from(shorten(source.short))
            source.state = State.CODE if self._is_in_code() else State.MARKDOWN
        is_long = len(source.short) > _LONG_PARAGRAPH or source.short.count("\n") > _MANY_LINES
        if is_long and source.state is State.MARKDOWN:
            self._go_on_from(shorten_paragraph(source.short))

    def _close_blocks(self) -> None:
        """All top-level blocks but the last are final, if the last can be drawn without them."""
        if len(self._open) < 2:
            return
        *others, last = self._open
        rest = last_block(self._source.short)
        if self._draw(rest, first=len(self._closed) + len(others)) == [last.drawn]:
            self._closed += [block.html() for block in others]
            self._open = [last]
            self._source.begin_with(rest)

    def _go_on_from(self, shorter: str) -> None:
        """Take a shorter source, if it draws the open end just as the present one does."""
        if shorter == self._source.short or len(self._open) != 1:
            return
        new = self._draw(shorter, first=len(self._closed))
        if len(new) == 1 and self._open[0].let_go(new[0]):
            self._source.short = shorter

    def _is_in_code(self) -> bool:
        """Whether code is open, and all of its lines that are whole have been let go of."""
        is_one_line = self._source.short.count("\n") == 1
        return is_one_line and len(self._open) == 1 and self._open[0].ends_in_code()


def _work_of(source: str, blocks: list[str]) -> int:
    """What it takes to draw a source, which became these blocks."""
    tags = sum(block.count("<") for block in blocks)
    return _WORK_OF_A_PIECE + len(source) + _WORK_OF_A_TAG * tags
