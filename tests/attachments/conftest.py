"""People who attach files; every test has a folder of its own for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.support import factories as make
from tests.support.sample_files import form_of


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return settings.MEDIA_ROOT


@pytest.fixture
def alice(db: None) -> User:
    return make.a_user("alice")


@pytest.fixture
def browser(alice: User) -> Client:
    client = Client()
    client.force_login(alice)
    return client


Upload = Callable[..., dict[str, Any]]


@pytest.fixture
def upload(browser: Client) -> Upload:
    """Uploads files given as name and content; what the server says."""

    def post(*files: tuple[str, bytes], address: str = "/attachments/") -> dict[str, Any]:
        body, kind = form_of(*files)
        return browser.generic("POST", address, body, kind).json()

    return post
