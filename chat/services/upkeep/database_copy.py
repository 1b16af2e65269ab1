"""A copy of the whole database in one file, made beside a running server, and put back.

SQLite is copied by its own backup interface: a copy of the file alone would miss what is still in
its log. PostgreSQL is copied by its own programs, which every installation of its client has.
"""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from subprocess import PIPE
from typing import Final

from django.apps import apps
from django.db import connection, connections

NAMES: Final = {"sqlite": "database.sqlite3", "postgresql": "database.pgdump"}


class CopyFailed(Exception):
    """Why the database could not be copied or put back, in a sentence for whoever asked for it."""


def copy_name() -> str:
    """What the copy of this kind of database is called."""
    return NAMES[connection.vendor]


def copy_database(target: Path) -> None:
    """Copy what is committed at this moment; others go on writing meanwhile."""
    if connection.vendor == "sqlite":
        _copy_sqlite(target)
    else:
        _run_postgres("pg_dump", "--format=custom", "--no-owner", f"--file={target}")


def put_back_database(source: Path) -> None:
    """Put a copy in the place of the database. Nobody else may use it meanwhile."""
    if connection.vendor == "sqlite":
        _check_sqlite(source)
        connections.close_all()
        database = Path(connection.settings_dict["NAME"])
        for log in ("-wal", "-shm"):
            database.with_name(database.name + log).unlink(missing_ok=True)
        source.chmod(0o600)
        source.replace(database)
    else:
        drop = _drop_all()
        connections.close_all()
        _put_back_postgres(source, drop)


def _copy_sqlite(target: Path) -> None:
    connection.ensure_connection()
    copy = sqlite3.connect(target)
    try:
        connection.connection.backup(copy)
    except sqlite3.Error as error:
        raise CopyFailed(f"The database could not be copied: {error}.") from None
    finally:
        copy.close()
    _check_sqlite(target)


def _check_sqlite(file: Path) -> None:
    """A copy that cannot be read is found now, not on the day when it is needed."""
    opened = sqlite3.connect(file)
    try:
        [(found,)] = opened.execute("PRAGMA quick_check(1)").fetchall()
    except sqlite3.Error as error:
        found = str(error)
    finally:
        opened.close()
    if found != "ok":
        raise CopyFailed(f"The copy of the database is damaged: {found}.")


def _drop_all() -> str:
    """What a later version has added is in no copy, and would be in the way: all tables of ours go,
    by the names of their apps, for an older program does not know all of them."""
    ours = ("django_", *(f"{app.label}_" for app in apps.get_app_configs()))
    names = [name for name in connection.introspection.table_names() if name.startswith(ours)]
    quoted = ", ".join(map(connection.ops.quote_name, names))
    return f"DROP TABLE IF EXISTS {quoted} CASCADE" if names else "SELECT 1"


def _put_back_postgres(source: Path, drop: str) -> None:
    """All in one transaction: what cannot be put back leaves everything as it was."""
    reading = ("pg_restore", "--clean", "--if-exists", "--no-owner", "--file=-", str(source))
    writing = ("psql", "--single-transaction", "--quiet", "--no-psqlrc", "--output=/dev/null",
               "--set=ON_ERROR_STOP=1", f"--command={drop}", "--file=-")  # fmt: skip
    for program, *_words in (reading, writing):
        _look_for(program)
    # Without its remarks about everything that is gone already.
    environment = {"PGOPTIONS": "-c client_min_messages=warning", **_environment()}
    with tempfile.TemporaryFile("w+") as said:
        with (
            subprocess.Popen(reading, env=environment, stdout=PIPE, stderr=said) as reader,
            subprocess.Popen(writing, env=environment, stdin=PIPE, stderr=said) as writer,
        ):
            assert reader.stdout is not None
            assert writer.stdin is not None
            # Whoever stops taking says why.
            with contextlib.suppress(BrokenPipeError):
                shutil.copyfileobj(reader.stdout, writer.stdin)
            reader.stdout.close()
            if reader.wait():
                # Before it reads the end, and takes half of it for all.
                writer.kill()
            with contextlib.suppress(BrokenPipeError):
                writer.stdin.close()
        if reader.returncode or writer.returncode:
            said.seek(0)
            reason = said.read().strip().splitlines() or [f"exit code {writer.returncode}"]
            raise CopyFailed(f"The copy could not be put back: {reason[0]}")


def _look_for(program: str) -> None:
    if shutil.which(program) is None:
        raise CopyFailed(
            f"{program} is not installed. It comes with PostgreSQL's client, for example: "
            "sudo apt-get install postgresql-client"
        )


def _run_postgres(program: str, *words: str) -> None:
    _look_for(program)
    ended = subprocess.run(
        [program, *words], env=_environment(), capture_output=True, text=True, check=False
    )
    if ended.returncode:
        reason = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
        raise CopyFailed(f"{program} failed: {reason[-1]}")


def _environment() -> dict[str, str]:
    settings = connection.settings_dict
    # By the environment: the list of processes shows arguments to everybody.
    given = {
        "PGHOST": settings["HOST"],
        "PGPORT": str(settings["PORT"] or ""),
        "PGUSER": settings["USER"],
        "PGPASSWORD": settings["PASSWORD"],
        "PGDATABASE": settings["NAME"],
    }
    return {**os.environ, **{name: value for name, value in given.items() if value}}
