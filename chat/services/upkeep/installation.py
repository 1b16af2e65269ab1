"""One installation, however many servers and machines: they prepare it one at a time, open the
same secrets and see the same files.

The database keeps a secret that only the right keys open, and a mark that the folder of files has
as well. A server with other keys would read every API key as empty, one with another folder would
answer 404 to every file: both are refused, with a sentence that says what to share.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from uuid import uuid4

from django.conf import settings
from django.db import connection, transaction

from chat.models import Installation

Say = Callable[[str], None]

WAITING: Final = "Another server prepares the database; waiting for it …"
# A number of our own: PostgreSQL's locks of this kind have no names.
LOCK: Final = 0x5041524C4559
# What the keys are tried on.
TRIED: Final = "parley"
MARK: Final = ".parley"
REMEDY: Final = "If they are lost for good, `manage.py take_over` goes on without them."


@contextmanager
def prepared_alone(say: Say) -> Iterator[None]:
    """Nobody else prepares this database, or this folder, at the same time."""
    descriptor = os.open(settings.DATA_DIR / "preparing", os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor) as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(WAITING)
            fcntl.lockf(file, fcntl.LOCK_EX)
        if connection.vendor == "postgresql":
            with _locked_database(say):
                yield
        else:
            yield


@contextmanager
def _locked_database(say: Say) -> Iterator[None]:
    """A lock that ends with its transaction, on a connection of its own: it outlives what commits
    meanwhile, and a pool between us and the database does not lose it."""
    own = connection.copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [LOCK])
            if not cursor.fetchone()[0]:
                say(WAITING)
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LOCK])
        yield
    finally:
        own.close()


def foreign_keys_or_files() -> str:
    """Why this server does not belong to the installation of its database; empty if it does."""
    if Installation._meta.db_table not in connection.introspection.table_names():
        return ""
    here = Installation.objects.first()
    if here is None:
        return ""
    if here.secret != TRIED:
        return (
            "The keys of this server do not open what the database holds: give all servers the "
            f"same PARLEY_KEYS (now {_source_of_keys()}). {REMEDY}"
        )
    if here.files and here.files != _mark():
        return (
            f"The files of this database are not in {settings.MEDIA_ROOT}: let all servers share "
            f"that folder, or copy it from where they are, with the file {MARK}. {REMEDY}"
        )
    return ""


@transaction.atomic
def found_installation() -> None:
    """At the first start: what the database is tried by from now on."""
    here = Installation.objects.first() or Installation(secret=TRIED)
    # One server alone has its database beside its files; they are not mixed up.
    if not here.files and connection.vendor != "sqlite":
        here.files = _mark() or uuid4().hex
        _mark_files(here.files)
    here.save()


@transaction.atomic
def take_over() -> None:
    """These keys and this folder are the right ones from now on, whatever was before."""
    Installation.objects.all().delete()
    found_installation()


def mark_restored_files() -> None:
    """Let the folder have the mark of a database that was put back together with its files."""
    if Installation._meta.db_table in connection.introspection.table_names():
        here = Installation.objects.first()
        if here and here.files:
            _mark_files(here.files)


def _mark_files(mark: str) -> None:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / MARK).write_text(f"{mark}\n")


def _mark() -> str:
    try:
        return Path(settings.MEDIA_ROOT, MARK).read_text().strip()
    except FileNotFoundError:
        return ""


def _source_of_keys() -> str:
    if os.environ.get("PARLEY_KEYS", "").strip():
        return "they come from the environment"
    return f"they come from {settings.DATA_DIR / 'provider_keys'}"
