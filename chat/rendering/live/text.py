"""A text that grows on a page: only what is new is sent, and it is drawn once for all pages."""

import threading
from weakref import WeakValueDictionary

from chat.protocol.parts import ReasoningPart, TextPart
from chat.rendering.live import swap
from chat.rendering.page import dom
from chat.rendering.page.prose import labels
from chat.rendering.streaming import Labels, Op, StreamingMarkdown, StreamingText

Text = TextPart | ReasoningPart

# So many frames are kept for pages that are a little behind the others.
REMEMBERED = 256
# A frame of more than this takes too long for the event loop; every line is a step of its own.
LONG_DELTA = 500
MANY_LINES = 20


def is_long(delta: str) -> bool:
    """Whether so much came at once that a thread should draw it."""
    return len(delta) > LONG_DELTA or delta.count("\n") > MANY_LINES


class Drawing:
    """A text as it is drawn, frame by frame, for all pages that are told it in the same pieces.

    What a frame changes depends on the text before it, on the text it adds and on the language,
    and on nothing else of a page. A drawing is used by the event loop and by the threads that
    draw aside, so whoever adds to it holds its lock.
    """

    def __init__(self, part: Text, message: int, position: int, words: Labels, text: str) -> None:
        self.element = dom.part_id(message, position)
        self.length = len(text)
        self._of = part, message, position, words
        self._stream: StreamingMarkdown | StreamingText
        if isinstance(part, TextPart):
            self._stream = StreamingMarkdown(self.element, labels=words)
        else:
            self._stream = StreamingText(dom.thought_id(message, position), labels=words)
        self._stream.feed(text)
        self._received = [text]
        # By the length before it: what a frame added to the text, and its fragments.
        self._frames: dict[int, tuple[str, str]] = {}
        self._end: str | None = None
        self._lock = threading.Lock()

    def text(self, length: int) -> str:
        """The beginning of the text."""
        return "".join(self._received)[:length]

    def up_to(self, length: int) -> "Drawing":
        """A drawing of its own of the beginning of this text."""
        return Drawing(*self._of, self.text(length))

    def shows(self, beginning: str) -> bool:
        """Whether pages that show this are among those it is drawn for."""
        length = len(beginning)
        return self.goes_on_from(length) and self.text(length) == beginning

    def goes_on_from(self, length: int) -> bool:
        """Whether a frame was drawn, or can be, for a page that shows so much of the text."""
        return length == self.length or length in self._frames

    def grow(self, length: int, delta: str) -> str | None:
        """What is sent to a page that shows so much of the text; nothing where the text has gone
        on in other pieces."""
        frame = self._frames.get(length)
        if frame is None:
            return self._add(length, delta)
        return frame[1] if frame[0] == delta else None

    def drawn(self, length: int, delta: str) -> str | None:
        """What `grow` gives, where somebody else was sent it already."""
        frame = self._frames.get(length)
        return frame[1] if frame is not None and frame[0] == delta else None

    def is_slow(self, length: int, delta: str) -> bool:
        """Whether `grow` would draw much, or wait for somebody who does."""
        frame = self._frames.get(length)
        if frame is None and length == self.length:
            return is_long(delta) or self._lock.locked()
        # Without the frame, the text is drawn again from its beginning.
        return frame is None or frame[0] != delta

    def _add(self, length: int, delta: str) -> str | None:
        """Draw more of the text, unless somebody else has just done so."""
        with self._lock:
            if length != self.length or self._end is not None:
                return None
            ops = self._stream.feed(delta)
            cursor = swap.cursor(self.element, length + len(delta))
            fragments = cursor + _fragments(ops) if ops else ""
            self._received.append(delta)
            self._frames[length] = delta, fragments
            if len(self._frames) > REMEMBERED:
                del self._frames[next(iter(self._frames))]
            self.length += len(delta)
            return fragments

    def finish(self) -> str:
        """What is sent to a page that shows all of the text, at its end."""
        with self._lock:
            if self._end is None:
                self._end = _fragments(self._stream.finish())
            return self._end


def _fragments(ops: list[Op]) -> str:
    return "".join(op.fragment() for op in ops)


class Shared:
    """The drawing of a text that is furthest on, as long as a page shows the text."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing


_shared: WeakValueDictionary[tuple[str, str, Labels], Shared] = WeakValueDictionary()


class LiveText:
    """What a page shows of an open text, by the number of characters it was given."""

    def __init__(self, part: Text, message: int, position: int, shown: str) -> None:
        self.part = part
        self.length = len(shown)
        self.element = dom.part_id(message, position)
        words = labels()
        key = part.id, self.element, words
        shared = _shared.get(key)
        if shared is not None and shared.drawing.shows(shown):
            self._drawing = shared.drawing
        else:
            self._drawing = Drawing(part, message, position, words, shown)
        self._shared = shared or _shared.setdefault(key, Shared(self._drawing))
        self._share()

    def text(self) -> str:
        return self._drawing.text(self.length)

    def grow(self, delta: str) -> str:
        """The fragments of more text, and how far the page has come with them."""
        self._join()
        fragments = self._drawing.grow(self.length, delta)
        if fragments is None:
            self._drawing = self._drawing.up_to(self.length)
            fragments = self._drawing.grow(self.length, delta)
        self.length += len(delta)
        self._share()
        return fragments or ""

    def grow_at_once(self, delta: str) -> str | None:
        """The same where it takes no time; else nothing, and the page is where it was."""
        fragments = self._drawing.drawn(self.length, delta)
        if fragments is None:
            return None if self.is_slow(delta) else self.grow(delta)
        self.length += len(delta)
        return fragments

    def is_slow(self, delta: str) -> bool:
        """Whether growing by this takes so long that a thread should do it."""
        self._join()
        return self._drawing.is_slow(self.length, delta)

    def finish(self) -> str:
        if self._drawing.length != self.length:
            self._drawing = self._drawing.up_to(self.length)
        return self._drawing.finish()

    def _join(self) -> None:
        """Go on with the others, once they have come to what this page shows."""
        drawing = self._shared.drawing
        if drawing is self._drawing or not drawing.goes_on_from(self.length):
            return
        if drawing.shows(self.text()):
            self._drawing = drawing

    def _share(self) -> None:
        if self._shared.drawing.length < self._drawing.length:
            self._shared.drawing = self._drawing
