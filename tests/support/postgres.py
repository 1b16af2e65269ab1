"""A real PostgreSQL server, started for the tests and gone after them."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.process import ServiceMissing, free_port, wait_until

SPEED = ["fsync=off", "full_page_writes=off", "max_connections=200"]
# The last half second before a crash may be lost then: not where one is stopped like that.
LOSES_A_LITTLE = ["synchronous_commit=off"]


def binary(name: str) -> str:
    """The newest installed one: Debian keeps them out of PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=_version)
    path = str(found[-1]) if found else shutil.which(name)
    if not path:
        raise ServiceMissing("PostgreSQL is not installed (apt-get install postgresql)")
    return path


def _version(path: Path) -> int:
    return int(path.parts[-3])


def unprivileged() -> dict[str, Any]:
    """How to start a program as a user PostgreSQL accepts: it refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    account = pwd.getpwnam("postgres")
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


class Postgres:
    """An empty server that can be stopped and started again on the same port."""

    def __init__(self, folder: str, *, durable: bool = False) -> None:
        self.folder, self.port = folder, free_port()
        self._speed = SPEED if durable else [*SPEED, *LOSES_A_LITTLE]
        self.url = f"postgresql://parley@127.0.0.1:{self.port}/postgres"
        self._as_user = unprivileged()
        if self._as_user:
            os.chown(folder, self._as_user["user"], self._as_user["group"])
        subprocess.run(
            [binary("initdb"), "-D", f"{folder}/data", "-U", "parley", "-A", "trust", "-E", "UTF8",
             "--locale=C", "-N"],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, **self._as_user,
        )  # fmt: skip

    def start(self) -> None:
        options = [f"port={self.port}", "listen_addresses=127.0.0.1",
                   f"unix_socket_directories={self.folder}"]  # fmt: skip
        flags = [word for option in [*options, *self._speed] for word in ("-c", option)]
        with Path(self.folder, "log").open("ab") as log:
            self.process = subprocess.Popen(
                [binary("postgres"), "-D", f"{self.folder}/data", *flags],
                stdout=log, stderr=log, cwd=self.folder, **self._as_user,
            )  # fmt: skip
        wait_until(lambda: _answers(self.url), self.process, Path(self.folder, "log"))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is its fast shutdown, which does not wait for clients; SIGQUIT the immediate one,
        after which it recovers as from a crash."""
        self.process.send_signal(how)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@contextmanager
def own_postgres(*, durable: bool = False) -> Iterator[Postgres]:
    folder = tempfile.mkdtemp(prefix="parley-pg-")
    try:
        server = Postgres(folder, durable=durable)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of an empty server."""
    with own_postgres() as server:
        yield server.url


def _answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
