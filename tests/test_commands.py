"""The commands that start Parley: prepare, serve, login_link."""

import socket
import sqlite3
from collections import namedtuple
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.templatetags.static import static as static_url
from django.test import Client

from chat.management import preparation
from chat.management.commands.serve import check_port
from chat.models import Agent, Provider
from tests.support import factories as make
from tests.support.server import Server, Visitor, python

HASHED = "chatsite.storage.HashedFilesStorage"


def output(*words: str) -> str:
    said = StringIO()
    call_command(*words, stdout=said)
    return said.getvalue().strip()


@pytest.fixture
def static(settings: Any, tmp_path: Path) -> Path:
    settings.STATIC_ROOT = tmp_path / "static"
    return tmp_path / "static"


@pytest.mark.both_databases
@pytest.mark.django_db
class TestPrepare:
    def test_makes_an_owner_without_a_password(self, static: Path) -> None:
        assert "Creating the account “owner”" in output("prepare")
        owner = User.objects.get(is_superuser=True)
        assert owner.username == "owner"
        assert not owner.has_usable_password()

    def test_makes_something_to_talk_to(self, static: Path) -> None:
        output("prepare")
        assert Agent.objects.get(is_default=True, model__provider__kind=Provider.Kind.DEMO)

    def test_again_has_nothing_to_do(self, static: Path) -> None:
        output("prepare")
        assert output("prepare") == ""
        assert User.objects.count() == 1

    def test_keeps_an_administrator_who_is_there(self, static: Path) -> None:
        User.objects.create_superuser("alice", password="x")
        assert "Creating" not in output("prepare")

    @pytest.mark.only_postgresql
    def test_begins_no_update_without_a_copy(
        self, static: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The reason and both ways on are in one sentence; SQLite needs no program for it."""
        output("prepare")
        make.a_conversation()
        steps = MigrationRecorder(connection).migration_qs.filter(app="sessions")
        steps.delete()
        monkeypatch.setenv("PATH", str(static))
        with pytest.raises(CommandError) as refusal:
            output("prepare")
        for words in ("was not updated", "pg_dump is not installed", "prepare --without-copy"):
            assert words in str(refusal.value)
        assert not steps.exists()

    def test_gathers_static_files_again_when_one_changed(self, static: Path) -> None:
        output("prepare")
        assert (static / "admin/css/base.css").is_file()
        (static / ".stamp").write_text("older")
        assert "Gathering" in output("prepare")

    def test_hashes_and_compresses_static_files(self, static: Path, settings: Any) -> None:
        settings.STORAGES = {**settings.STORAGES, "staticfiles": {"BACKEND": HASHED}}
        output("prepare")
        assert static_url("admin/css/base.css") != "/static/admin/css/base.css"
        assert static_url("missing.css") == "/static/missing.css"
        assert (static / "admin/css/base.css.gz").is_file()

    def test_tells_when_the_disk_is_full(self, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = namedtuple("usage", "total used free")
        monkeypatch.setattr(preparation.shutil, "disk_usage", lambda path: usage(9, 9, 1_000_000))
        with pytest.raises(CommandError, match=r"No space left: .* 1 MB free"):
            output("prepare")


@pytest.mark.django_db
class TestLoginLink:
    @pytest.fixture(autouse=True)
    def alice(self) -> User:
        return User.objects.create_superuser("alice")

    def test_logs_in_once(self) -> None:
        link = output("login_link")
        first = Client().post(link)
        assert (first.status_code, first["Location"]) == (302, "/")
        second = Client().post(link)
        assert (second.status_code, second["Location"]) == (302, "/accounts/login/")
        assert Client().get(link)["Location"] == "/accounts/login/"

    def test_looking_at_it_does_not_use_it_up(self) -> None:
        """S10: mail scanners, previews and HEAD only look."""
        link = output("login_link")
        for look in (Client().head, Client().get, Client().head):
            assert look(link).status_code == 200
        assert "Log in as alice" in Client().get(link).content.decode()
        assert Client().post(link)["Location"] == "/"

    def test_opened_again_in_the_same_browser_it_leads_home(self) -> None:
        browser, link = Client(), output("login_link")
        browser.post(link)
        assert browser.get(link)["Location"] == "/"

    def test_an_old_one_is_refused(self, settings: Any) -> None:
        link = output("login_link")
        settings.SESAME_MAX_AGE = -1
        assert Client().get(link)["Location"] == "/accounts/login/"

    def test_for_somebody_else(self) -> None:
        User.objects.create_user("bob")
        browser = Client()
        browser.post(output("login_link", "bob"))
        assert browser.session["_auth_user_id"] == str(User.objects.get(username="bob").pk)

    def test_for_nobody(self) -> None:
        with pytest.raises(CommandError, match="no active account “charlie”"):
            output("login_link", "charlie")

    def test_before_prepare(self) -> None:
        User.objects.all().delete()
        with pytest.raises(CommandError, match="no administrator yet"):
            output("login_link")


def test_serve_prints_a_link_that_logs_in(serve: Callable[..., Server]) -> None:
    server = serve()
    browser = Visitor(f"{server.link}&next=/healthz").opener
    with browser.open(f"{server.url}/admin/", timeout=60) as page:
        assert page.url == f"{server.url}/admin/"
        assert "server" not in {name.lower() for name in page.headers}


def test_serve_ends_cleanly_on_sigterm(serve: Callable[..., Server]) -> None:
    server = serve()
    server.process.terminate()
    assert server.process.wait(10) == 0
    assert "Traceback" not in server.log.read_text()


def one_line(result: Any) -> str:
    assert result.returncode == 1
    lines: list[str] = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_serve_tells_when_the_port_is_taken(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = one_line(python(tmp_path, "manage.py", "serve", PORT=str(port)))
    assert f"Port {port} is taken" in line


def test_prepare_tells_when_the_database_is_locked(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "db.sqlite3", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "database is locked" in one_line(python(tmp_path, "manage.py", "prepare"))
    other.close()


def test_prepare_tells_when_the_database_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "db.sqlite3").mkdir()
    line = one_line(python(tmp_path, "manage.py", "prepare"))
    assert "unable to open database file" in line


def test_prepare_tells_when_the_server_is_away(tmp_path: Path) -> None:
    url = "postgresql://parley@127.0.0.1:1/parley"
    result = python(tmp_path, "manage.py", "prepare", DATABASE_URL=url)
    assert result.returncode == 1
    assert "The database cannot be used" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_host_that_is_not_ours_is_told() -> None:
    with pytest.raises(CommandError, match=r"Cannot listen on 203\.0\.113\.1:8000"):
        check_port("203.0.113.1", 8000)
    with pytest.raises(CommandError, match="Cannot listen"):
        check_port("127.0.0.1", 70000)


@pytest.mark.full
def test_prepare_on_postgresql(tmp_path: Path, postgres_url: str) -> None:
    """Every day it is the first thing that the servers of `tests/faults` do."""
    result = python(tmp_path, "manage.py", "prepare", DATABASE_URL=postgres_url)
    assert result.returncode == 0, result.stderr
    again = python(tmp_path, "manage.py", "prepare", DATABASE_URL=postgres_url)
    assert again.stdout == ""
