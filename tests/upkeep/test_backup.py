"""Backup and restore: commands of an operator, each in a process of its own."""

import json
import stat
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet

from tests.support.postgres import running_postgres
from tests.support.server import python, running_server

# Makes somebody with a conversation, a file and a provider whose key must not be seen.
FILL = """
import django; django.setup()
from pathlib import Path
from django.conf import settings
from django.contrib.auth.models import User
from chat.models import Conversation, Message, Part, Provider
alice = User.objects.create(username="alice")
talk = Conversation.objects.create(owner=alice, title="Canary talk")
message = Message.objects.create(conversation=talk, position=1, role="user")
Part.objects.create(conversation=talk, message=message, position=0, type="text", text="Canary 7")
Provider.objects.create(name_en="Real", kind="openai", base_url="http://127.0.0.1:9/v1",
                        api_key="sk-canary-0123456789abcdef")
folder = Path(settings.MEDIA_ROOT, "a"); folder.mkdir(parents=True)
(folder / "picture.bin").write_bytes(bytes(range(256)))
"""
# As `manage.py backup` does, without another process.
BACKUP = """
import os
from django.core.management import call_command
call_command("backup", *filter(None, [os.environ.get("KEPT")]))
"""
READ = """
import django; django.setup()
import json
from pathlib import Path
from django.conf import settings
from chat.models import Conversation, Part, Provider
print(json.dumps([
    [talk.title for talk in Conversation.objects.all()], [part.text for part in Part.objects.all()],
    [str(row.api_key) for row in Provider.objects.filter(name_en="Real")],
    sorted(str(path.relative_to(settings.MEDIA_ROOT))
           for path in Path(settings.MEDIA_ROOT).rglob("*") if path.is_file() and path.suffix),
]))
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def urls(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """The settings of an installation, and of an empty one that a backup is put back into."""
    if request.param == "sqlite":
        yield {}, {}
        return
    with running_postgres() as one, running_postgres() as other:
        yield {"DATABASE_URL": one}, {"DATABASE_URL": other}


def manage(data: Path, *words: str, **settings: str) -> str:
    ended = python(data, "manage.py", *words, **settings)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def refused(data: Path, *words: str, **settings: str) -> str:
    ended = python(data, "manage.py", *words, **settings)
    assert ended.returncode == 1, ended.stdout
    return ended.stderr.strip()


def run(data: Path, program: str, **settings: str) -> str:
    given = {"DJANGO_SETTINGS_MODULE": "chatsite.settings", **settings}
    ended = python(data, "-c", program, **given)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_backup_of_a_running_server_is_put_back_elsewhere(
    tmp_path: Path, urls: tuple[dict[str, str], dict[str, str]]
) -> None:
    here, there = urls
    key = Fernet.generate_key().decode()
    one, other, file = tmp_path / "one", tmp_path / "other", tmp_path / "kept.zip"
    with running_server(one, PARLEY_KEYS=key, **here):
        said = run(one, FILL + BACKUP, KEPT=str(file), PARLEY_KEYS=key, **here)
    assert "conversations: 1, messages: 1, files: 1" in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # The listing and the bytes show no key; that in the database is encrypted.
    with zipfile.ZipFile(file) as archive:
        assert all(b"sk-canary" not in plain(archive, name) for name in archive.namelist())
        assert any(b"Canary talk" in plain(archive, name) for name in archive.namelist())
        assert not [name for name in archive.namelist() if "key" in name]
    assert "As it was on" in manage(other, "restore", str(file), PARLEY_KEYS=key, **there)
    assert json.loads(run(other, READ, PARLEY_KEYS=key, **there)) == [
        ["Canary talk"], ["Canary 7"], ["sk-canary-0123456789abcdef"], ["a/picture.bin"],
    ]  # fmt: skip


def plain(archive: zipfile.ZipFile, name: str) -> bytes:
    """What somebody reads in a backup who knows how to."""
    data = archive.read(name)
    if not name.endswith(".pgdump"):
        return data
    reader = ["pg_restore", "--file=-"]
    return subprocess.run(reader, input=data, capture_output=True, check=True).stdout


LATER = """
import django; django.setup()
from django.db import connection
from chat.models import Conversation
Conversation.objects.update(title="Later")
key = Conversation._meta.pk.db_type(connection)
with connection.cursor() as cursor:
    cursor.execute(f"CREATE TABLE chat_later (talk {key} REFERENCES chat_conversation (id))")
    cursor.execute("INSERT INTO chat_later SELECT id FROM chat_conversation")
"""
TITLES = """
import django; django.setup()
from django.db import connection
from chat.models import Conversation
print([talk.title for talk in Conversation.objects.all()],
      "chat_later" in connection.introspection.table_names())
