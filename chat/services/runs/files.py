"""The content of attached files for a run: read once, and only what its model accepts."""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chat.engine.files import (
    MISSING,
    TOO_LARGE,
    UNREADABLE,
    AcceptedFiles,
    file_as_text,
    pdf_as_text,
)
from chat.formats.pdf_text import UnreadablePdf, pdf_text
from chat.models import Attachment
from chat.protocol.files import PDF, TEXT, own_id
from chat.protocol.interfaces import FileBlock
from chat.protocol.messages import WithParts
from chat.protocol.parts import FilePart, Part, TextPart
from chat.protocol.text import clean_text
from chat.services.conversations.derived import LONGEST_TEXT, read_file, shown_picture, text_of_pdf

Rows = Mapping[str, Attachment]


def has_files(history: tuple[WithParts, ...]) -> bool:
    return any(map(_files, history))


def rows_of(history: tuple[WithParts, ...], user_id: int) -> Rows:
    """The rows of the attached files. Through the owner: a part that was imported may name
    anybody's file."""
    keys = {own_id(part.url) or "" for message in history for part in _files(message)}
    return {str(row.pk): row for row in Attachment.objects.filter(owner_id=user_id, pk__in=keys)}


def open_files(
    history: tuple[WithParts, ...], rows: Rows, accepted: AcceptedFiles
) -> tuple[WithParts, ...]:
    """The same messages with the content of our files in them: a copy to be sent, never saved.
    Takes a while, and uses no database."""
    parts = [part for message in history for part in _files(message)]
    opened = _open_parts(parts, rows, accepted)
    return tuple(
        message.model_copy(update={"parts": tuple(opened.get(p.id, p) for p in message.parts)})
        if _files(message)
        else message
        for message in history
    )


def _files(message: WithParts) -> list[FilePart]:
    return [p for p in message.parts if isinstance(p, FilePart) and own_id(p.url)]


def _open_parts(parts: Sequence[FilePart], rows: Rows, accepted: AcceptedFiles) -> dict[str, Part]:
    """The parts that take the place of file parts, by their ids."""
    opened: dict[str, Part] = {}
    left = accepted.max_total
    # The latest first: when not all fit, the oldest are left out.
    for part in reversed(parts):
        row = rows.get((own_id(part.url) or "").lower())
        found = _note(part, MISSING) if row is None else _opened(part, row, accepted, left)
        if isinstance(found, Inline):
            left -= found.size
            found = part.model_copy(update={"mime": found.mime, "url": found.url})
        if found is not None:
            opened[part.id] = found
    return opened


@dataclass(frozen=True, slots=True)
class Inline:
    """A file in an address."""

    mime: str
    size: int
    url: str


def _opened(
    part: FilePart, row: Attachment, accepted: AcceptedFiles, left: int
) -> Inline | Part | None:
    """What is sent of a file; nothing where the model is only told that it takes no such file."""
    room = min(accepted.max_file, left)
    if row.mime == TEXT:
        return _text_file(part, row)
    if row.mime == PDF and not (accepted.pdf and row.size <= room):
        return _pdf_text(part, row)
    if row.mime == PDF:
        data = read_file(row)
        return _note(part, MISSING) if data is None else _inline(PDF, data)
    if not accepted.images:
        return None
    picture = shown_picture(row)
    if picture is None:
        return _note(part, MISSING if read_file(row) is None else UNREADABLE)
    if len(picture.data) > room:
        return _note(part, TOO_LARGE)
    return _inline(picture.mime, picture.data)


def document_as_text(block: FileBlock) -> str:
    """A PDF file that was to be sent as it is; empty where it has no text. Takes a while."""
    try:
        found = pdf_text(b64decode(block.url.rpartition(",")[2]), longest=LONGEST_TEXT)
    except (UnreadablePdf, ValueError):
        return ""
    text = pdf_as_text(block.filename or "file", found.text, found.pages, found.pages_read)
    return text if found.text.strip() else ""


def picture_inline(row: Attachment, accepted: AcceptedFiles) -> Inline | None:
    """A picture as it is sent, if it can be read and is not too large. Takes a while."""
    picture = shown_picture(row)
    if picture is None or len(picture.data) > accepted.max_file:
        return None
    return _inline(picture.mime, picture.data)


def _inline(mime: str, data: bytes) -> Inline:
    return Inline(mime, len(data), f"data:{mime};base64,{b64encode(data).decode()}")


def _text_file(part: FilePart, row: Attachment) -> Part:
    data = read_file(row)
    if data is None:
        return _note(part, MISSING)
    text = clean_text(data.decode("utf-8-sig", "replace"))
    return _text_part(part, file_as_text(_name(part), text))


def _pdf_text(part: FilePart, row: Attachment) -> Part:
    found = text_of_pdf(row)
    if found is None:
        return _note(part, UNREADABLE)
    return _text_part(part, pdf_as_text(_name(part), found.text, found.pages, found.pages_read))


def _name(part: FilePart) -> str:
    return part.filename or "file"


def _note(part: FilePart, form: str) -> TextPart:
    return _text_part(part, form.format(name=_name(part)))


def _text_part(part: FilePart, text: str) -> TextPart:
    return TextPart(
        id=part.id,
        session_id=part.session_id,
        message_id=part.message_id,
        text=text,
        synthetic=True,
    )
