"""An answer that grows, up to its end.

In: pieces of text, then the word that it is whole. Out: operations, the last of which put right
what only the end could tell.
"""

from chat.rendering.streaming.markdown import GrowingMarkdown
from chat.rendering.streaming.open_block import OpenBlock
from chat.rendering.streaming.operations import Op, joined
from chat.rendering.streaming.whole import identified_blocks


class StreamingMarkdown(GrowingMarkdown):
    """Markdown that grows until it is finished."""

    def finish(self) -> list[Op]:
        """Render the whole once and put right what the end has changed."""
        final = identified_blocks(self.text(), self.key, self.labels)
        shown = self._blocks()
        self._closed = []
        self._open = [OpenBlock(f"{self.key}-{n}", block) for n, block in enumerate(shown)]
        ops: list[Op] = []
        for block, html in zip(self._open, final, strict=False):
            ops += block.update(html)
        ops += self._add_and_remove(final)
        self._closed, self._open = final, []
        return joined(ops)
