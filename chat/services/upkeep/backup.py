"""Backup: the database and the files of people in one ZIP file, and back again.

The keys that encrypt providers' API keys are not in it, so that a backup alone opens nothing; they
are `PARLEY_KEYS`, or a small file beside the database, and must be kept elsewhere.
"""

import json
import os
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from chat.models import Conversation, Message
from chat.services.upkeep.database_copy import (
    NAMES,
    CopyFailed,
    copy_database,
    copy_name,
    put_back_database,
)
from chat.services.upkeep.installation import MARK, mark_restored_files

FORMAT: Final = 1
MANIFEST: Final = "parley.json"
FILES: Final = "files"
# Of the copies that are made before an update, so many are kept.
KEPT: Final = 3
# A last backup that is older is told to whoever runs this.
OLD_BACKUP: Final = timedelta(days=7)

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a backup says of itself."""

    made: datetime
    version: str
    database: str
    migrations: frozenset[str]
    people: int
    conversations: int
    messages: int
    files: int


def backup_folder() -> Path:
    """Where backups go that nobody has named a place for."""
    folder = Path(settings.DATA_DIR) / "backups"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def last_backup() -> datetime | None:
    """When the last backup was made by hand or by a timer, wherever it went."""
    try:
        return datetime.fromisoformat((backup_folder() / "last").read_text())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class KeptBackup:
    """A file in our own folder, and what it says of itself, if this program can read it."""

    name: str
    bytes: int
    made: datetime
    contents: Contents | None


def list_backups() -> list[KeptBackup]:
    """Those in our own folder, the latest first."""
    kept = []
    for path in backup_folder().glob("*.zip"):
        try:
            stat = path.stat()
            contents = read_backup(path)
        except FileNotFoundError:
            # It was old, and a newer one has just been made.
            continue
        except CopyFailed:
            contents = None
        written = datetime.fromtimestamp(stat.st_mtime, UTC)
        made = contents.made if contents else written
        kept.append(KeptBackup(path.name, stat.st_size, made, contents))
    return sorted(kept, key=lambda backup: backup.made, reverse=True)


def make_backup(target: Path, *, with_files: bool = True) -> Contents:
    """Copy everything into one file that only we can read. Until it is whole it has another name;
    what was there before stays until then."""
    made = timezone.now()
    unfinished = target.with_name(f".{target.name}.unfinished")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as folder:
            copy = Path(folder) / copy_name()
            copy_database(copy)
            found = list(_files()) if with_files else []
            contents = _describe(made, len(found))
            _write(unfinished, copy, found, contents)
        _check(unfinished)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    if with_files:
        (backup_folder() / "last").write_text(made.isoformat())
    return contents


def backup_before_update() -> Path:
    """A copy of the database alone, as it was before its tables are changed; old ones go."""
    folder = backup_folder()
    target = folder / f"before-update-{timezone.now():%Y%m%d-%H%M%S-%f}.zip"
    make_backup(target, with_files=False)
    for old in sorted(folder.glob("before-update-*.zip"))[:-KEPT]:
        old.unlink()
    return target


def forget_backups(keep: int) -> None:
    """Of the backups in our own folder, remove all but the latest ones."""
    for old in sorted(backup_folder().glob("parley-*.zip"))[: -max(keep, 1)]:
        old.unlink()


def read_backup(source: Path) -> Contents:
    """What is in a backup; raises where it is none, or one that this program cannot take."""
    try:
        with zipfile.ZipFile(source) as archive:
            said = json.loads(archive.read(MANIFEST))
            contents = _contents(said)
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile):
        raise CopyFailed(f"{source} is not a backup of Parley.") from None
    if said["format"] > FORMAT:
        raise CopyFailed(f"{source} was made by a newer version of Parley ({contents.version}).")
    if NAMES.get(connection.vendor) != contents.database:
        raise CopyFailed(
            f"{source} holds {contents.database}, and the database here is {connection.vendor}."
        )
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if unknown := sorted(contents.migrations - known):
        raise CopyFailed(
            f"{source} is of a newer version of Parley ({', '.join(unknown)}): update first."
        )
    return contents


def is_in_use() -> bool:
    """Whether there is anything here that a backup would take the place of."""
    tables = connection.introspection.table_names()
    if Conversation._meta.db_table not in tables:
        return False
    return Conversation.objects.exists() or User.objects.count() > 1


def put_back(source: Path, say: Say) -> Contents:
    """Put everything of a backup in its place. Files that are here and not in it stay."""
    contents = read_backup(source)
    data = Path(settings.DATA_DIR)
    with (
        zipfile.ZipFile(source) as archive,
        tempfile.TemporaryDirectory(dir=data, prefix=".restore-") as folder,
    ):
        say("Unpacking …")
        copy = Path(archive.extract(contents.database, folder))
        names = [name for name in archive.namelist() if _is_file(name)]
        for name in names:
            archive.extract(name, folder)
        say("Putting the database in its place …")
        put_back_database(copy)
        for name in names:
            target = Path(settings.MEDIA_ROOT) / PurePosixPath(name).relative_to(FILES)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            (Path(folder) / name).replace(target)
            target.chmod(0o600)
        mark_restored_files()
    return contents


def _describe(made: datetime, files: int) -> Contents:
    applied = MigrationLoader(connection).applied_migrations
    return Contents(
        made=made,
        version=settings.VERSION,
        database=copy_name(),
        migrations=frozenset(f"{app}.{name}" for app, name in applied),
        people=User.objects.count(),
        conversations=_count(Conversation),
        messages=_count(Message),
        files=files,
    )


def _count(model: Any) -> int:
    """An older database, before its update, may lack what a query would ask for."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {model._meta.db_table}")
        number: int = cursor.fetchone()[0]
    return number


def _contents(said: dict[str, Any]) -> Contents:
    return Contents(
        made=datetime.fromisoformat(said["made"]).astimezone(UTC),
        version=str(said["version"]),
        database=str(said["database"]),
        migrations=frozenset(map(str, said["migrations"])),
        people=int(said["people"]),
        conversations=int(said["conversations"]),
        messages=int(said["messages"]),
        files=int(said["files"]),
    )


def _files() -> Iterator[Path]:
    root = Path(settings.MEDIA_ROOT)
    return (
        path
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != MARK
    )


def _write(target: Path, copy: Path, files: list[Path], contents: Contents) -> None:
    said = {
        "format": FORMAT,
        "made": contents.made.isoformat(),
        "version": contents.version,
        "database": contents.database,
        "migrations": sorted(contents.migrations),
        "people": contents.people,
        "conversations": contents.conversations,
        "messages": contents.messages,
        "files": contents.files,
    }
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive,
    ):
        archive.writestr(MANIFEST, json.dumps(said, indent=2))
        archive.write(copy, contents.database)
        root = Path(settings.MEDIA_ROOT)
        for path in files:
            name = PurePosixPath(FILES, *path.relative_to(root).parts)
            try:
                # Pictures and archives are packed already.
                archive.write(path, str(name), zipfile.ZIP_STORED)
            except FileNotFoundError:
                # Its conversation was deleted for good in the meantime.
                continue


def _check(file: Path) -> None:
    """Read all of it once: a disk that loses bytes is found now."""
    with zipfile.ZipFile(file) as archive:
        if damaged := archive.testzip():
            raise CopyFailed(f"The backup was damaged as it was written ({damaged}).")


def _is_file(name: str) -> bool:
    """A file of people; never one that would lie elsewhere."""
    parts = PurePosixPath(name).parts
    return len(parts) > 1 and parts[0] == FILES and ".." not in parts and not name.endswith("/")
