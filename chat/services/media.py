"""Opening attached files for a run: read once, in the pool, and only what its model takes."""

from base64 import b64encode
from collections.abc import Sequence

from chat.engine.media import MISSING, TOO_LARGE, Takes, quoted
from chat.models import Attachment
from chat.protocol.files import TEXT, own_id
from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart, Part, TextPart
from chat.protocol.text import clean_text


def open_files(history: tuple[WithParts, ...], user_id: int, takes: Takes) -> tuple[WithParts, ...]:
    """The same messages with files of ours as their content; a copy for sending, never kept."""
    parts = [part for message in history for part in _files(message)]
    if not parts:
        return history
    opened = _opened(parts, user_id, takes)
    return tuple(
        message.model_copy(update={"parts": tuple(opened.get(p.id, p) for p in message.parts)})
        if _files(message)
        else message
        for message in history
    )


def _files(message: WithParts) -> list[FilePart]:
    return [p for p in message.parts if isinstance(p, FilePart) and own_id(p.url)]


def _opened(parts: Sequence[FilePart], user_id: int, takes: Takes) -> dict[str, Part]:
    keys = {own_id(part.url) or "" for part in parts}
    # Through the owner: a part that was imported may name anybody's file.
    rows = {str(row.pk): row for row in Attachment.objects.filter(owner_id=user_id, pk__in=keys)}
    opened: dict[str, Part] = {}
    left = takes.all
    # The latest first: when not all fit, it is the oldest that are only named.
    for part in reversed(parts):
        row = rows.get((own_id(part.url) or "").lower())
        name = part.filename or "file"
        if row is None:
            opened[part.id] = _said(part, MISSING.format(name=name))
        elif row.mime == TEXT:
            opened[part.id] = _text(part, row, name)
        elif not takes.takes(row.mime):
            continue
        elif row.size > min(takes.one, left):
            opened[part.id] = _said(part, TOO_LARGE.format(name=name))
        else:
            left -= row.size
            opened[part.id] = _inline(part, row, name)
    return opened


def _inline(part: FilePart, row: Attachment, name: str) -> Part:
    data = _read(row)
    if data is None:
        return _said(part, MISSING.format(name=name))
    url = f"data:{row.mime};base64,{b64encode(data).decode()}"
    return part.model_copy(update={"mime": row.mime, "url": url})


def _text(part: FilePart, row: Attachment, name: str) -> Part:
    data = _read(row)
    if data is None:
        return _said(part, MISSING.format(name=name))
    return _said(part, quoted(name, clean_text(data.decode("utf-8-sig", "replace"))))


def _read(row: Attachment) -> bytes | None:
    try:
        with row.file.open("rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _said(part: FilePart, text: str) -> TextPart:
    return TextPart(
        id=part.id,
        session_id=part.session_id,
        message_id=part.message_id,
        text=text,
        synthetic=True,
    )
