"""Parley behind the nginx of `deploy/nginx.conf`: a page, a socket, and what the proxy is to keep
away. Name, ports and certificate are the test's, all else is the file."""

import json
import shutil
import socket
import sqlite3
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.crash.remote import House
from tests.support.model_server import ScriptedProvider, reply
from tests.support.process import free_port, wait_until
from tests.support.server import ROOT
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.full

NAME = "chat.example.org"
PRODUCTION = {
    "PARLEY_ENV": "production",
    "SECRET_KEY": "0123456789" * 3 + "abcdefghij" * 3,
    "ALLOWED_HOSTS": NAME,
    "ORIGINS": f"https://{NAME}",
    "TRUST_PROXY": "1",
}


@dataclass
class Front:
    """nginx, and the Parley behind it."""

    house: House
    plain: int
    secure: int
    certificate: Path

    def asked(self, path: str, *words: str, port: int = 0) -> tuple[str, str]:
        """The head and the body of what a client is answered that believes in the name."""
        port = port or self.secure
        scheme = "http" if port == self.plain else "https"
        ended = subprocess.run(
            [
                "curl", "-s", "-i", "--http1.1", "--cacert", str(self.certificate),
                "--connect-to", f"{NAME}:{port}:127.0.0.1:{port}",
                "-H", f"Host: {NAME}", "-H", f"Cookie: {self.house.cookie}",
                *words, f"{scheme}://{NAME}:{port}{path}",
            ],
            capture_output=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        head, _, body = ended.stdout.decode(errors="replace").partition("\r\n\r\n")
        return head, body

    def status(self, path: str, *words: str) -> int:
        return int(self.asked(path, *words)[0].split()[1])


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    if not (nginx := shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")):
        pytest.skip("nginx is not installed (apt-get install nginx)")
    folder = tmp_path_factory.mktemp("nginx")
    with ScriptedProvider(answer=reply("Hello ", "through nginx.")) as provider:
        house = House(folder / "data", provider.base_url, PRODUCTION)
        with house.served() as server:
            front = Front(house, free_port(), free_port(), folder / "certificate.pem")
            configure(folder, front, int(server.url.rsplit(":", 1)[1]))
            with (folder / "log").open("wb") as log:
                process = subprocess.Popen(
                    [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf")],
                    stdout=log, stderr=log,
                )  # fmt: skip
            try:
                wait_until(lambda: front.asked("/healthz")[1] != "", process, folder / "log")
                yield front
            finally:
                process.terminate()
                process.wait(PATIENCE)


def configure(folder: Path, front: Front, parley: int) -> None:
    """The file as it is, with what everybody is told to put in, and what else nginx needs."""
    given = (ROOT / "deploy/nginx.conf").read_text()
    for old, new in (
        ("server 127.0.0.1:8000;", f"server 127.0.0.1:{parley};"),
        ("listen 80;", f"listen 127.0.0.1:{front.plain};"),
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{front.secure} ssl http2;"),
        ("    listen [::]:80;\n", ""),
        ("    listen [::]:443 ssl http2;\n", ""),
        ("/etc/ssl/parley/fullchain.pem", str(front.certificate)),
        ("/etc/ssl/parley/privkey.pem", str(folder / "key.pem")),
    ):
        assert given.count(old) == 1, old
        given = given.replace(old, new)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/errors;\n"
        "events {}\n"
        f"http {{ access_log {folder}/access;\n{temporary(folder)}{given}}}\n"
    )
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}",
         "-keyout", str(folder / "key.pem"), "-out", str(front.certificate)],
        check=True, capture_output=True,
    )  # fmt: skip


def temporary(folder: Path) -> str:
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    return "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)


def test_a_page_is_served_and_only_in_secret(front: Front) -> None:
    head, body = front.asked(f"/c/{front.house.conversation}/")
    assert head.startswith("HTTP/1.1 200")
    assert "A talk" in body
    assert "strict-transport-security: max-age=31536000" in head.lower()
    head, _ = front.asked("/c/", port=front.plain)
    assert head.startswith("HTTP/1.1 308")
    assert f"location: https://{NAME}/c/" in head.lower()


def test_an_answer_comes_through_a_socket(front: Front) -> None:
    trusted = ssl.create_default_context(cafile=str(front.certificate))
    with connect(
        f"wss://{NAME}/ws/c/{front.house.conversation}/",
        sock=socket.create_connection(("127.0.0.1", front.secure)),
        ssl=trusted,
        origin=Origin(f"https://{NAME}"),
        additional_headers={"Cookie": front.house.cookie},
        subprotocols=[Subprotocol("parley.v1+json")],
    ) as wire:
        for command in ({"command": "attach"}, {"command": "send", "content": "Hello"}):
            wire.send(json.dumps({"client_id": command["command"], **command}))
        said, name = "", ""
        while name != "chat:complete":
            event = json.loads(wire.recv(PATIENCE))
            name = event.get("name", "")
            said += event["delta"] if name == "chat:chunk" else ""
    assert said == "Hello through nginx."


def test_where_somebody_comes_from_is_what_nginx_has_seen(front: Front) -> None:
    """A header that the client sends itself counts for nothing."""
    forged = ("X-Forwarded-For: 6.6.6.6", "X-Real-IP: 6.6.6.6", "Forwarded: for=6.6.6.6")
    words = [word for header in forged for word in ("-H", header)]
    assert front.status(f"/c/{front.house.conversation}/", *words) == 200
    with closing(sqlite3.connect(front.house.data / "db.sqlite3")) as database:
        assert database.execute("SELECT address FROM chat_login").fetchall() == [("127.0.0.1",)]


def test_what_is_too_large_or_too_often_is_refused_before_parley(front: Front) -> None:
    large = ("-X", "POST", "-H", "Content-Length: 150000000", "-H", "Expect:")
    assert front.status("/attachments/", *large) == 413
    guesses = [front.status("/accounts/login/") for _ in range(60)]
    # Who is logged in is led on.
    assert guesses[:10] == [302] * 10
    assert 503 in guesses
    # Who is in already does not notice.
    assert front.status(f"/c/{front.house.conversation}/") == 200
