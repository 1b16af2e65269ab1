"""A new Parley and its owner, logged in by link: nothing was said there before."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.process import free_port
from tests.support.server import Server, python, running_server
from tests.support.waiting import PATIENCE

NORMAL = (Path(__file__).parent / "normal.js").read_text()


@dataclass
class Window:
    """A browser of one person, and all that went wrong in it."""

    context: BrowserContext
    url: str
    troubles: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        page = self.context.new_page()
        page.on("console", lambda said: self._hear(said.type, said.text))
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("request", lambda request: self._look(request.url))
        page.goto(path if "://" in path else self.url + path)
        return page

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error":
            self.troubles.append(text)

    def expected(self, *texts: str) -> None:
        """What went wrong is what had to go wrong in this test, and nothing else."""
        others = [each for each in self.troubles if not any(text in each for text in texts)]
        assert others == []
        self.troubles.clear()

    def _look(self, url: str) -> None:
        own = urlsplit(self.url).netloc
        if urlsplit(url).netloc not in (own, "") and not url.startswith("data:"):
            self.troubles.append(f"a foreign request: {url}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for each worker."""
    data = tmp_path_factory.mktemp("parley")
    with running_server(data, PORT=str(free_port())) as server:
        yield server


Enter = Callable[..., Window]
# Who is logged in at which server: a link works once, its session goes on.
_sessions: dict[str, Any] = {}


@pytest.fixture
def enter(server: Server, browser: Browser) -> Iterator[Enter]:
    """Logs the owner in by link, in a browser of their own; whatever went wrong fails the test."""
    windows: list[Window] = []

    def come(at: Server = server, **options: Any) -> Window:
        session = _sessions.get(at.url)
        context = browser.new_context(base_url=at.url, storage_state=session, **options)
        context.set_default_timeout(PATIENCE * 1000)
        window = Window(context, at.url)
        windows.append(window)
        if session is None:
            page = window.open(at.link)
            page.get_by_role("button", name="Log in").click()
            # A page that is closed while it goes elsewhere may hold Chromium up for ever.
            page.locator("#composer").wait_for()
            page.close()
            _sessions[at.url] = context.storage_state()
        return window

    yield come
    for window in windows:
        window.context.close()
    assert [window.troubles for window in windows if window.troubles] == []


NEWCOMER = """
from django.contrib.auth.models import User
from django.core.management import call_command
User.objects.create_user("newcomer")
call_command("login_link", "newcomer")
"""


@pytest.fixture(scope="session")
def newcomer(server: Server) -> str:
    """The link of somebody who was never here."""
    port = server.url.rsplit(":", 1)[1]
    made = python(server.data, "manage.py", "shell", "-v", "0", "-c", NEWCOMER, PORT=port)
    assert made.returncode == 0, made.stderr
    return made.stdout.split()[-1]


def normal(page: Page) -> str:
    """The page without what may differ from a fresh one (normal.js says what)."""
    found: str = page.evaluate(NORMAL)
    return found


def equals_a_fresh_page(window: Window, page: Page) -> None:
    """Both have come to rest: compared again and again, because sockets speak when they like."""
    fresh = window.open(page.url)
    expect(fresh.locator("main")).to_be_visible()
    end = time.monotonic() + PATIENCE
    while normal(page) != normal(fresh) and time.monotonic() < end:
        page.wait_for_timeout(100)
    one, two = normal(page), normal(fresh)
    fresh.close()
    assert one == two
