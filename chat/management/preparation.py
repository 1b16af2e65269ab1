"""What `prepare` makes ready before the first page: tables, static files, an owner."""

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import connection

from chat import services
from chat.management.terminal import Print, report_line
from chat.models import Conversation, SearchEntry

# With less than this an answer might not be saved to its end.
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
    # Inside a transaction the database is locked by ourselves, so the probe would fail.
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


def migrate_if_needed(print_line: Print, *, without_copy: bool = False) -> None:
    if fault := services.newer_database():
        raise CommandError(fault)
    if pending := services.pending_migrations():
        if services.is_in_use():
            back_up_first(print_line, or_without=without_copy)
        print_line(f"Updating the database (steps: {pending}) …")
        call_command("migrate", interactive=False, verbosity=0)
    if fault := services.schema_fault():
        raise CommandError(fault)
    if pending and Conversation.objects.exists() and not SearchEntry.objects.exists():
        # The step that made the index did not fill it.
        services.reindex()


def check_installation() -> None:
    """Before anything is encrypted with keys, or put into a folder, that the others do not have:
    a step of an update may do so too."""
    if fault := services.foreign_keys_or_files():
        raise CommandError(fault)


def back_up_first(print_line: Print, *, or_without: bool) -> None:
    """An update that goes wrong must not take what was there before: without a copy it is not
    begun, unless whoever runs it has said so."""
    try:
        kept = services.backup_before_update()
    except services.CopyFailed as failed:
        if not or_without:
            raise CommandError(
                f"The database was not updated, for no copy could be kept of it as it was: "
                f"{str(failed).rstrip('.')}. Mend that and start again; or, once you have a backup "
                "of another kind, run: manage.py prepare --without-copy"
            ) from None
        print_line(f"No copy was kept of the database as it was. {failed}")
    else:
        print_line(f"Keeping a copy of the database as it was: {kept}")


def collect_if_needed(print_line: Print) -> None:
    """Gather the static files when one of them has changed since the last time."""
    stamp = Path(settings.STATIC_ROOT) / ".stamp"
    fingerprint = static_fingerprint()
    if stamp.is_file() and stamp.read_text() == fingerprint:
        return
    print_line("Gathering the static files …")
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(fingerprint)


def static_fingerprint() -> str:
    found = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            stat = Path(storage.path(name)).stat()
            found.update(f"{name} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return found.hexdigest()


def ensure_owner(print_line: Print) -> None:
    """Somebody must be able to enter and to administrate."""
    if services.find_owner() is None:
        print_line(f"Creating the account “{settings.PARLEY_OWNER}” …")
        services.create_owner(settings.PARLEY_OWNER)


def connect_providers(print_line: Print) -> None:
    """Make the providers that the environment names, at the first start that names them."""
    for report in services.connect_environment(os.environ):
        print_line(report_line(report))
