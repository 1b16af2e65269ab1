"""Starting other programs for the tests."""

import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parent.parent.parent
# Settings that could leak from the tests' own process into the server's.
OWN = {"DJANGO_SETTINGS_MODULE", "PARLEY_DATA", "DATABASE_URL", "REDIS_URL", "PORT", "HOST"}


class ServiceMissing(Exception):
    """A program that the tests need is not installed."""


def environment(data: Path, **settings: str) -> dict[str, str]:
    """The environment of a Parley that keeps everything in this folder."""
    inherited = {name: value for name, value in os.environ.items() if name not in OWN}
    return {**inherited, "PARLEY_DATA": str(data), "PYTHONUNBUFFERED": "1", **settings}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(
    ready: Callable[[], bool],
    process: subprocess.Popen[bytes],
    log: Path | None = None,
    seconds: float = 2 * PATIENCE,
) -> None:
    """Wait until the program answers; fail with its log when it ends or takes too long."""
    end = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            said = log.read_text(errors="replace")[-2000:] if log else ""
            raise RuntimeError(f"{process.args!r} did not start.\n{said}")
        time.sleep(0.05)
