"""The doctor: what is amiss is named, with what to do about it."""

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from chat.services import examine
from chat.services.catalog.defaults import ensure_defaults
from chat.services.upkeep import doctor
from chat.services.upkeep.backup import backup_folder
from tests.support import factories as make

KEY = "sk-canary-0123456789abcdef"
# Where nobody answers.
NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def folder(db: None, settings: Any, tmp_path: Path) -> Path:
    """A healthy installation, but for its model and its backup."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir(mode=0o700)
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / ".stamp").touch()
    ensure_defaults()
    return tmp_path / "data"


def examined(*words: str) -> list[str]:
    """All its lines, and how it ended."""
    said = StringIO()
    try:
        call_command("doctor", *words, stdout=said)
    except CommandError as error:
        said.write(str(error))
    return said.getvalue().splitlines()


@pytest.mark.both_databases
def test_all_is_well() -> None:
    lines = examined()
    assert not [line for line in lines if line.startswith("BAD")]
    assert f"ok    Database: {connection.display_name}, up to date" in lines
    assert "ok    Clock: that of the database" in lines
    assert "ok    Translations: compiled" in lines
    assert "ok    Static files: gathered" in lines
    assert "look  Models: only the demo model answers" in lines
    assert "look  Backup: none was made yet" in lines
    assert "      → manage.py backup, every night" in lines


def test_a_database_that_is_behind() -> None:
    MigrationRecorder(connection).migration_qs.filter(app="sessions").delete()
    lines = examined()
    assert "BAD   Database: 1 steps behind" in lines
    assert "      → manage.py prepare" in lines
    assert lines[-1] == "Things that must be mended: 1."


def test_keys_that_are_lost(settings: Any) -> None:
    make.a_provider(name="Real", kind="openai", base_url=NOWHERE, api_key=KEY)
    assert any("look  Provider Real: error.chat_provider_" in line for line in examined())
    assert not any("Provider" in line for line in examined("--offline"))
    settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
    lines = examined()
    assert "BAD   Keys: cannot be decrypted: Real" in lines
    assert KEY not in str(lines)


def test_a_redis_that_is_away(settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9"
    assert "BAD   Redis: does not answer: ConnectionError" in examined("--offline")


def test_two_servers_without_redis() -> None:
    """A command has a row too, and misses nothing."""
    for serves in (True, True, False):
        make.a_process(serves=serves)
    assert any("BAD   Processes: 2 servers without Redis" in line for line in examined("--offline"))


@pytest.mark.both_databases
def test_a_clock_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = timezone.now() + timedelta(minutes=2)
    monkeypatch.setattr(doctor.timezone, "now", lambda: ahead)
    lines = examined("--offline")
    assert any("BAD   Clock: 1" in line and "off that of the database" in line for line in lines)
    assert "      → Let both keep time by NTP." in lines


def test_translations_that_are_not_compiled(settings: Any, tmp_path: Path) -> None:
    texts = tmp_path / "locale" / "de" / "LC_MESSAGES" / "django.po"
    texts.parent.mkdir(parents=True)
    texts.touch()
    settings.LOCALE_PATHS = [tmp_path / "locale"]
    lines = examined("--offline")
    assert "BAD   Translations: not compiled: locale/de/LC_MESSAGES/django.po" in lines
    assert "      → make messages" in lines


def test_static_files_that_are_not_gathered(settings: Any) -> None:
    (settings.STATIC_ROOT / ".stamp").unlink()
    lines = examined("--offline")
    assert "look  Static files: not gathered yet" in lines
    assert "      → manage.py prepare" in lines


def test_keys_that_everybody_can_read(folder: Path) -> None:
    keys = folder / "provider_keys"
    keys.touch()
    keys.chmod(0o644)
    # Nobody else comes into the folder.
    assert f"ok    Data folder: {folder}, for the server alone" in examined("--offline")
    folder.chmod(0o755)
    lines = examined("--offline")
    told = f"look  Data folder: others on this machine can read {folder}, {keys}"
    assert told in lines
    assert f"      → chmod 700 {folder}" in lines
    keys.chmod(0o600)
    assert told.removesuffix(f", {keys}") in examined("--offline")


def test_how_old_the_last_backup_is() -> None:
    last = backup_folder() / "last"
    last.write_text(timezone.now().isoformat())
    assert "ok    Backup: one of the last 24 hours" in examined("--offline")
    last.write_text((timezone.now() - timedelta(days=9)).isoformat())
    assert "look  Backup: the last one is 9 days old" in examined("--offline")


def connections() -> str:
    findings = [each for each in examine(asks_providers=False) if each.about == "Connections"]
    return " ".join(f"{each.state}: {each.words} {each.remedy}".strip() for each in findings)


@pytest.mark.both_databases
def test_as_many_connections_as_all_servers_may_open(settings: Any) -> None:
    """R7: those of one that replaces another count, too. SQLite knows no limit."""
    with connection.cursor() as cursor:
        if connection.vendor != "postgresql":
            assert connections() == ""
            return
        cursor.execute("SHOW max_connections")
        # Some are kept for whoever looks after the server.
        taken = int(cursor.fetchone()[0]) - 3
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "connections": taken // 5}
    settings.PARLEY_PROCESSES = 4
    assert connections() == f"ok: at most {taken // 5 * 5} of {taken}"
    settings.PARLEY_PROCESSES = 5
    assert connections() == (
        f"look: PostgreSQL takes {taken}, and 5 servers with one to replace them may open "
        f"{taken // 5 * 6} (PARLEY_LIMIT_CONNECTIONS is {taken // 5}) Set PARLEY_LIMIT_CONNECTIONS "
        f"to {taken // 6} or less, or raise max_connections in postgresql.conf."
    )
