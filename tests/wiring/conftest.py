"""A running Parley whose provider fails: short waits, and naps that are not slept."""

import ssl
from collections.abc import AsyncIterator

import pytest

from chat.models import Provider
from chat.providers import registry
from chat.providers.http import Http, HttpSettings
from tests.live.conftest import Site, site
from tests.live.driver import in_thread
from tests.provider.fixtures import scripted_provider
from tests.providers.asking import Naps
from tests.world import KEY

__all__ = ["scripted_provider", "site"]

TRUST = ssl.create_default_context()  # reading the certificates takes longer than most tests
IMPATIENT = HttpSettings(
    connect=5, first_byte=3, idle=0.5, max_answer=12_000_000, trust_env=False, verify=TRUST
)


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
