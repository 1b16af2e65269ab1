"""Debian's Chromium, as every browser test drives it.

Every day without what is around the page, which nobody sees there: a page costs a third of the CPU.
The full run has all of Chromium, as people have it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.support.process import ServiceMissing

CHROMIUM = Path("/usr/bin/chromium")
# The same engine, of the same version; where a system does not have it, the whole one will do.
BARE = Path("/usr/bin/chromium-headless-shell")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip


def chromium_program() -> Path:
    programs = [CHROMIUM, BARE] if os.environ.get("PARLEY_FULL") else [BARE, CHROMIUM]
    for program in programs:
        if program.exists():
            return program
    raise ServiceMissing("there is no Chromium: apt-get install chromium-headless-shell")


@contextmanager
def running_chromium() -> Iterator[Browser]:
    program = chromium_program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(program), args=FLAGS)
        yield browser
        browser.close()
