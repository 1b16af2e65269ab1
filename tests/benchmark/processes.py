"""The processes of a benchmark: started together, ended together."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# The installation's own settings decide nothing here.
OWN = (
    "PARLEY_ENV", "PARLEY_DATA", "DATABASE_URL", "REDIS_URL", "PORT", "HOST", "ORIGINS",
    "ALLOWED_HOSTS", "DEBUG", "DJANGO_SETTINGS_MODULE",
)  # fmt: skip
LIMITS = {
    "PARLEY_LIMIT_GENERATIONS_PER_USER": "1000",
    "PARLEY_LIMIT_GENERATIONS_PER_PROCESS": "1000",
    "PARLEY_LIMIT_OUTPUT_CHARS": "10000000",
    "PARLEY_LIMIT_SOCKETS_PER_USER": "1000",
}


class Helper:
    """A process that answers one line of JSON to each line it is told."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, question: object = None) -> Any:
        self.tell(question)
        return self.read()

    def tell(self, words: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def read(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.process.args!r} ended")
        return json.loads(line)


class Processes:
    """Starts programs of this package in a folder of their own."""

    def __init__(self, data: Path, **services: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if name not in OWN}
        self.environment = {**inherited, **LIMITS, **services, "PARLEY_DATA": str(data)}
        self._stack = ExitStack()

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self, module: str, *words: str, **environment: str) -> Helper:
        process = subprocess.Popen(
            [sys.executable, "-m", f"tests.benchmark.{module}", *words],
            cwd=ROOT, env={**self.environment, **environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self._stack.callback(_end, process)
        return Helper(process)

    def serve(self, application: str, server: str, **environment: str) -> tuple[Helper, str]:
        """A server process, ready, and where it listens."""
        port = _free_port()
        helper = self.start(
            "serving", application, server, str(port), PORT=str(port), **environment
        )
        deadline = time.monotonic() + 60
        while not _listens(port):
            if helper.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{application} on {server} did not start")
            time.sleep(0.05)
        return helper, f"127.0.0.1:{port}"


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
