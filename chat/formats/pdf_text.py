"""The text of a PDF file, for models and tools that cannot take the file itself."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from chat.protocol.text import clean_text

if TYPE_CHECKING:
    from pypdf import PdfReader

logger = logging.getLogger(__name__)

# A file can be made so that every page takes seconds: the rest is then left out, and said.
SECONDS = 15.0
MOST_PAGES = 500


class UnreadablePdf(Exception):
    """Broken, or locked with a password."""


@dataclass(frozen=True, slots=True)
class PdfText:
    text: str
    title: str
    pages: int
    # How many of the pages the text is of.
    pages_read: int


def pdf_text(data: bytes, *, longest: int, seconds: float = SECONDS) -> PdfText:
    """The text, page by page, until it is as long as is wanted; takes a while."""
    # Imported late: it brings 16 MB that an installation without PDF files never needs.
    from pypdf import PdfReader

    try:
        reader = PdfReader(BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePdf("it is locked with a password")
        return _read(reader, longest, time.monotonic() + seconds)
    except UnreadablePdf:
        raise
    # A file that is broken, or made to be, fails in it in every way there is.
    except (Exception, RecursionError) as error:
        logger.info("A PDF file cannot be read: %s", type(error).__name__)
        raise UnreadablePdf("it is broken") from error


def _read(reader: "PdfReader", longest: int, deadline: float) -> PdfText:
    texts: list[str] = []
    length = 0
    for text in _pages(reader):
        texts.append(text)
        length += len(text)
        if length >= longest or time.monotonic() > deadline:
            break
    title = clean_text(str((reader.metadata and reader.metadata.title) or ""))
    text = "\n\n".join(filter(None, texts))[:longest]
    return PdfText(text, " ".join(title.split()), len(reader.pages), len(texts))


def _pages(reader: "PdfReader") -> Iterator[str]:
    for number, page in enumerate(reader.pages):
        if number >= MOST_PAGES:
            return
        yield clean_text(page.extract_text()).strip()
