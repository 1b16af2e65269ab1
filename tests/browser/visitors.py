"""A Parley with people in it, who have talked before, each in a browser of their own."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.server import python, running_server
from tests.support.tables import lay_tables, made_once
from tests.support.waiting import PATIENCE

SESSION = "parley_sessionid"
PEOPLE = "people.json"
PHONE = {"has_touch": True, "is_mobile": True}


@dataclass
class Seeded:
    """Where it is, and everybody who can be logged in there."""

    url: str
    people: dict[str, dict[str, str]]


@dataclass
class Visitor:
    """One person in a browser of their own."""

    seeded: Seeded
    context: BrowserContext
    places: dict[str, str]
    errors: list[str]

    def open(self, place: str) -> Page:
        """A page, loaded and (where it has scripts) connected."""
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(self.seeded.url + self.places.get(place, place))
        return page


Visit = Callable[..., Visitor]


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeded]:
    data = tmp_path_factory.mktemp("parley")
    shutil.copytree(house(), data, dirs_exist_ok=True)
    with running_server(data) as server:
        yield Seeded(server.url, json.loads((data / PEOPLE).read_text("utf-8")))


def house() -> Path:
    """A folder as it is before its server starts: of the same people for every test process."""
    return made_once("people", _seed)


def _seed(data: Path) -> None:
    lay_tables(data)
    for words in (("manage.py", "prepare"), ("-m", "tests.shots.seed")):
        done = python(data, *words)
        assert done.returncode == 0, done.stderr
    (data / PEOPLE).write_text(done.stdout, "utf-8")


@pytest.fixture
def visit(seeded: Seeded, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Visit]:
    attempt = getattr(request.node, "execution_count", 1)
    with visiting(seeded, browser, f"-{attempt}" if attempt > 1 else "") as come:
        yield come


@contextmanager
def visiting(seeded: Seeded, browser: Browser, attempt: str = "") -> Iterator[Visit]:
    """Comes as somebody; whatever went wrong in their scripts fails the test."""
    visitors: list[Visitor] = []

    def come(person: str = "en-light", width: int = 1440, **options: Any) -> Visitor:
        phone = PHONE if width < 500 else {}
        # Who changes what they have is another person in another attempt.
        person = f"{person}{attempt}" if f"{person}{attempt}" in seeded.people else person
        scheme = "dark" if person.endswith("dark") else "light"
        viewport = {"width": width, "height": 844 if width < 500 else 900}
        values = {"viewport": viewport, "color_scheme": scheme, **phone, **options}
        context = browser.new_context(base_url=seeded.url, **values)
        context.set_default_timeout(PATIENCE * 1000)
        places = seeded.people[person]
        context.add_cookies([{"name": SESSION, "value": places["session"], "url": seeded.url}])
        visitors.append(Visitor(seeded, context, places, []))
        return visitors[-1]

    yield come
    for visitor in visitors:
        visitor.context.close()
    assert [visitor.errors for visitor in visitors if visitor.errors] == []


@pytest.fixture
def page(visit: Visit) -> Page:
    """Ada at her new chat."""
    return visit().open("/")
