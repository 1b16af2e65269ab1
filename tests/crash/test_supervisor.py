"""Several servers at one address: they are there whatever becomes of one of them."""

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.crash.fleet import NUMBER, Fleet, fleet
from tests.support.process import wait_until
from tests.support.server import python
from tests.support.waiting import PATIENCE, until_true


def page(url: str) -> int:
    """What a page that needs the database is answered with, by a connection of its own."""
    words = ["curl", "-s", "-o", os.devnull, "-w", "%{http_code}", f"{url}/accounts/login/"]
    return int(subprocess.run(words, check=False, capture_output=True, timeout=PATIENCE).stdout)


@contextmanager
def visited(url: str) -> Iterator[list[int]]:
    """Somebody opens a page again and again all the while."""
    codes: list[int] = []
    left = threading.Event()

    def visit() -> None:
        while not left.is_set():
            codes.append(page(url))

    visitor = threading.Thread(target=visit)
    visitor.start()
    try:
        yield codes
    finally:
        left.set()
        visitor.join()


def is_listed(here: Fleet) -> bool:
    """Whether a socket is opened and answers."""
    with connect(
        f"ws{here.url.removeprefix('http')}/ws/c/{here.house.conversation}/",
        origin=Origin(here.url),
        additional_headers={"Cookie": here.house.cookie},
        open_timeout=PATIENCE,
    ) as socket:
        socket.send(json.dumps({"command": "ping", "client_id": "1"}))
        return bool(socket.recv(PATIENCE))


@pytest.mark.full
@pytest.mark.parametrize("by", ["daphne", "uvicorn"])
def test_servers_are_started_replaced_and_ended(
    tmp_path: Path, postgres_url: str, redis_url: str, by: str
) -> None:
    with fleet(tmp_path, postgres_url, redis_url, by) as here:
        first = here.servers()
        assert len(first) == NUMBER
        assert first == here.serving()
        with visited(here.url) as codes:
            killed = min(first)
            os.kill(killed, signal.SIGKILL)
            here.until(lambda: len(here.serving()) == NUMBER and killed not in here.serving())
            assert "has ended by signal 9" in here.said
            second = here.servers()
            here.process.send_signal(signal.SIGHUP)
            here.until(lambda: "All servers were replaced" in here.said)
            third = here.servers()
            assert not second & third
            assert third == here.serving()
            assert is_listed(here)
        # Whatever happened to one of them: nobody was refused, nobody was let down. (What was
        # just asked of a server that is killed is lost with it.)
        assert set(codes) <= {200, 0}
        assert codes.count(0) <= 1
        here.process.terminate()
        assert here.ends() == 0
        assert not [pid for pid in third if psutil.pid_exists(pid)]
        assert "Traceback" not in here.said


@pytest.mark.full
@pytest.mark.parametrize("by", ["daphne", "uvicorn"])
def test_servers_end_with_their_supervisor(
    tmp_path: Path, postgres_url: str, redis_url: str, by: str
) -> None:
    with fleet(tmp_path, postgres_url, redis_url, by) as here:
        servers = here.servers()
        here.process.kill()
        here.process.wait()
        until_true(lambda: not [pid for pid in servers if psutil.pid_exists(pid)])


@pytest.mark.full
def test_nothing_is_replaced_by_what_does_not_start(
    tmp_path: Path, postgres_url: str, redis_url: str
) -> None:
    """A database of a newer version: `prepare` refuses it, and those that serve go on."""
    import psycopg

    with fleet(tmp_path, postgres_url, redis_url, "daphne") as here:
        servers = here.servers()
        with psycopg.connect(here.house.settings["DATABASE_URL"]) as database:
            database.execute(
                "insert into django_migrations (app, name, applied) "
                "values ('chat', '0999_of_the_future', now())"
            )
        here.process.send_signal(signal.SIGHUP)
        here.until(lambda: "Nothing was replaced" in here.said)
        assert here.servers() == servers
        assert page(here.url) == 200


@pytest.mark.full
def test_a_server_that_hangs_is_replaced(tmp_path: Path, postgres_url: str, redis_url: str) -> None:
    with fleet(tmp_path, postgres_url, redis_url, "daphne") as here:
        hanging = min(here.servers())
        os.kill(hanging, signal.SIGSTOP)
        wait_until(
            lambda: hanging not in here.servers() and len(here.serving()) == NUMBER,
            here.process, here.log, seconds=4 * PATIENCE,
        )  # fmt: skip


# --- refused ----------------------------------------------------------------------------


POSTGRES = "postgresql://parley@127.0.0.1:1/parley"


@pytest.mark.parametrize(
    ("number", "settings", "said"),
    [
        ("2", {}, "SQLite is for one server, and 2 were asked for"),
        ("2", {"DATABASE_URL": POSTGRES}, "2 servers tell each other by Redis what happens"),
        ("0", {}, "At least one process must serve."),
    ],
)
def test_several_servers_need_what_they_share(
    tmp_path: Path, number: str, settings: dict[str, str], said: str
) -> None:
    """In one line, before anything is made."""
    ended = python(tmp_path, "manage.py", "serve", "--processes", number, **settings)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "db.sqlite3").exists()
