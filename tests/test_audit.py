"""`make audit`: a package with a known vulnerability fails it; a missing network does not."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.support.papers import ROOT
from tests.support.process import free_port

NONE_KNOWN = b'{"results": [{}, {}]}'
ONE_KNOWN = b'{"results": [{}, {"vulns": [{"id": "PYSEC-2026-1"}, {"id": "GHSA-x"}]}]}'
Asked = list[dict[str, list[object]]]
LOCK = "# The packages.\ndjango==5.2.99\nhens==1.0 ; python_version > '3'\n"


@contextmanager
def advisories(body: bytes, status: int = 200) -> Iterator[tuple[str, Asked]]:
    """A server that knows advisories, and what it was asked."""
    asked: Asked = []

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


def audit(url: str, lock: Path | None = None) -> tuple[int, str]:
    words = [sys.executable, str(ROOT / "scripts/audit"), *([str(lock)] if lock else [])]
    env = {**os.environ, "AUDIT_URL": url, "AUDIT_SECONDS": "2", "no_proxy": "*"}
    ended = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert not ended.stderr
    return ended.returncode, ended.stdout


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    path = tmp_path / "requirements.lock"
    path.write_text(LOCK)
    return path


def test_every_pin_is_looked_up(lock: Path) -> None:
    with advisories(NONE_KNOWN) as (url, asked):
        code, said = audit(url, lock)
    assert (code, said.splitlines()[-1]) == (0, "Nothing was found.")
    [request] = asked
    assert request["queries"][1] == {
        "package": {"name": "hens", "ecosystem": "PyPI"},
        "version": "1.0",
    }


def test_one_that_is_vulnerable_is_named(lock: Path) -> None:
    with advisories(ONE_KNOWN) as (url, _):
        code, said = audit(url, lock)
    assert (code, said.splitlines()[-1]) == (1, "hens 1.0: PYSEC-2026-1, GHSA-x")


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"", 404), (b"busy", 503), (b"<html>", 200), (b"[]", 200), (b'{"results": []}', 200)],
)
def test_who_does_not_answer_fails_nothing(body: bytes, status: int, lock: Path) -> None:
    with advisories(body, status) as (url, _):
        code, said = audit(url, lock)
    assert code == 0
    assert "Nothing was looked up" in said


def test_without_a_network_nothing_fails_and_an_old_version_does(lock: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/"
    assert audit(nobody, lock)[0] == 0
    assert audit("http://no.such.host.invalid/", lock)[0] == 0
    lock.write_text("Daphne==4.2.1\nsimpleeval==1.0.10\n")
    code, said = audit(nobody, lock)
    assert code == 1
    assert "daphne 4.2.1 is older than 4.2.2" in said
    assert "simpleeval" not in said


def test_what_is_pinned_today_passes_without_a_network() -> None:
    assert audit(f"http://127.0.0.1:{free_port()}/")[0] == 0
