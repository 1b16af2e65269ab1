from collections.abc import Iterator

import pytest
from django.test import override_settings


@pytest.fixture(autouse=True)
def addresses() -> Iterator[None]:
    """Pages name addresses; these tests serve none."""
    with override_settings(ROOT_URLCONF="tests.rendering_pages.urls"):
        yield
