"""A served Parley and a real Chromium: what a person sees, not what a server means to send."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.owner import enter, newcomer, server
from tests.browser.scripted import parley, provider
from tests.browser.visitors import page, seeded, visit
from tests.support.waiting import PATIENCE

__all__ = ["enter", "newcomer", "page", "parley", "provider", "seeded", "server", "visit"]

expect.set_options(timeout=PATIENCE * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
