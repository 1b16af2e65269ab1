"""The text of a PDF file, and of none that is broken."""

from io import BytesIO

import pytest
from pypdf import PdfReader, PdfWriter

from chat.formats.pdf_text import UnreadablePdf, pdf_text
from tests.support.pdf_files import pdf_file


def test_the_text_of_every_page() -> None:
    found = pdf_text(pdf_file("One (1).", "Two.", "Three."), longest=1000)
    assert found.text == "One (1).\n\nTwo.\n\nThree."
    assert (found.pages, found.pages_read) == (3, 3)


def test_it_ends_where_it_is_long_enough_or_takes_too_long() -> None:
    pages = [f"Page {n} of many." for n in range(50)]
    found = pdf_text(pdf_file(*pages), longest=40)
    assert (found.pages, found.pages_read) == (50, 3)
    assert len(found.text) == 40
    assert pdf_text(pdf_file(*pages), longest=10_000, seconds=0).pages_read == 1


def locked(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf_file("Secret."))))
    writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def test_a_lock_without_a_password_is_no_lock() -> None:
    assert pdf_text(locked(""), longest=100).text == "Secret."


LOOP = pdf_file("x").replace(b"/Kids[4 0 R]", b"/Kids[2 0 R]")


@pytest.mark.parametrize(
    "data",
    [b"", b"%PDF-1.7", b"%PDF-1.4\ntrailer<</Root 1 0 R>>", locked("key"), LOOP, b"%PDF-" * 9000],
    ids=["empty", "a head", "no pages", "locked", "a circle", "heads"],
)
def test_what_cannot_be_read_is_said(data: bytes) -> None:
    with pytest.raises(UnreadablePdf):
        pdf_text(data, longest=1000)
