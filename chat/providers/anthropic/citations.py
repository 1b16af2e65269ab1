"""Citations on the Anthropic messages wire: each text block has its own, and is given them back."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import Cited, TextBlock


def citation_of(citation: dict[str, Any], length: int) -> Cited:
    """A source of the last so many characters: a page, a search result, or a document."""
    return Cited(
        url=_text(citation, "url") or _text(citation, "source"),
        title=_text(citation, "title") or _text(citation, "document_title"),
        quote=_text(citation, "cited_text"),
        length=length,
        raw=citation,
    )


def text_blocks(block: TextBlock) -> Iterator[JsonObject]:
    """A text as it came: what has sources is a block of its own, with them."""
    at = 0
    for (start, end), group in groupby(block.citations, key=lambda each: (each.start, each.end)):
        cited = block.text[max(start, at) : end]
        raw = [dict(each.raw) for each in group if each.raw]
        # A block must say something.
        if not raw or not cited.strip():
            continue
        if block.text[at:start].strip():
            yield {"type": "text", "text": block.text[at:start]}
        yield {"type": "text", "text": cited, "citations": raw}
        at = end
    if block.text[at:].strip() or (block.text and not at):
        yield {"type": "text", "text": block.text[at:]}


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
