"""Markdown that grows. See README.md beside this file; these five names are all there is to use."""

from chat.rendering.streaming.chrome import Labels
from chat.rendering.streaming.operations import Op
from chat.rendering.streaming.stream import StreamingMarkdown
from chat.rendering.streaming.text import StreamingText
from chat.rendering.streaming.whole import render_part

__all__ = ["Labels", "Op", "StreamingMarkdown", "StreamingText", "render_part"]
