"""Parley itself as a process of its own, as `make run` starts it."""

import http.cookiejar
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.process import ROOT, environment, free_port, wait_until
from tests.support.tables import lay_tables
from tests.support.waiting import PATIENCE


@dataclass
class Server:
    url: str
    data: Path
    log: Path
    process: subprocess.Popen[bytes]

    @property
    def link(self) -> str:
        """The log-in link that it printed."""
        return next(line for line in self.log.read_text().splitlines() if "/enter/?" in line)


class Visitor:
    """A browser without scripts that has gone in by a log-in link, and where that led."""

    def __init__(self, link: str) -> None:
        self.cookies = http.cookiejar.CookieJar()
        jar = urllib.request.HTTPCookieProcessor(self.cookies)
        self.opener = urllib.request.build_opener(jar)
        asked = self.read(link)
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', asked)
        assert token, asked
        form = urllib.parse.urlencode({"csrfmiddlewaretoken": token[1]}).encode()
        with self.opener.open(link, form, timeout=PATIENCE) as page:
            self.page = page.read().decode()

    def read(self, url: str) -> str:
        with self.opener.open(url, timeout=PATIENCE) as page:
            text: str = page.read().decode()
        return text

    @property
    def cookie(self) -> str:
        """As a header says it."""
        return "; ".join(f"{each.name}={each.value}" for each in self.cookies)


def python(data: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """One run of Python in the project's folder, with these settings."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment(data, **settings),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


SERVE = (sys.executable, "manage.py", "serve")


@contextmanager
def running_server(
    data: Path,
    command: Sequence[str] = SERVE,
    cwd: Path = ROOT,
    **settings: str,
) -> Iterator[Server]:
    """A served Parley; DATABASE_URL, REDIS_URL and so on are given as settings."""
    settings.setdefault("PORT", str(free_port()))
    data.mkdir(parents=True, exist_ok=True)
    if command == SERVE:
        lay_tables(data, database="DATABASE_URL" not in settings)
    log = data / f"server-{settings['PORT']}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            list(command),
            cwd=cwd, env=environment(data, **settings), stdout=file, stderr=file,
        )  # fmt: skip
    server = Server(f"http://127.0.0.1:{settings['PORT']}", data, log, process)
    try:
        wait_until(lambda: _healthy(server.url), process, log)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=2) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
