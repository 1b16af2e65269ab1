"""A text that grows on one page: only what is new is sent."""

from chat.protocol.parts import ReasoningPart, TextPart
from chat.rendering import dom, swap
from chat.rendering.markdown import StreamingMarkdown, StreamingText
from chat.rendering.prose import labels

Text = TextPart | ReasoningPart


class LiveText:
    """What a page shows of an open text, by the number of characters it was given."""

    def __init__(self, part: Text, message: int, position: int) -> None:
        self.part = part
        self.element = dom.part_id(message, position)
        self.length = 0
        self.stream: StreamingMarkdown | StreamingText
        if isinstance(part, TextPart):
            self.stream = StreamingMarkdown(self.element, labels=labels())
        else:
            self.stream = StreamingText(dom.thought_id(message, position), labels=labels())

    def skip(self, text: str) -> None:
        """The page shows this much already."""
        self.stream.feed(text)
        self.length += len(text)

    def grow(self, delta: str) -> str:
        """The fragments of more text, and how far the page has come with them."""
        ops = self.stream.feed(delta)
        self.length += len(delta)
        if not ops:
            return ""
        return swap.cursor(self.element, self.length) + "".join(op.fragment() for op in ops)

    def finish(self) -> str:
        return "".join(op.fragment() for op in self.stream.finish())
