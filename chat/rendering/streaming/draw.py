"""The open end of a text as HTML, and text that is too complex for markdown.

In: the source of the open blocks. Out: an element for each of them, without ids. For example
`# Hi⏎⏎th` is `["<h1>Hi</h1>", "<p>th</p>"]`.
"""

from chat.rendering.sanitize import escape
from chat.rendering.streaming.blocks import safe_blocks
from chat.rendering.streaming.chrome import Labels
from chat.rendering.streaming.parse import TooComplex
from chat.rendering.streaming.source import State
from chat.rendering.streaming.visible import visible


def open_blocks(
    text: str, state: State, labels: Labels, finished: bool = False, links: str = ""
) -> list[str]:
    """The top-level blocks of an open end: what may still change is left out, until nothing may.
    Links are found among the definitions in `links`, too."""
    if state is State.AS_WRITTEN:
        return [as_written(text)]
    try:
        shown = text if finished else visible(text, in_code=state is State.CODE)
        return safe_blocks(links + shown if "[" in shown else shown, labels, finished)
    except TooComplex:
        return [as_written(text)]


def as_written(text: str) -> str:
    """A text that is too complex to be drawn as markdown."""
    # A parser drops the newline that follows <pre>.
    return f'<pre class="plain" tabindex="0">\n{escape(text)}</pre>'
