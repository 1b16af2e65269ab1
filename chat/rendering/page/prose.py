"""Text of a model as HTML: open while it grows, closed once it is whole."""

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chat.rendering.streaming import Labels, StreamingMarkdown, StreamingText, render_part


@dataclass(frozen=True, slots=True)
class Prose:
    """`length` is how much of the source is shown; it matters only while there is more to come."""

    html: SafeString
    length: int | None = None


def prose(text: str, key: str, *, is_open: bool = False) -> Prose:
    # The markdown engine's output has been through nh3.
    if not is_open:
        return Prose(mark_safe(render_part(text, key, labels())))
    stream = StreamingMarkdown(key, labels())
    stream.feed(text)
    return Prose(mark_safe(stream.html()), len(text))


def thought(text: str, key: str, *, is_open: bool = False) -> Prose:
    """A thought grows as plain text, and is drawn as markdown when it is done."""
    if not is_open:
        return prose(text, key)
    stream = StreamingText(key, labels())
    stream.feed(text)
    return Prose(mark_safe(stream.html()), len(text))


def labels() -> Labels:
    """The words that the markdown engine puts into an answer, in the active language."""
    return Labels(
        copy=_("Copy"),
        wrap=_("Wrap lines"),
        numbers=_("Line numbers"),
        download=_("Download"),
        as_markdown=_("Copy as Markdown"),
        as_csv=_("Copy as CSV"),
        image=_("image"),
        table=_("Table"),
        footnotes=_("Footnotes"),
        note=_("Note"),
        tip=_("Tip"),
        important=_("Important"),
        warning=_("Warning"),
        caution=_("Caution"),
        task=_("Task"),
    )