"""


@pytest.mark.full
def test_an_update_is_taken_back_with_the_tables_that_it_made(
    tmp_path: Path, urls: tuple[dict[str, str], dict[str, str]]
) -> None:
    """Tables that the backup does not have point to those that it has."""
    here, _there = urls
    data, file = tmp_path / "data", tmp_path / "kept.zip"
    manage(data, "prepare", **here)
    run(data, FILL, **here)
    manage(data, "backup", str(file), **here)
    run(data, LATER, **here)
    assert run(data, TITLES, **here) == "['Later'] True\n"
    manage(data, "restore", str(file), "--replace", **here)
    assert run(data, TITLES, **here) == "['Canary talk'] False\n"
    if here:
        # What cannot be put back whole is not put back at all.
        run(data, LATER, **here)
        broken = cut_short(file)
        assert "could not be put back" in refused(data, "restore", str(broken), "--replace", **here)
        assert run(data, TITLES, **here) == "['Later'] True\n"


def cut_short(file: Path) -> Path:
    """The same backup, whose database ends in the middle."""
    broken = file.with_name("broken.zip")
    with zipfile.ZipFile(file) as whole, zipfile.ZipFile(broken, "w") as archive:
        for name in whole.namelist():
            data = whole.read(name)
            half = data[: len(data) * 9 // 10] if name == "database.pgdump" else data
            archive.writestr(name, half)
    return broken


@pytest.mark.full
def test_nothing_is_put_back_below_servers(
    tmp_path: Path, urls: tuple[dict[str, str], dict[str, str]]
) -> None:
    here, _there = urls
    file = tmp_path / "kept.zip"
    with running_server(tmp_path, **here):
        manage(tmp_path, "backup", str(file), **here)
        said = refused(tmp_path, "restore", str(file), "--replace", **here)
    assert ("Stop them first" if here else "Parley is running already") in said
    assert "As it was on" in manage(tmp_path, "restore", str(file), "--replace", **here)


@pytest.mark.full
class TestRestore:
    @pytest.fixture
    def filled(self, tmp_path: Path) -> Path:
        data = tmp_path / "data"
        manage(data, "prepare")
        run(data, FILL)
        manage(data, "backup", str(tmp_path / "kept.zip"))
        return data

    def test_what_is_there_is_replaced_only_on_wish_and_kept(self, filled: Path) -> None:
        file = str(filled.parent / "kept.zip")
        run(filled, "import django; django.setup()\nfrom chat.models import Conversation\n"
            "Conversation.objects.update(title='Later')")  # fmt: skip
        assert "With --replace" in refused(filled, "restore", file)
        assert json.loads(run(filled, READ))[0] == ["Later"]
        manage(filled, "restore", file, "--replace")
        assert json.loads(run(filled, READ))[0] == ["Canary talk"]
        [before] = (filled / "backups").glob("parley-*.zip")
        manage(filled, "restore", str(before), "--replace")
        assert json.loads(run(filled, READ))[0] == ["Later"]

    def test_what_is_no_backup_or_of_a_newer_version_is_refused(self, filled: Path) -> None:
        other, wrong = filled.parent / "other", filled.parent / "wrong.zip"
        wrong.write_bytes(b"PK\x03\x04 nothing")
        assert f"{wrong} is not a backup of Parley." in refused(other, "restore", str(wrong))
        with zipfile.ZipFile(filled.parent / "kept.zip") as kept:
            manifest = json.loads(kept.read("parley.json"))
        manifest["migrations"].append("chat.9999_future")
        with zipfile.ZipFile(wrong, "w") as archive:
            archive.writestr("parley.json", json.dumps(manifest))
        assert "chat.9999_future): update first" in refused(other, "restore", str(wrong))

    def test_a_file_that_would_lie_elsewhere_is_left_in_the_archive(self, filled: Path) -> None:
        evil = filled.parent / "evil.zip"
        evil.write_bytes((filled.parent / "kept.zip").read_bytes())
        name = f"{uuid4()}.txt"
        with zipfile.ZipFile(evil, "a") as archive:
            archive.writestr(f"files/../../{name}", "out")
            archive.writestr(f"files/../{name}", "out")
        other = filled.parent / "other"
        assert "cannot be served yet. The keys" in refused(other, "restore", str(evil))
        assert not list(filled.parent.rglob(name))


# As if the last step had not been taken yet; it is harmless to take it again.
BEHIND = """
import django; django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    cursor.execute("DROP TABLE django_session")
"""


@pytest.mark.full
def test_before_an_update_the_database_is_copied(
    tmp_path: Path, urls: tuple[dict[str, str], dict[str, str]]
) -> None:
    here, _there = urls
    data, backups = tmp_path / "data", tmp_path / "data" / "backups"
    manage(data, "prepare", **here)
    run(data, FILL, **here)
    run(data, BEHIND, **here)
    if here:
        # Where its client is not installed, nothing is changed until somebody says so.
        bare = {**here, "PATH": str(tmp_path)}
        for command in ("prepare", "serve"):
            told = refused(data, command, **bare)
            assert "pg_dump is not installed" in told
            assert told.endswith("run: manage.py prepare --without-copy")
        assert "steps: 1" in (said := manage(data, "prepare", "--without-copy", **bare))
        assert "No copy was kept of the database as it was." in said
        assert not list(backups.glob("*.zip"))
        run(data, BEHIND, **here)
    said = manage(data, "prepare", **here)
    [kept] = backups.glob("before-update-*.zip")
    assert f"Keeping a copy of the database as it was: {kept}" in said
    with zipfile.ZipFile(kept) as archive:
        [database] = [name for name in archive.namelist() if name.startswith("database.")]
        assert b"Canary talk" in plain(archive, database)
    assert not list(backups.glob(".*"))


def test_the_doctor_ends_with_a_fault_where_something_must_be_mended(tmp_path: Path) -> None:
    """As a supervisor asks it; what it says is in test_doctor.py."""
    ended = python(tmp_path, "manage.py", "doctor", "--offline")
    assert "BAD   Database: " in ended.stdout
    assert (ended.returncode, ended.stderr.strip()) == (
        1, "CommandError: Things that must be mended: 1.",
    )  # fmt: skip
