"""What is made of an attached file – a picture to show and send, the text of a PDF – and kept
beside it, so that it is made once. No database is used here, for this runs in the workers."""

import json
import logging

from django.core.files.base import ContentFile

from chat.formats.pdf_text import PdfText, UnreadablePdf, pdf_text
from chat.formats.pictures import Picture, UnreadablePicture, prepare_picture
from chat.models import Attachment
from chat.protocol.files import IMAGES, PDF, kind_of

logger = logging.getLogger(__name__)

# As much of a PDF file as goes to a model that cannot take the file.
LONGEST_TEXT = 400_000
SHOWN, TEXT = ".shown", ".text"
DERIVED = (SHOWN, TEXT)


def read_file(row: Attachment) -> bytes | None:
    """The file as it was uploaded, if it is still there."""
    return _stored(row, "")


def shown_picture(row: Attachment) -> Picture | None:
    """The picture as it is shown and sent; nothing if it cannot be read."""
    if row.mime not in IMAGES:
        return None
    data = _stored(row, SHOWN)
    if data is None:
        data = _keep(row, SHOWN, _picture(row))
    # What cannot be read is kept as nothing: it is not tried again.
    return Picture(kind_of(data) or row.mime, data) if data else None


def text_of_pdf(row: Attachment) -> PdfText | None:
    """The text of a PDF file; nothing if it cannot be read."""
    data = _stored(row, TEXT) if row.mime == PDF else b""
    if data is None:
        data = _keep(row, TEXT, _text(row))
    return PdfText(**json.loads(data)) if data else None


def _picture(row: Attachment) -> bytes:
    try:
        return prepare_picture(read_file(row) or b"").data
    except UnreadablePicture as error:
        logger.info("The picture %s cannot be read: %s", row.pk, error)
        return b""


def _text(row: Attachment) -> bytes:
    try:
        found = pdf_text(read_file(row) or b"", longest=LONGEST_TEXT)
    except UnreadablePdf:
        return b""
    values = {name: getattr(found, name) for name in ("text", "title", "pages", "pages_read")}
    return json.dumps(values).encode()


def _stored(row: Attachment, ending: str) -> bytes | None:
    try:
        with row.file.storage.open(f"{row.file.name}{ending}") as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def _keep(row: Attachment, ending: str, data: bytes) -> bytes:
    storage, name = row.file.storage, f"{row.file.name}{ending}"
    kept = storage.save(name, ContentFile(data))
    if kept != name:  # another was first: a storage gives the second one another name
        storage.delete(kept)
    return data
