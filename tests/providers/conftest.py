"""What provider tests share: the scripted server, and one pool of connections per test."""

import ssl
from collections.abc import AsyncIterator

import pytest

from chat.providers.http import Http, HttpSettings
from tests.providers.asking import Naps
from tests.support.model_server.fixtures import scripted_provider

__all__ = ["scripted_provider"]

TRUST = ssl.create_default_context()  # reading the certificates takes longer than most tests


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    """Connections that wait longer than any busy machine keeps them waiting."""
    http = Http(HttpSettings(max_answer=12_000_000, trust_env=False, verify=TRUST))
    yield http
    await http.aclose()


@pytest.fixture
async def impatient_http() -> AsyncIterator[Http]:
    """Short waits, for providers that say nothing at all."""
    settings = HttpSettings(first_byte=4, idle=1, trust_env=False, verify=TRUST)
    http = Http(settings)
    yield http
    await http.aclose()


@pytest.fixture
def naps() -> Naps:
    """The waits between tries, written down instead of slept."""
    return Naps()
