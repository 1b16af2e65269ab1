"""A data folder as `prepare` finds it after an update without steps: with all tables and nothing in
them, and with the static files gathered. To make both anew takes longer than most tests that start
a process, so it is done once for all of them, and for the databases of the tests' own processes."""

import fcntl
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

from tests.support.process import ROOT, environment

# The processes of one run share it: the first names it, and removes it at its end.
_RUN = "PARLEY_TEST_RUN"
_IS_FIRST = _RUN not in os.environ
KEPT = Path(tempfile.gettempdir(), "parley-tables-" + os.environ.setdefault(_RUN, uuid4().hex))
DATABASE, STATIC = "db.sqlite3", "static"
_MAKE = """
import os, django
os.environ["DJANGO_SETTINGS_MODULE"] = "chatsite.settings"
django.setup()
from django.core.management import call_command
from chat.management.preparation import collect_if_needed
call_command("migrate", verbosity=0)
collect_if_needed(print)
"""


def lay_tables(data: Path, *, database: bool = True) -> None:
    """Put them into a new folder; what is there already stays."""
    kept = _kept()
    data.mkdir(parents=True, exist_ok=True)
    if database and not (data / DATABASE).exists():
        copy_tables(data / DATABASE)
    if not (data / STATIC).exists():
        shutil.copytree(kept / STATIC, data / STATIC)


def copy_tables(file: Path) -> None:
    """A new SQLite database."""
    with closing(sqlite3.connect(file)) as copy:
        file.chmod(0o600)
        with closing(sqlite3.connect(_kept() / DATABASE)) as made:
            made.backup(copy)
        copy.execute("PRAGMA journal_mode=WAL")


def made_once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that the first of the processes fills, while the others wait for it."""
    folder = KEPT / name
    KEPT.mkdir(mode=0o700, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        whole = KEPT / f"{name}.whole"
        if not whole.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
            make(folder)
            whole.touch()
    return folder


def forget_tables() -> None:
    if _IS_FIRST:
        shutil.rmtree(KEPT, ignore_errors=True)


def _kept() -> Path:
    return made_once("tables", _make)


def _make(folder: Path) -> None:
    program = [sys.executable, "-c", _MAKE]
    subprocess.run(program, cwd=ROOT, env=environment(folder), check=True, timeout=300)
