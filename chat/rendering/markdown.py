"""Markdown as it is streamed, and as it is reloaded: the same HTML, whichever way it came.

The part's element has the id `key` and holds one element for each top-level block, with the ids
`key-0`, `key-1`, … A text is drawn line by line: what a line closes is final, what is still
open is drawn again from a source shortened to what can change. So the HTML of an open text
depends on the text only, not on how it was cut, and a frame costs the same at any length.
"""

import html as html_escapes
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from chat.rendering.blocks import TooComplex, slices
from chat.rendering.chrome import ENGLISH, Labels, identify
from chat.rendering.code import LONG, highlight
from chat.rendering.outline import (
    last_block,
    outline,
    shorten,
    shorten_paragraph,
    without_definitions,
)
from chat.rendering.patch import Op, Shown
from chat.rendering.sanitize import LineEnds, escape, plain
from chat.rendering.unfinished import closes_code, end_of_code, visible

__all__ = ["ENGLISH", "Labels", "Op", "StreamingMarkdown", "StreamingText", "render",
           "render_part"]  # fmt: skip

# A line without an end is shortened now and then too, at places that do not depend on the cuts.
_STRIDE: Final = 256
_PARAGRAPH: Final = 640
_KEPT: Final = 64
_PATIENCE: Final = 2400
_LONG: Final = 4000
_LONGEST_OPEN: Final = 8000
_CODE_BEGUN: Final = re.compile(r'<code(?: class="language-([^"]*)")?>\Z')
_OPEN_CODE: Final = re.compile(r"</code></pre></figure>(?:</[a-z0-9]+>)*\Z")


def render(text: str, labels: Labels = ENGLISH) -> str:
    """The whole text as safe HTML."""
    return "".join(_slices(plain(text), labels))


def render_part(text: str, key: str, labels: Labels = ENGLISH) -> str:
    """The inner HTML of a finished part, with the ids that the stream gave it."""
    return "".join(_identified(text, key, labels))


def _slices(text: str, labels: Labels) -> list[str]:
    return list(_remembered(text, labels)) if len(text) >= _LONG else _drawn(text, labels)


@lru_cache(maxsize=32)
def _remembered(text: str, labels: Labels) -> list[str]:
    """A long text is drawn once for all its readers."""
    return _drawn(text, labels)


def _drawn(text: str, labels: Labels) -> list[str]:
    try:
        return slices(text, labels)
    except TooComplex:
        return [_as_written(text)]


def _as_written(text: str) -> str:
    return f'<pre class="plain" tabindex="0">{_guard_newline(escape(text))}</pre>'


def _guard_newline(escaped: str) -> str:
    # A parser drops the newline that follows <pre>.
    return "\n" + escaped if escaped.startswith("\n") else escaped


