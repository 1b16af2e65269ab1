"""A supervisor with its servers, as a process of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.crash.remote import House, Server, fresh_database
from tests.support.process import free_port, wait_until
from tests.support.server import ROOT, environment
from tests.support.waiting import PATIENCE

NOWHERE = "http://127.0.0.1:1"

NUMBER = 2


class Fleet:
    """A supervisor and its servers."""

    def __init__(self, house: House, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.house, self.process, self.log = house, process, log
        self.url = f"http://127.0.0.1:{house.settings['PORT']}"

    @property
    def address(self) -> Server:
        """All of them: whoever comes is taken by one of them."""
        return Server(self.house, self.url, self.process, self.log)

    @property
    def said(self) -> str:
        return self.log.read_text()

    def servers(self) -> set[int]:
        """Those that serve or will: what else it starts has another command line."""
        try:
            children = psutil.Process(self.process.pid).children()
            return {child.pid for child in children if "--listening" in child.cmdline()}
        except psutil.Error:
            return set()

    def serving(self) -> set[int]:
        """The servers that accept what comes: they have the probe by which they are asked."""
        return {
            pid
            for pid in self.servers()
            if any(each.status == "NONE" and each.laddr for each in _unix(pid))
        }

    def until(self, true: Any) -> None:
        wait_until(true, self.process, self.log)

    def ends(self) -> int:
        return self.process.wait(PATIENCE)


def _unix(pid: int) -> list[Any]:
    try:
        return list(psutil.Process(pid).net_connections("unix"))
    except psutil.Error:
        return []


@contextmanager
def fleet(
    data: Path, postgres: str, redis: str, by: str, number: int = NUMBER,
    provider: str = NOWHERE, **settings: str,
) -> Iterator[Fleet]:  # fmt: skip
    settings.update(DATABASE_URL=fresh_database(postgres), REDIS_URL=redis, PORT=str(free_port()))
    house = House(data, provider, settings)
    log = data / "fleet.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "serve", "--processes", str(number)],
            # Wherever it is started.
            cwd=data,
            env=environment(data, **house.settings, PARLEY_SERVER=by),
            stdout=file, stderr=file,
        )  # fmt: skip
    here = Fleet(house, process, log)
    try:
        here.until(lambda: "Parley is running" in here.said)
        yield here
    finally:
        left = here.servers()
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            for pid in left:
                if psutil.pid_exists(pid):
                    os.kill(pid, signal.SIGKILL)
            if process.poll() is None:
                process.kill()
                process.wait()
