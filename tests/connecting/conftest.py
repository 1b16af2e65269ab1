"""A running Parley whose provider fails: short waits, and naps that are not slept."""

from collections.abc import AsyncIterator

import pytest

from chat.models import Provider
from chat.providers import registry
from chat.providers.http import Http
from tests.providers.asking import Naps
from tests.support.impatient_http import IMPATIENT
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.world import KEY


@pytest.fixture
async def failing(site: Site, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    """The site, entered with a key that must turn up nowhere."""
    http = Http(IMPATIENT)
    monkeypatch.setattr(registry, "_http", http)
    monkeypatch.setattr(registry, "_retry", Naps().policy)
    await in_thread(_give_key)()
    yield site
    await http.aclose()


def _give_key() -> None:
    provider = Provider.objects.get(kind="openai")
    provider.api_key = KEY
    provider.save()
