"""Citations on the Anthropic messages wire: each text block has its own, and is given them back."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from chat.protocol.frozen import JsonObject
from chat.protocol.interfaces import Cited, TextBlock
from chat.providers.json_fields import text_in


def citation_of(citation: dict[str, Any], length: int) -> Cited:
    """A source of the last so many characters: a page, a search result, or a document."""
    return Cited(
        url=text_in(citation, "url") or text_in(citation, "source"),
        title=text_in(citation, "title") or text_in(citation, "document_title"),
        quote=text_in(citation, "cited_text"),
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
