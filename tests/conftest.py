"""Fixtures for all tests, and the rule that nothing is skipped in CI."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.services.postgres import running_postgres
from tests.services.process import ServiceMissing
from tests.services.redis import Redis, running_redis
from tests.services.server import Server, running_server

IN_CI = os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A real PostgreSQL, one for each test process."""
    try:
        with running_postgres() as url:
            yield url
    except ServiceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A real Redis, one for each test process."""
    try:
        with running_redis() as redis:
            yield redis.url
    except ServiceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for each test process; its driver keeps an event loop of its own running,
    so browser tests and async tests never share a process (see the Makefile)."""
    from tests.services.chromium import running_chromium

    try:
        with running_chromium() as chromium:
            yield chromium
    except ServiceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def own_redis() -> Iterator[Redis]:
    """A Redis for one test, which may kill and restart it."""
    try:
        with running_redis() as redis:
            yield redis
    except ServiceMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a Parley in a process of its own; settings are given by name."""
    with ExitStack() as stack:
        yield lambda data=tmp_path / "data", **settings: stack.enter_context(
            running_server(data, **settings)
        )


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    # In CI a test that cannot run is a test that failed.
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    _refuse_skip(report)
    return report
