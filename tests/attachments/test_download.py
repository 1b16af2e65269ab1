"""Downloading: through the owner only, and nothing of it ever runs (1.3, 1.4)."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Attachment
from chat.protocol.files import clean_name
from tests.attachments.conftest import Upload
from tests.support import factories as make
from tests.support import sample_files as samples


def kept(upload: Upload, name: str, content: bytes) -> str:
    return upload((name, content))["attachments"][0]["url"]


@pytest.mark.parametrize("what", samples.POLYGLOTS)
def test_whatever_a_browser_takes_it_for_it_cannot_run(
    what: str, upload: Upload, browser: Client
) -> None:
    content, kind = samples.POLYGLOTS[what]
    response = browser.get(kept(upload, "x.html", content))
    assert response.content == content
    assert response["Content-Type"].split(";")[0] == kind
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    inline = kind.startswith("image/")
    assert response["Content-Disposition"].startswith("inline" if inline else "attachment")


@pytest.mark.parametrize("name", ["a.svg", "a.html", "a.png", "a.xhtml", "a.pdf"])
@pytest.mark.parametrize("content", [samples.SVG, samples.HTML])
def test_svg_and_html_are_never_inline(
    name: str, content: bytes, upload: Upload, browser: Client
) -> None:
    response = browser.get(kept(upload, name, content))
    assert response["Content-Disposition"].startswith("attachment")
    assert response["Content-Type"] == "text/plain; charset=utf-8"


def test_a_type_that_was_written_into_the_row_is_not_believed(alice: User, browser: Client) -> None:
    row = make.an_attachment(alice, content=samples.HTML, mime="text/html")
    response = browser.get(f"/attachments/{row.pk}/")
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment")


@pytest.mark.parametrize("name", samples.NAMES)
def test_every_name_makes_one_header(name: str, alice: User, browser: Client) -> None:
    row = make.an_attachment(alice)
    Attachment.objects.filter(pk=row.pk).update(filename=clean_name(name))
    response = browser.get(f"/attachments/{row.pk}/")
    assert response.status_code == 200
    assert "\n" not in response["Content-Disposition"]


def test_a_strangers_file_is_not_there(alice: User) -> None:
    row = make.an_attachment(alice)
    for somebody in (make.a_user(), make.a_superuser()):
        client = Client()
        client.force_login(somebody)
        for method in ("get", "head", "delete"):
            assert getattr(client, method)(f"/attachments/{row.pk}/").status_code == 404
    assert Client().get(f"/attachments/{row.pk}/").status_code == 302
    assert Attachment.objects.filter(pk=row.pk).exists()


@pytest.mark.parametrize("key", ["..%2f..%2fsecret_key", "../secret_key", "x", "%00", "1"])
def test_only_an_id_opens_a_file(key: str, browser: Client) -> None:
    assert browser.get(f"/attachments/{key}/").status_code == 404


def test_a_browser_keeps_a_file_and_asks_before_it_shows_it_again(
    upload: Upload, browser: Client
) -> None:
    url = kept(upload, "a.png", samples.PNG)
    first = browser.get(url)
    assert first["Cache-Control"] == "private, no-cache"
    again = browser.get(url, headers={"if-none-match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    browser.logout()
    assert browser.get(url, headers={"if-none-match": first["ETag"]}).status_code == 302


def test_a_file_whose_bytes_are_lost_is_not_found(alice: User, browser: Client) -> None:
    row = make.an_attachment(alice)
    row.file.storage.delete(str(row.file.name))
    assert browser.get(f"/attachments/{row.pk}/").status_code == 404


def test_a_file_that_waits_can_be_taken_back(upload: Upload, browser: Client) -> None:
    url = kept(upload, "a.png", samples.PNG)
    assert browser.delete(url).status_code == 204
    assert browser.get(url).status_code == 404


def test_a_file_on_a_message_cannot(alice: User, browser: Client) -> None:
    said = make.a_message_with_parts(make.a_conversation(alice))
    row = make.an_attachment(alice, said)
    assert browser.delete(f"/attachments/{row.pk}/").status_code == 409
    assert Attachment.objects.filter(pk=row.pk).exists()
