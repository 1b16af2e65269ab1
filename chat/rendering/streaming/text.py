"""Thinking: plain text while it grows, markdown when it is done.

In: pieces of text. Out: appends of that text, and at the end one replacement by the markdown.
"""

from chat.rendering.sanitize import escape
from chat.rendering.streaming.chrome import ENGLISH, Labels
from chat.rendering.streaming.normalise import Normaliser
from chat.rendering.streaming.operations import Op
from chat.rendering.streaming.whole import identified_blocks


class StreamingText:
    """The HTML of a plain text that is still growing, and the operations that show it."""

    def __init__(self, key: str, labels: Labels = ENGLISH) -> None:
        self.key = key
        self.labels = labels
        self._received: list[str] = []
        self._normaliser = Normaliser()
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
        is_first = not self._received
        delta = self._normaliser.take(delta)
        if not delta:
            return []
        self._received.append(delta)
        if is_first:
            return [Op("append", f"#{self.key}", self.html())]
        return [Op("append", f"#{self.key}-0", escape(delta))]

    def finish(self) -> list[Op]:
        """Draw the text as markdown."""
        blocks = identified_blocks(self.text(), self.key, self.labels)
        self._final = "".join(blocks)
        if not self._received:
            return []
        if not blocks:
            return [Op("remove", f"#{self.key}-0")]
        first, more = Op("replace", f"#{self.key}-0", blocks[0]), "".join(blocks[1:])
        return [first, Op("append", f"#{self.key}", more)] if more else [first]
