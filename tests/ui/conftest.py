"""A served Parley with people in it, and a real browser for each test to look with."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.services.process import free_port
from tests.services.server import python, running_server

SESSION = "parley_sessionid"
PHONE = {"has_touch": True, "is_mobile": True}

expect.set_options(timeout=10_000)


@dataclass
class Site:
    """Where it is, and everybody who can be logged in there."""

    url: str
    people: dict[str, dict[str, str]]


@dataclass
class Visitor:
    """One person in a browser of their own."""

    site: Site
    context: BrowserContext
    places: dict[str, str]
    errors: list[str]

    def open(self, place: str) -> Page:
        """A page, loaded and (where it has scripts) connected."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.site.url + self.places.get(place, place))
        return page


Visit = Callable[..., Visitor]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    data = tmp_path_factory.mktemp("parley")
    port = str(free_port())
    with running_server(data, PORT=port) as server:
        seeded = python(data, "-m", "tests.shots.seed", PORT=port)
        assert seeded.returncode == 0, seeded.stderr
        yield Site(server.url, json.loads(seeded.stdout))


@pytest.fixture
def visit(site: Site, browser: Browser) -> Iterator[Visit]:
    """Comes as somebody; whatever went wrong in their scripts fails the test."""
    visitors: list[Visitor] = []

    def come(person: str = "en-light", width: int = 1440, **options: Any) -> Visitor:
        phone = PHONE if width < 500 else {}
        scheme = "dark" if person.endswith("dark") else "light"
        viewport = {"width": width, "height": 844 if width < 500 else 900}
        values = {"viewport": viewport, "color_scheme": scheme, **phone, **options}
        context = browser.new_context(base_url=site.url, **values)
        places = site.people[person]
        context.add_cookies([{"name": SESSION, "value": places["session"], "url": site.url}])
        visitors.append(Visitor(site, context, places, []))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.context.close()
    assert [visitor.errors for visitor in visitors if visitor.errors] == []


@pytest.fixture
def page(visit: Visit) -> Page:
    """Ada at her new chat."""
    return visit().open("/")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
