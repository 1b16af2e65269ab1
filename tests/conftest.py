"""Fixtures for all tests, and the rule that nothing is skipped in CI."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.db import connection
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser

from tests.support.emptying import empty_quickly
from tests.support.model_server.fixtures import scripted_provider
from tests.support.postgres import running_postgres
from tests.support.process import ServiceMissing
from tests.support.redis import Redis, running_redis
from tests.support.server import Server, running_server
from tests.support.site import held, program, site
from tests.support.tables import copy_tables, forget_tables

__all__ = ["held", "program", "scripted_provider", "site"]

# How long an example takes says something of the machine, nothing of the program. Every day the
# same examples are tried: what fails now and then is found in the full run, with others each time.
settings.register_profile(
    "parley",
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=not os.environ.get("PARLEY_FULL"),
)
settings.load_profile("parley")

empty_quickly()

# A shell lets what it starts in the background ignore Ctrl-C, and so would every server that the
# tests start and interrupt: a handler is not handed down, to ignore it is.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

IN_CI = os.environ.get("CI") == "true"


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """On SQLite each test process begins with a copy of the tables, which are made once for all."""
    if connection.vendor != "sqlite":
        return False
    copy_tables(Path(connection.creation._get_test_db_name()))
    return True


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
    from tests.support.chromium import running_chromium

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What there is on PostgreSQL alone is left out on SQLite: to skip it would fail in CI."""
    if connection.vendor == "sqlite":
        left_out = [item for item in items if item.get_closest_marker("only_postgresql")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    # In CI a test that cannot run is a test that failed.
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"


def pytest_unconfigure(config: pytest.Config) -> None:
    forget_tables()


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
