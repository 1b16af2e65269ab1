"""The fixture `scripted_provider`; a conftest imports it."""

from collections.abc import Iterator

import pytest

from tests.support.model_server.server import ScriptedProvider


@pytest.fixture
def scripted_provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider
