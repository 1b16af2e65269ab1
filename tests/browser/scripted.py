"""A new Parley whose one model says what a test has scripted, the same for all tests of a file."""

from collections.abc import Iterator

import pytest

from tests.support.model_server import ScriptedProvider
from tests.support.process import free_port
from tests.support.server import Server, running_server


@pytest.fixture(scope="module")
def provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def parley(
    provider: ScriptedProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    settings = {
        "PORT": str(free_port()),
        "OPENAI_BASE_URL": provider.base_url,
        "PARLEY_MODEL": "scripted-small",
        "PARLEY_TITLES": "first",
    }
    with running_server(tmp_path_factory.mktemp("parley"), **settings) as server:
        yield server