class StreamingMarkdown:
    """The HTML of a text that is still growing, and the operations that keep a page up to it."""

    def __init__(self, key: str, labels: Labels = ENGLISH) -> None:
        self.key = key
        self.labels = labels
        self._received: list[str] = []
        self._lines = LineEnds()
        self._closed: list[str] = []
        self._open: list[Shown] = []
        self._source = ""  # of the open blocks, shortened
        self._block: list[str] = []  # the same, in full
        self._column = 0
        self._in_code = False
        self._plain = False

    def html(self) -> str:
        """The inner HTML of the part, as a page loaded now would show it."""
        return "".join([*self._closed, *(shown.whole() for shown in self._open)])

    def text(self) -> str:
        """What was received so far."""
        return "".join(self._received)

    def feed(self, delta: str) -> list[Op]:
        """Take more text; the operations bring a page from the HTML before to the HTML now."""
        delta = self._lines.take(delta)
        self._received.append(delta)
        ops: list[Op] = []
        for piece, ends in self._strides(delta):
            self._source += piece
            self._block.append(piece)
            self._column = 0 if piece.endswith("\n") else self._column + len(piece)
            ops += self._draw()
            if ends:
                self._shorten()
        return _joined(ops)

    def finish(self) -> list[Op]:
        """Render the whole once and put right what the end has changed."""
        final = _identified(self.text(), self.key, self.labels)
        shown = [*self._closed, *(each.whole() for each in self._open)]
        self._closed = []
        self._open = [Shown(f"{self.key}-{n}", piece) for n, piece in enumerate(shown)]
        ops: list[Op] = []
        for each, new in zip(self._open, final, strict=False):
            ops += each.update(new)
        ops += self._resize(final)
        self._closed, self._open = final, []
        return _joined(ops)

    def _strides(self, delta: str) -> Iterator[tuple[str, bool]]:
        """Cut at the ends of lines and at every stride of a long line."""
        at = 0
        while at < len(delta):
            if self._in_code and not self._column:
                lines = end_of_code(self._source, delta, at)
                if lines > at:
                    yield delta[at:lines], True
                    at = lines
                    continue
            column = self._column % _STRIDE
            stop = min(len(delta), at + _STRIDE - column)
            newline = delta.find("\n", at, stop)
            end = newline + 1 if newline >= 0 else stop
            yield delta[at:end], newline >= 0 or stop == at + _STRIDE - column
            at = end

    def _draw(self) -> list[Op]:
        new = self._render(self._source)
        first = self._open[0] if self._open else None
        ops: list[Op] = []
        if first and first.bare and not (new and first.fits(new[0])):
            new = self._render("".join(self._block)) or [first.whole()]
            ops += first.show_instead(new[0])
        elif first and new:
            ops += first.update(new[0]) + self._colour_closed_code(first)
        for shown, html in zip(self._open[1:], new[1:], strict=False):
            ops += shown.update(html)
        return ops + self._resize(new)

    def _render(self, source: str) -> list[str]:
        """The open blocks as elements with their ids."""
        try:
            if self._plain:
                raise TooComplex
            found = slices(visible(source, self._in_code), self.labels, finished=False)
        except TooComplex:
            found = [_as_written(source)]
        first = len(self._closed)
        return [identify(piece, f"{self.key}-{first + n}") for n, piece in enumerate(found)]

    def _resize(self, new: list[str]) -> list[Op]:
        """Append the elements that are new, remove those that are gone."""
        first, count = len(self._closed), len(self._open)
        gone = [Op("remove", f"#{shown.id}") for shown in self._open[len(new) :]]
        del self._open[len(new) :]
        self._open += [Shown(f"{self.key}-{first + n}", new[n]) for n in range(count, len(new))]
        added = "".join(new[count:])
        return gone + ([Op("append", f"#{self.key}", added)] if added else [])

    def _colour_closed_code(self, first: Shown) -> list[Op]:
        """Code is coloured when its last line is in; long code waits for the end."""
        frame = _CODE_BEGUN.search(first.html[: first.bare])
        if frame is None or first.coloured or not closes_code(self._source):
            return []
        plain_code = "".join(first.head).rpartition("<code")[2].partition(">")[2]
        code, language = html_escapes.unescape(plain_code), html_escapes.unescape(frame[1] or "")
        if not language or len(code) > LONG:
            return []
        return first.colour(highlight(code, language))

    def _shorten(self) -> None:
        """Let go of what is final."""
        first = self._open[0] if self._open else None
        if first is None:
            self._source = without_definitions(self._source)
            return
        if first.instead is not None:
            self._source = "".join(self._block)
            self._open[0] = Shown(first.id, first.instead)
        try:
            if self._source.endswith("\n") and not self._plain:
                self._close_blocks()
                self._settle(shorten(self._source))
                self._in_code = self._has_open_code()
            if len(self._source) > _PARAGRAPH and not self._in_code and not self._plain:
                self._settle(shorten_paragraph(self._source, _KEPT, _PATIENCE))
        except TooComplex:
            self._plain = True
        # Nothing could be let go of for long: every frame would cost more than the last.
        self._plain = self._plain or len(self._source) > _LONGEST_OPEN
        if self._plain:
            self._settle("")

    def _close_blocks(self) -> None:
        """All top-level blocks but the last are final."""
        if len(self._open) < 2:
            return
        rest = last_block(self._source, outline(self._source))
        before, self._closed = self._closed, [*self._closed, *(s.whole() for s in self._open[:-1])]
        if self._render(rest) == [self._open[-1].html]:
            self._open, self._source, self._block = self._open[-1:], rest, [rest]
        else:
            self._closed = before

    def _settle(self, source: str) -> None:
        """Go on from a shorter source, if it draws the open end just as this one does."""
        if source != self._source and len(self._open) == 1:
            new = self._render(source)
            if len(new) == 1 and self._open[0].settle(new[0]):
                self._source = source

    def _has_open_code(self) -> bool:
        return (
            self._source.count("\n") == 1
            and len(self._open) == 1
            and _OPEN_CODE.search(self._open[0].html) is not None
        )


class StreamingText:
    """Thinking: plain text while it grows, markdown when it is done."""

    def __init__(self, key: str, labels: Labels = ENGLISH) -> None:
        self.key = key
        self.labels = labels
        self._received: list[str] = []
        self._lines = LineEnds()
        self._final: str | None = None

    def text(self) -> str:
        """What was received so far."""
        return "".join(self._received)

    def html(self) -> str:
        """The inner HTML of the part, as a page loaded now would show it."""
        if self._final is not None:
            return self._final
        text = self.text()
        return f'<div id="{self.key}-0" class="plain">{escape(text)}</div>' if text else ""

    def feed(self, delta: str) -> list[Op]:
        """Take more text and append it."""
        begun = bool(self._received)
        delta = self._lines.take(delta)
        if not delta:
            return []
        self._received.append(delta)
        if begun:
            return [Op("append", f"#{self.key}-0", escape(delta))]
        return [Op("append", f"#{self.key}", self.html())]

    def finish(self) -> list[Op]:
        """Draw the text as markdown."""
        pieces = _identified(self.text(), self.key, self.labels)
        self._final = "".join(pieces)
        if not self._received:
            return []
        if not pieces:
            return [Op("remove", f"#{self.key}-0")]
        more = "".join(pieces[1:])
        first = Op("replace", f"#{self.key}-0", pieces[0])
        return [first, Op("append", f"#{self.key}", more)] if more else [first]


def _identified(text: str, key: str, labels: Labels) -> list[str]:
    found = _slices(plain(text), labels)
    return [identify(piece, f"{key}-{n}") for n, piece in enumerate(found)]


def _joined(ops: list[Op]) -> list[Op]:
    """Appends to the same element, one after the other, are one append."""
    made: list[Op] = []
    for op in ops:
        last = made[-1] if made else None
        if last and op.kind == last.kind == "append" and op.target == last.target:
            made[-1] = Op("append", op.target, last.html + op.html)
        else:
            made.append(op)
    return made
