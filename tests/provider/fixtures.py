"""The fixture: `from tests.provider.fixtures import scripted_provider  # noqa: F401`."""

from collections.abc import Iterator

import pytest

from tests.provider.server import ScriptedProvider


@pytest.fixture
def scripted_provider() -> Iterator[ScriptedProvider]:
    with ScriptedProvider() as provider:
        yield provider
