"""What must be there before the first page: tables, static files, an owner, a model."""

import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

Say = Callable[[str], None]

# Under this a conversation could not be saved to its end.
NEEDED_BYTES = 50_000_000
# Long enough for a running server's own writes, short enough for somebody who waits.
PROBE_SECONDS = 5


def check_disk() -> None:
    free = shutil.disk_usage(settings.DATA_DIR).free
    if free < NEEDED_BYTES:
        raise CommandError(
            f"No space left: {settings.DATA_DIR} has {free // 1_000_000} MB free, "
            f"Parley needs {NEEDED_BYTES // 1_000_000} MB."
        )


def check_database_file() -> None:
    """Fail at once, and clearly, when the SQLite file cannot be written."""
    # Inside a transaction the lock would be our own.
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        return
    name = connection.settings_dict["NAME"]
    try:
        probe = sqlite3.connect(name, timeout=PROBE_SECONDS, isolation_level=None)
        try:
            probe.execute("BEGIN IMMEDIATE")
            probe.execute("ROLLBACK")
        finally:
            probe.close()
    except sqlite3.Error as error:
        raise CommandError(f"The database {name} cannot be used: {error}.") from None


def migrate_if_needed(say: Say) -> None:
    executor = MigrationExecutor(connection)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if pending:
        say(f"Updating the database ({len(pending)} steps) …")
        call_command("migrate", interactive=False, verbosity=0)


def collect_if_needed(say: Say) -> None:
    """Gather the static files when one of them has changed since the last time."""
    stamp = Path(settings.STATIC_ROOT) / ".stamp"
    fingerprint = static_fingerprint()
    if stamp.is_file() and stamp.read_text() == fingerprint:
        return
    say("Gathering the static files …")
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(fingerprint)


def static_fingerprint() -> str:
    found = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            stat = Path(storage.path(name)).stat()
            found.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return found.hexdigest()


def ensure_owner(say: Say) -> User:
    """The first administrator; without a password, because the link lets them in."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if owner is None:
        say(f"Creating the account “{settings.PARLEY_OWNER}” …")
        owner, _ = User.objects.get_or_create(username=settings.PARLEY_OWNER)
        owner.is_superuser = owner.is_staff = owner.is_active = True
        owner.set_unusable_password()
        owner.save()
    return owner
