"""Who takes an export slowly is given it slowly: the server does not hold what is not taken yet."""

import http.client
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.server import Server, Visitor, python, running_server

MUCH = 60_000_000
# What the sockets on both sides hold, with room to spare.
HELD = 20_000_000

ROWS = """
import os
from django.contrib.auth.models import User
from tests.support import factories as make
owner = User.objects.get(username="owner")
talk = make.a_conversation(owner, title="Photos")
question = make.a_message(talk)
for number in range(10):
    content = b"\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR" + os.urandom(6_000_000)
    make.an_attachment(owner, question, content, mime="image/png", filename=f"{number}.png")
print(talk.pk)
"""


def read_by(server: Server) -> int:
    """How many bytes the process has read, from files and from whoever asks it."""
    lines = Path(f"/proc/{server.process.pid}/io").read_text().splitlines()
    return int(lines[0].removeprefix("rchar: "))


def asked(server: Server, path: str, cookie: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
    return connection.getresponse()


@pytest.mark.parametrize("name", ["daphne", pytest.param("uvicorn", marks=pytest.mark.full)])
def test_what_is_not_taken_is_not_made(name: str, tmp_path: Path) -> None:
    with running_server(tmp_path, PARLEY_SERVER=name) as server:
        made = python(tmp_path, "manage.py", "shell", "-c", ROWS)
        assert made.returncode == 0, made.stderr
        cookie = Visitor(server.link).cookie
        before = read_by(server)
        answer = asked(server, f"/c/{made.stdout.split()[-1]}/export/json/", cookie)
        assert answer.status == 200
        file = answer.read(1000)
        # The process comes to rest although most of the file is not made.
        rest, last = 0, 0
        while rest < 30:
            assert asked(server, "/healthz", "").status == 200
            now = read_by(server) - before
            rest, last = (rest + 1, last) if now - last < 10_000 else (0, now)
        assert last < HELD, "the file was made ahead of whoever takes it"
        file += answer.read()
    assert len(file) > MUCH
    assert file.endswith(b"]}\n")
