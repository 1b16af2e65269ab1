"""The content of attached files for a run: read once, and only what its model accepts."""

from base64 import b64encode
from collections.abc import Sequence

from chat.engine.files import MISSING, TOO_LARGE, AcceptedFiles, file_as_text
from chat.models import Attachment
from chat.protocol.files import TEXT, own_id
from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart, Part, TextPart
from chat.protocol.text import clean_text


def has_files(history: tuple[WithParts, ...]) -> bool:
    return any(map(_files, history))


def open_files(
    history: tuple[WithParts, ...], user_id: int, accepted: AcceptedFiles
) -> tuple[WithParts, ...]:
    """The same messages with the content of our files in them: a copy to be sent, never saved."""
    parts = [part for message in history for part in _files(message)]
    opened = _open_parts(parts, user_id, accepted)
    return tuple(
        message.model_copy(update={"parts": tuple(opened.get(p.id, p) for p in message.parts)})
        if _files(message)
        else message
        for message in history
    )


def _files(message: WithParts) -> list[FilePart]:
    return [p for p in message.parts if isinstance(p, FilePart) and own_id(p.url)]


def _open_parts(
    parts: Sequence[FilePart], user_id: int, accepted: AcceptedFiles
) -> dict[str, Part]:
    """The parts that take the place of file parts, by their ids."""
    keys = {own_id(part.url) or "" for part in parts}
    # Through the owner: a part that was imported may name anybody's file.
    rows = {str(row.pk): row for row in Attachment.objects.filter(owner_id=user_id, pk__in=keys)}
    opened: dict[str, Part] = {}
    left = accepted.max_total
    # The latest first: when not all fit, the oldest are left out.
    for part in reversed(parts):
        row = rows.get((own_id(part.url) or "").lower())
        name = part.filename or "file"
        if row is None:
            opened[part.id] = _text_part(part, MISSING.format(name=name))
        elif row.mime == TEXT:
            opened[part.id] = _text_file(part, row, name)
        elif not accepted.accepts(row.mime):
            continue
        elif row.size > min(accepted.max_file, left):
            opened[part.id] = _text_part(part, TOO_LARGE.format(name=name))
        else:
            left -= row.size
            opened[part.id] = _inline(part, row, name)
    return opened


def _inline(part: FilePart, row: Attachment, name: str) -> Part:
    data = _read(row)
    if data is None:
        return _text_part(part, MISSING.format(name=name))
    url = f"data:{row.mime};base64,{b64encode(data).decode()}"
    return part.model_copy(update={"mime": row.mime, "url": url})


def _text_file(part: FilePart, row: Attachment, name: str) -> Part:
    data = _read(row)
    if data is None:
        return _text_part(part, MISSING.format(name=name))
    return _text_part(part, file_as_text(name, clean_text(data.decode("utf-8-sig", "replace"))))


def _read(row: Attachment) -> bytes | None:
    try:
        with row.file.open("rb") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _text_part(part: FilePart, text: str) -> TextPart:
    return TextPart(
        id=part.id,
        session_id=part.session_id,
        message_id=part.message_id,
        text=text,
        synthetic=True,
    )
