"""A picture is looked at without what else is in the file; its owner downloads the file itself."""

from io import BytesIO
from typing import Any

from django.test import Client
from PIL import Image

from chat.models import Attachment
from tests.attachments.conftest import Upload
from tests.support import factories as make
from tests.support.photos import SECRET, a_photo
from tests.support.sample_files import GIF, JPEG

PHOTO = a_photo((2000, 1000), turned=6)


def test_a_photo_is_shown_upright_and_without_its_place(upload: Upload, browser: Client) -> None:
    [file] = upload(("photo.jpg", PHOTO))["attachments"]
    shown = browser.get(f"{file['url']}?shown")
    assert (shown.status_code, shown["Content-Type"]) == (200, "image/jpeg")
    assert SECRET.encode() not in shown.content
    with Image.open(BytesIO(shown.content)) as image:
        assert image.size == (784, 1568)
    assert "sandbox" in shown["Content-Security-Policy"]
    assert browser.get(file["url"]).content == PHOTO, "the original is as it was"
    again = browser.get(f"{file['url']}?shown", headers={"if-none-match": shown["ETag"]})
    assert again.status_code == 304
    assert shown["ETag"] != browser.get(file["url"])["ETag"]


def test_what_cannot_be_made_is_shown_as_it_is(upload: Upload, browser: Client) -> None:
    for name, content in (("broken.jpg", JPEG), ("moving.gif", GIF), ("a.txt", b"words")):
        [file] = upload((name, content))["attachments"]
        assert browser.get(f"{file['url']}?shown").content == content


def test_it_is_the_owners_alone_and_goes_with_the_file(
    upload: Upload,
    browser: Client,
    media: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    [file] = upload(("photo.jpg", PHOTO))["attachments"]
    browser.get(f"{file['url']}?shown")
    stranger = Client()
    stranger.force_login(make.a_user("bob"))
    assert stranger.get(f"{file['url']}?shown").status_code == 404
    kept = sorted(path.name for path in (media / "attachments").iterdir())
    assert kept == [file["id"], f"{file['id']}.shown"]
    with django_capture_on_commit_callbacks(execute=True):
        Attachment.objects.get().delete()
    assert list((media / "attachments").iterdir()) == []
