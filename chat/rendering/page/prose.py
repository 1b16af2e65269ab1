"""Text of a model as HTML: open while it grows, closed once it is whole."""

from dataclasses import dataclass
from functools import cache
from urllib.parse import urlsplit

from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from chat.protocol.citations import sources_of
from chat.protocol.notes import part_notes
from chat.protocol.parts import Part, TextPart
from chat.rendering.reader import Reader
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
    return _labels_in(get_language())


@cache
def _labels_in(_language: str | None) -> Labels:
    """The same, looked up once: each of its fifteen words takes as long as drawing a line."""
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


# --- the sources of a text ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """A source; without an address it is only named."""

    title: str
    url: str
    host: str
    quote: str


def sources_html(part: Part, reader: Reader) -> SafeString:
    """The sources of a text that is whole; nothing where none are named."""
    if not isinstance(part, TextPart) or not part.metadata:
        return SafeString("")
    sources = sources_of(part_notes(part).citations)
    if not sources:
        return SafeString("")
    links = [Link(each.title, each.url, host_of(each.url), each.quote) for each in sources]
    with reader.speaking():
        return SafeString(render_to_string("chat/sources.html", {"links": links}).strip())


def host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
