"""An installed Parley serves without the repository, also as the container starts it."""

import os
import pwd
import re
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.containerfile import Recipe
from tests.support.process import free_port
from tests.support.server import ROOT, Server, Visitor, environment, running_server
from tests.support.waiting import PATIENCE, until_true

pytestmark = pytest.mark.full


def said_by(*words: str | Path, **settings: str) -> str:
    ended = subprocess.run(
        list(map(str, words)), capture_output=True, text=True, check=False, cwd="/",
        env={**environment(Path("/nonexistent")), **settings},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def answered(server: Server, question: str) -> str:
    """The page of a new conversation, when its question was answered: without scripts."""
    visitor = Visitor(server.link)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', visitor.page)
    assert token
    form = {"csrfmiddlewaretoken": token[1], "command": "send", "content": question}
    asked = urllib.parse.urlencode(form).encode()
    with visitor.opener.open(f"{server.url}/new/", asked, timeout=PATIENCE) as page:
        talk = page.url
    assert "/c/" in talk
    until_true(lambda: 'data-state="done"' in visitor.read(talk))
    return visitor.read(talk)


def test_it_answers_and_keeps_what_it_has_where_the_platform_does(
    installed: Path, tmp_path: Path
) -> None:
    home = {"HOME": str(tmp_path), "XDG_DATA_HOME": "", "PARLEY_DATA": "", "PARLEY_TITLES": "first"}
    command = [str(installed / "parley"), "serve"]
    with running_server(tmp_path, command, cwd=tmp_path, **home) as server:
        page = answered(server, "What is 6*7?")
        assert "42" in page
        # Templates, static files and translations are there.
        style = re.search(r'href="(/static/css/[^"]+)"', page)
        assert style, page
        assert "{" in Visitor(said_by(installed / "parley", "login_link", **home,
                                      PORT=server.url.rsplit(":", 1)[1]).strip()
                              ).read(f"{server.url}{style[1]}")  # fmt: skip
        data = tmp_path / ".local/share/parley"
        assert (data / "db.sqlite3").is_file()
    doctor = said_by(installed / "parley", "doctor", **home)
    assert "ok    Translations: compiled" in doctor
    assert "ok    Static files: gathered" in doctor


def test_it_knows_its_version(installed: Path, tmp_path: Path) -> None:
    program = "import chatsite.settings as s; print(s.VERSION, s.BASE_DIR)"
    said = said_by(installed / "python", "-P", "-c", program, PARLEY_DATA=str(tmp_path))
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    assert said.split() == [version[1], str(next(installed.parent.glob("lib/*/site-packages")))]


@pytest.fixture
def volume() -> Iterator[Path]:
    """A folder that belongs to somebody without rights, as the container's does."""
    with tempfile.TemporaryDirectory(prefix="parley-volume-") as name:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(name, nobody.pw_uid, nobody.pw_gid)
        yield Path(name)


def test_the_container_starts_and_is_healthy(installed: Path, volume: Path) -> None:
    """Its environment, command and probe, as a user without rights; TLS ends at a proxy."""
    recipe = Recipe.read()
    port = str(free_port())
    given = {
        **recipe.environment, "PORT": port, "PARLEY_DATA": str(volume), "TRUST_PROXY": "1",
        "SECRET_KEY": "0123456789" * 3 + "abcdefghij" * 3, "ALLOWED_HOSTS": "chat.example.org",
        "ORIGINS": "https://chat.example.org", "PATH": f"{installed}:{os.environ['PATH']}",
        "HOME": str(volume),
    }  # fmt: skip
    as_nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    command = [*(as_nobody if os.geteuid() == 0 else []), *recipe.command]
    with running_server(volume, command, cwd=volume, **given) as server:
        until_true(lambda: not _probe(recipe, given).returncode)
        # Nobody else can read what it keeps.
        for path in volume.glob("*"):
            assert path.name.startswith("server-") or not path.stat().st_mode & 0o077, path
        said = server.log.read_text()
        assert "Parley is running on https://chat.example.org with Daphne" in said
    assert _probe(recipe, given).returncode == 1


def _probe(recipe: Recipe, given: dict[str, str]) -> "subprocess.CompletedProcess[bytes]":
    words = [sys.executable if word == "python" else word for word in recipe.health]
    return subprocess.run(words, env=given, capture_output=True, check=False)
