"""Uploading: what may be kept, under whose name, and why the rest is refused (A17, 1.4, 5.6)."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Attachment
from chat.services import Caller
from chat.services.conversations import attachments
from tests.attachments.conftest import Upload, form_of
from tests.support import factories as make
from tests.support import sample_files as samples


def test_several_files_are_kept_at_once(upload: Upload, alice: User) -> None:
    said = upload(("a.png", samples.PNG), ("b.py", samples.CODE), ("c.pdf", samples.PDF))
    found = [(each["filename"], each["mime"], each["size"]) for each in said["attachments"]]
    assert found == [
        ("a.png", "image/png", len(samples.PNG)),
        ("b.py", "text/plain", len(samples.CODE)),
        ("c.pdf", "application/pdf", len(samples.PDF)),
    ]
    assert said["refused"] == []
    assert {row.owner for row in Attachment.objects.all()} == {alice}


@pytest.mark.parametrize("name", samples.NAMES)
def test_no_name_decides_where_a_file_lands(
    name: str, upload: Upload, media: Path, tmp_path: Path
) -> None:
    """1.4: escapes 0; the file is in its place under our own id, or it is not taken at all."""
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    said = upload((name, samples.CODE))
    made = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    kept = Attachment.objects.all()
    assert made == {media / "attachments" / str(row.pk) for row in kept}
    assert all(path.resolve().is_relative_to(media.resolve()) for path in made)
    assert len(said["attachments"]) == len(kept)
    assert all(len(row.filename) <= 255 and "/" not in row.filename for row in kept)


@pytest.mark.parametrize("name", samples.NAMES)
def test_no_name_given_by_a_program_does_either(name: str, alice: User, media: Path) -> None:
    row = attachments.store_attachment(Caller(alice.pk), name, samples.upload_of("x", samples.PNG))
    assert samples.stored() == {media / "attachments" / str(row.pk)}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("program.png", b"MZ\x90\x00\x03\x00"),
        ("archive.zip", b"PK\x03\x04\x00"),
        ("late.txt", b"a" * 5000 + b"\xff\xfe"),
        ("nul.txt", b"a" * 5000 + b"\x00"),
        ("latin.txt", "Grüße".encode("latin-1")),
    ],
)
def test_what_is_neither_picture_pdf_nor_text_is_refused(
    name: str, content: bytes, upload: Upload
) -> None:
    said = upload((name, content))
    assert said["attachments"] == []
    assert said["refused"][0]["error_key"] == "error.chat_attachment_type_refused"
    assert name in said["refused"][0]["message"]
    assert samples.stored() == set()


@pytest.mark.parametrize(
    ("limit", "content", "key"),
    [
        ("upload_bytes", samples.PNG, "error.chat_attachment_too_large"),
        ("upload_text_bytes", samples.CODE, "error.chat_attachment_text_too_large"),
    ],
)
def test_a_file_may_be_as_large_as_the_limit_and_no_larger(
    limit: str, content: bytes, key: str, upload: Upload, settings: Any
) -> None:
    """5.6."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, limit: len(content)}
    assert upload(("a", content))["refused"] == []
    settings.PARLEY_LIMITS[limit] = len(content) - 1
    [refused] = upload(("a", content))["refused"]
    assert refused["error_key"] == key
    assert "B" in refused["message"]
    assert len(samples.stored()) == 1


def test_an_empty_file_and_no_file_are_refused(upload: Upload) -> None:
    assert upload(("a.txt", b""))["refused"][0]["error_key"] == "error.chat_attachment_empty"
    assert upload()["refused"][0]["error_key"] == "error.chat_attachment_missing"


def test_more_files_than_fit_on_a_message_are_refused(upload: Upload) -> None:
    said = upload(*[("a.txt", b"a")] * 11)
    assert said["refused"][0]["error_key"] == "error.chat_attachment_too_many"
    assert samples.stored() == set()


def test_good_files_are_kept_beside_a_bad_one(browser: Client) -> None:
    files = [samples.upload_of("a.txt", b"a"), samples.upload_of("b.zip", b"PK\x03\x04\x00")]
    response = browser.post("/attachments/", {"attachments": files})
    assert response.status_code == 200
    assert [len(each) for each in response.json().values()] == [1, 1]


def test_a_refusal_speaks_the_readers_language(browser: Client) -> None:
    browser.cookies["django_language"] = "zh-hans"
    data = {"attachments": [samples.upload_of("b.zip", b"PK\x03\x04\x00")]}
    [refused] = browser.post("/attachments/", data).json()["refused"]
    assert "cannot" not in refused["message"]
    assert "b.zip" in refused["message"]


def test_uploading_needs_the_token_of_the_page(alice: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(alice)
    data = {"attachments": [samples.upload_of("a.txt", b"a")]}
    assert strict.post("/attachments/", data).status_code == 403
    assert samples.stored() == set()


def test_nobody_uploads_to_somebody_elses_conversation(browser: Client) -> None:
    talk = make.a_conversation()
    data = {"attachments": [samples.upload_of("a.txt", b"a")]}
    assert browser.post(f"/c/{talk.pk}/attachments/", data).status_code == 404
    assert samples.stored() == set()


def test_who_never_sends_keeps_only_the_latest(alice: User, monkeypatch: Any) -> None:
    monkeypatch.setattr(attachments, "WAITING", 3)
    for n in range(5):
        attachments.store_attachment(Caller(alice.pk), f"{n}.txt", samples.upload_of("x", b"a"))
    names = Attachment.objects.order_by("created").values_list("filename", flat=True)
    assert list(names) == ["2.txt", "3.txt", "4.txt"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_refusal_is_in_the_language_of_its_reader(
    language: str, browser: Client, settings: Any
) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "upload_bytes": 1_000}
    files = {
        "empty": [("a.txt", b"")],
        "type_refused": [("a.exe", b"MZ\x90\x00")],
        "too_large": [("a.png", samples.PNG + b"x" * 1_000)],
        "too_many": [("a.txt", b"a")] * 11,
        "missing": [],
    }
    for name, chosen in files.items():
        body, kind = form_of(*chosen)
        said = browser.generic(
            "POST", "/attachments/", body, kind, headers={"accept-language": language}
        ).json()["refused"][0]
        assert said["error_key"] == f"error.chat_attachment_{name}"
        chinese = any("\u4e00" <= letter <= "\u9fff" for letter in said["message"])
        assert chinese == (language == "zh-hans"), said["message"]
