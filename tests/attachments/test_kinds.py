"""What a file is, its content says; what it is called is only ever shown (1.4, 5.6)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol.files import HEAD, NAME_LENGTH, clean_name, kind_of, own_id, own_url
from chat.protocol.ids import new_id
from tests.support import sample_files as samples


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (samples.PNG, "image/png"),
        (samples.JPEG, "image/jpeg"),
        (samples.GIF, "image/gif"),
        (samples.WEBP, "image/webp"),
        (samples.PDF, "application/pdf"),
        (samples.CODE, "text/plain"),
        (b"a,b\r\n1,2\r\n", "text/plain"),
        (b"\x1b[31mred\x1b[0m log\n", "text/plain"),
        (b"\xef\xbb\xbfwith a mark", "text/plain"),
        (b"\x89PNG\r\n\x1a\nnot really", None),
        (b"PK\x03\x04\x00\x00zip", None),
        (b"\x7fELF\x02\x01\x01\x00", None),
        (b"MZ\x90\x00", None),
        ("Grüße".encode("latin-1"), None),
        ("hi".encode("utf-16"), None),
        (b"a\x00b", None),
    ],
)
def test_the_kind_of_a_file_is_seen_in_its_content(content: bytes, kind: str | None) -> None:
    assert kind_of(content) == kind


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20))
def test_a_character_cut_in_two_at_the_end_of_the_head_is_no_fault(text: str) -> None:
    assert kind_of((text * HEAD).encode()[:HEAD]) == "text/plain"


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_name_is_one_short_line_without_a_path(name: str) -> None:
    cleaned = clean_name(name)
    assert 0 < len(cleaned) <= NAME_LENGTH
    assert not set(cleaned) & set("/\\\x00\r\n\u202e\u2066")
    assert cleaned.strip(".")
    assert cleaned.encode()


def test_a_long_name_keeps_its_ending() -> None:
    assert clean_name("x" * 300 + ".txt").endswith("x.txt")


@given(st.text())
def test_every_name_can_be_stored_and_cleaning_twice_changes_nothing(name: str) -> None:
    cleaned = clean_name(name)
    assert clean_name(cleaned) == cleaned
    assert len(cleaned) <= NAME_LENGTH


@pytest.mark.parametrize(
    "url",
    ["/attachments/../x/", "/attachments/x/", "https://e.com/attachments/1/", "data:,", "", "/"],
)
def test_only_an_address_of_ours_names_a_file_of_ours(url: str) -> None:
    assert own_id(url) is None


def test_the_address_of_a_file_leads_back_to_it() -> None:
    key = new_id()
    assert own_id(own_url(key)) == key
