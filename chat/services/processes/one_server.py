"""On SQLite one process serves: what happens in one is not told to another, and both would take
each other's answers for lost.

It holds a lock beside the database for as long as it lives; the kernel lets go of it however the
process ends. Commands need no lock: they read and write beside a server.
"""

import fcntl
import os
from pathlib import Path

from django.db import connection

# The locks that this process holds, by their files.
_locks: dict[str, int] = {}


def serve_alone() -> str:
    """Take the lock for good; why this process cannot serve, if another has it."""
    if connection.vendor != "sqlite" or serves_alone():
        return ""
    file = os.open(_path(), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        # Not `flock`: a child would hold it as well, and might live longer.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        with os.fdopen(file) as other:
            return (
                f"Parley is running already (process {other.read().strip()}) with the database "
                f"{connection.settings_dict['NAME']}. SQLite is for one server: stop the other, "
                "give this one a folder of its own (PARLEY_DATA), or use PostgreSQL (DATABASE_URL)."
            )
    os.ftruncate(file, 0)
    os.write(file, b"%d\n" % os.getpid())
    _locks[_path()] = file
    return ""


def serves_alone() -> bool:
    """Whether every other process that ever served this database is dead."""
    return connection.vendor == "sqlite" and _path() in _locks


def _path() -> str:
    return f"{Path(connection.settings_dict['NAME']).resolve()}.serving"
