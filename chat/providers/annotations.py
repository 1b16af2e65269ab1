"""Annotations on the wires of OpenAI and those who speak them: the sources of a text."""

from typing import Any

from chat.protocol.interfaces import Cited


def cited_in(annotation: Any, written: int) -> Cited | None:
    """The source that an annotation names, of a text of which so much is written; None for any
    other kind. Chat puts the fields into an object of their own, Responses does not."""
    if not isinstance(annotation, dict) or annotation.get("type") != "url_citation":
        return None
    inner = annotation.get("url_citation")
    fields = inner if isinstance(inner, dict) else annotation
    url, title, quote = (fields.get(name) for name in ("url", "title", "content"))
    if not isinstance(url, str) or not url:
        return None
    start, end = _place(fields.get("start_index")), _place(fields.get("end_index"))
    if start is None or end is None or not start <= end <= written:
        start = end = written
    return Cited(
        url=url,
        title=title if isinstance(title, str) else "",
        quote=quote if isinstance(quote, str) else "",
        length=end - start,
        before_end=written - end,
    )


def _place(value: object) -> int | None:
    return value if type(value) is int and value >= 0 else None
