"""Pictures of every screen: a contact sheet in var/shots/, and the two of the README in docs/."""

import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.chromium import chromium_program
from tests.support.process import free_port
from tests.support.server import python, running_server

ROOT = Path(__file__).resolve().parents[2]
OUT, DOCS = ROOT / "var" / "shots", ROOT / "docs"
SIZES = {"wide": (1440, 900), "middle": (820, 1100), "narrow": (390, 844)}
PHONE = {"has_touch": True, "is_mobile": True}
LIMIT = 200_000


@dataclass(frozen=True)
class Shot:
    person: str
    size: str
    screen: str

    @property
    def file(self) -> Path:
        return OUT / f"{self.screen}-{self.size}-{self.person}.png"


def work(page: Page) -> None:
    """The cards of the answer, opened, with the question above."""
    page.locator(".work summary").click()
    page.locator(".tool > summary").last.click()
    page.evaluate("scrollTo(0, 0)")


def keys(page: Page) -> None:
    page.locator("[data-keys]").dispatch_event("click")


def drawer(page: Page) -> None:
    page.locator("[data-show-column]").click(force=True)


SCREENS: dict[str, tuple[str, Any]] = {
    "new": ("/", None),
    "chat": ("chat", work),
    "end": ("chat", None),
    "states": ("states", None),
    "settings": ("/settings/", None),
    "keys": ("/", keys),
    "missing": ("/no/such/page", None),
}
NARROW = {"drawer": ("chat", drawer)}


def wanted(people: dict[str, Any]) -> Iterator[Shot]:
    for person in people:
        for size in SIZES:
            screens = SCREENS | (NARROW if size == "narrow" else {})
            yield from (Shot(person, size, screen) for screen in screens)


def look(browser: Browser, url: str, person: str, size: str, session: str) -> Page:
    """A window of this size in which this person is logged in."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if person.endswith("dark") else "light",
        reduced_motion="reduce",
        **(PHONE if size == "narrow" else {}),
    )
    context.add_cookies([{"name": "parley_sessionid", "value": session, "url": url}])
    return context.new_page()


def take(page: Page, url: str, places: dict[str, str], shot: Shot) -> None:
    place, prepare = (SCREENS | NARROW)[shot.screen]
    page.goto(url + places.get(place, place))
    if prepare:
        prepare(page)
    page.mouse.move(1, 1)
    page.screenshot(path=shot.file, animations="disabled")


def take_all(browser: Browser, url: str, people: dict[str, Any], shots: list[Shot]) -> None:
    for (person, size), group in groupby(shots, key=lambda shot: (shot.person, shot.size)):
        page = look(browser, url, person, size, people[person]["session"])
        for shot in group:
            take(page, url, people[person], shot)
        page.context.close()


def sheet(browser: Browser, shots: list[Shot]) -> None:
    """All of them on one page, to be looked at together."""
    figures = "".join(
        f"<figure><img src='{shot.file.name}'><figcaption>{shot.file.stem}</figcaption></figure>"
        for shot in shots
    )
    style = (
        "body{font:12px sans-serif;display:flex;flex-wrap:wrap;gap:16px;background:#888}"
        "figure{margin:0}img{height:300px;display:block}"
    )
    (OUT / "index.html").write_text(f"<!doctype html><style>{style}</style>{figures}", "utf-8")
    page = browser.new_page(viewport={"width": 2200, "height": 1000})
    page.goto((OUT / "index.html").as_uri())
    page.screenshot(path=OUT / "sheet.png", full_page=True)
    page.close()


def readme() -> None:
    """The two pictures of the README, kept small."""
    DOCS.mkdir(exist_ok=True)
    for theme, name in (("light", "chat.png"), ("dark", "chat-dark.png")):
        picture = Shot(f"en-{theme}", "wide", "chat").file.read_bytes()
        assert len(picture) < LIMIT, f"{name} has {len(picture)} bytes"
        (DOCS / name).write_bytes(picture)


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    port = str(free_port())
    with tempfile.TemporaryDirectory() as data, running_server(Path(data), PORT=port) as server:
        seeded = python(Path(data), "-m", "tests.shots.seed", PORT=port)
        if seeded.returncode:
            sys.exit(seeded.stderr)
        people = json.loads(seeded.stdout)
        shots = list(wanted(people))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=str(chromium_program()), args=["--no-sandbox"]
            )
            take_all(browser, server.url, people, shots)
            sheet(browser, shots)
            browser.close()
    readme()
    print(f"{len(shots)} pictures in {OUT}, the README's in {DOCS}.")


if __name__ == "__main__":
    main()
