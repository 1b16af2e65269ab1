"""Parley itself as a process of its own, as `make run` starts it."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.process import free_port, wait_until
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
# Settings that could leak from the tests' own process into the server's.
OWN = {"DJANGO_SETTINGS_MODULE", "PARLEY_DATA", "DATABASE_URL", "REDIS_URL", "PORT", "HOST"}


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


def environment(data: Path, **settings: str) -> dict[str, str]:
    """The environment of a Parley that keeps everything in this folder."""
    inherited = {name: value for name, value in os.environ.items() if name not in OWN}
    return {**inherited, "PARLEY_DATA": str(data), "PYTHONUNBUFFERED": "1", **settings}


def python(data: Path, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """One run of Python in the project's folder, with these settings."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env=environment(data, **settings),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def running_server(data: Path, **settings: str) -> Iterator[Server]:
    """A served Parley; DATABASE_URL, REDIS_URL and so on are given as settings."""
    settings.setdefault("PORT", str(free_port()))
    data.mkdir(parents=True, exist_ok=True)
    log = data / f"server-{settings['PORT']}.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve"],
            cwd=ROOT, env=environment(data, **settings), stdout=file, stderr=file,
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
