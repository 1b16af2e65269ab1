"""What provider tests share: the scripted server, and one pool of connections per test."""

import ssl
from collections.abc import AsyncIterator

import pytest

from chat.providers.http import Http, HttpSettings
from tests.provider.fixtures import scripted_provider
from tests.providers.asking import Naps

__all__ = ["scripted_provider"]

TRUST = ssl.create_default_context()  # reading the certificates takes longer than most tests


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    """Short waits, so that a silent provider is noticed within a test."""
    settings = HttpSettings(
        connect=5,
        first_byte=2,
        idle=0.3,
        max_answer=12_000_000,
        trust_env=False,
        verify=TRUST,
    )
    http = Http(settings)
    yield http
    await http.aclose()


@pytest.fixture
def naps() -> Naps:
    """The waits between tries, written down instead of slept."""
    return Naps()
