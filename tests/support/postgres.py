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

SPEED = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200"]


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


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of an empty server."""
    initdb, server = binary("initdb"), binary("postgres")
    as_user = unprivileged()
    folder = tempfile.mkdtemp(prefix="parley-pg-")
    try:
        if as_user:
            os.chown(folder, as_user["user"], as_user["group"])
        data = f"{folder}/data"
        subprocess.run(
            [initdb, "-D", data, "-U", "parley", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
            check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_user,
        )  # fmt: skip
        with _serving(server, data, folder, as_user) as url:
            yield url
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _serving(server: str, data: str, folder: str, as_user: dict[str, Any]) -> Iterator[str]:
    port = free_port()
    options = [f"port={port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={folder}"]
    flags = [word for option in [*options, *SPEED] for word in ("-c", option)]
    with Path(folder, "log").open("wb") as log:
        process = subprocess.Popen(
            [server, "-D", data, *flags], stdout=log, stderr=log, cwd=folder, **as_user
        )
    url = f"postgresql://parley@127.0.0.1:{port}/postgres"
    try:
        wait_until(lambda: _answers(url), process, Path(folder, "log"))
        yield url
    finally:
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
