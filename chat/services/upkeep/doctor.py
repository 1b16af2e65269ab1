"""Doctor: one look at everything that an installation needs, and what to do where it is amiss."""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, Literal

from django.conf import settings
from django.db import DatabaseError, connection
from django.urls import reverse
from django.utils import timezone

from chat.models import LanguageModel, Provider
from chat.protocol.errors import ProviderError
from chat.services.catalog.providers import count_models
from chat.services.people.issuer import IssuerAway, IssuerRefused, examine_issuer, issuer_name
from chat.services.people.second_factor import administrators_without, count_second_factors
from chat.services.processes.lease import count_servers
from chat.services.upkeep.backup import OLD_BACKUP, last_backup
from chat.services.upkeep.keys import encrypted_columns, unreadable_factors
from chat.services.upkeep.schema import newer_database, pending_migrations, schema_fault

State = Literal["ok", "look", "bad"]

LITTLE_SPACE: Final = 1_000_000_000
# Leases are compared by the database's clock, moments by that of the machine.
MOST_APART: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Finding:
    """How one thing is; `remedy` says what to do about it."""

    state: State
    about: str
    words: str
    remedy: str = ""


def examine(*, asks_providers: bool = True) -> Iterator[Finding]:
    """Everything, one after the other. Without a database, what needs none."""
    yield from _folder()
    yield _disk()
    yield _translations()
    yield _static_files()
    try:
        database = _database()
        yield database
        if database.state != "bad":
            for look in (_clock, _secrets, _models, _processes, _second_factor):
                yield look()
            yield from _connections()
            if asks_providers:
                yield from _providers()
                yield from _issuer()
    except DatabaseError as error:
        yield Finding(
            "bad", "Database", f"does not answer: {str(error).strip()}",
            "Start it, or correct DATABASE_URL.",
        )  # fmt: skip
    yield _redis()
    yield _backup()


def _folder() -> Iterator[Finding]:
    """What lies in the data folder is for the server alone."""
    data = Path(settings.DATA_DIR)
    open_to_others = [
        path
        for path in (data, *(data / name for name in ("db.sqlite3", "secret_key", "provider_keys")))
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    # A folder that nobody else may enter hides what is in it.
    if data in open_to_others:
        names = ", ".join(str(path) for path in open_to_others)
        yield Finding(
            "look", "Data folder", f"others on this machine can read {names}",
            f"chmod 700 {data}",
        )  # fmt: skip
    elif not os.access(data, os.W_OK):
        yield Finding("bad", "Data folder", f"{data} cannot be written", f"chown it to {_me()}")
    else:
        yield Finding("ok", "Data folder", f"{data}, for the server alone")


def _me() -> str:
    return f"user {os.getuid()}"


def _disk() -> Finding:
    free = shutil.disk_usage(settings.DATA_DIR).free
    words = f"{free / 1_000_000_000:.1f} GB free"
    if free < LITTLE_SPACE:
        return Finding("bad", "Disk", words, "Make room: answers cannot be kept without it.")
    return Finding("ok", "Disk", words)


def _translations() -> Finding:
    folder = Path(settings.LOCALE_PATHS[0])
    stale = [
        str(texts.relative_to(folder.parent))
        for texts in folder.glob("*/LC_MESSAGES/*.po")
        if not texts.with_suffix(".mo").exists()
    ]
    if stale:
        return Finding("bad", "Translations", f"not compiled: {', '.join(stale)}", "make messages")
    return Finding("ok", "Translations", "compiled")


def _static_files() -> Finding:
    if (Path(settings.STATIC_ROOT) / ".stamp").is_file():
        return Finding("ok", "Static files", "gathered")
    return Finding("look", "Static files", "not gathered yet", "manage.py prepare")


def _database() -> Finding:
    pending = pending_migrations()
    fault = newer_database() or ("" if pending else schema_fault())
    if fault:
        return Finding("bad", "Database", fault, "Read what it says; restore a backup if need be.")
    if pending:
        return Finding("bad", "Database", f"{pending} steps behind", "manage.py prepare")
    if connection.vendor == "sqlite" and (damage := _damage()):
        return Finding("bad", "Database", f"damaged: {damage}", "manage.py restore BACKUP")
    return Finding("ok", "Database", f"{connection.display_name}, up to date")


def _damage() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            found = str(cursor.fetchone()[0])
    except (DatabaseError, sqlite3.Error) as error:
        found = str(error)
    return "" if found == "ok" else found


def _clock() -> Finding:
    with connection.cursor() as cursor:
        cursor.execute("SELECT CURRENT_TIMESTAMP")
        told = cursor.fetchone()[0]
    moment = told if isinstance(told, datetime) else datetime.fromisoformat(f"{told}+00:00")
    apart = abs(timezone.now() - moment)
    # SQLite tells whole seconds.
    if apart > MOST_APART:
        return Finding(
            "bad", "Clock", f"{apart.total_seconds():.0f} s off that of the database",
            "Let both keep time by NTP.",
        )  # fmt: skip
    return Finding("ok", "Clock", "that of the database")


def _secrets() -> Finding:
    """Secrets that no key of ours opens read as empty, and providers refuse us."""
    lost = [
        str(row)
        for model, column in encrypted_columns()
        for row in model._default_manager.exclude(**{column: ""})
        if not getattr(row, column)
    ]
    lost += unreadable_factors()
    if lost:
        return Finding(
            "bad", "Keys", f"cannot be decrypted: {', '.join(lost)}",
            "Set PARLEY_KEYS to the keys that encrypted them, or enter the API keys anew.",
        )  # fmt: skip
    return Finding("ok", "Keys", "all can be decrypted")


def _models() -> Finding:
    usable = LanguageModel.objects.filter(enabled=True, provider__enabled=True)
    real = usable.exclude(provider__kind=Provider.Kind.DEMO).count()
    if not real:
        return Finding(
            "look", "Models", "only the demo model answers",
            "Connect one in the administration, or set OPENAI_API_KEY and the like.",
        )  # fmt: skip
    return Finding("ok", "Models", f"{real} switched on")


def _providers() -> Iterator[Finding]:
    """Whether those that are switched on answer, and take our key."""
    asked = Provider.objects.filter(enabled=True).exclude(
        kind__in=(Provider.Kind.DEMO, Provider.Kind.CLAUDE_CODE)
    )
    for provider in asked:
        name = f"Provider {provider}"
        try:
            count = count_models(provider)
        except ProviderError as error:
            yield Finding(
                "look", name, f"{error.key}{f' ({error.message})' if error.message else ''}",
                "Test it on its page in the administration, which says it in words.",
            )  # fmt: skip
        else:
            yield Finding("ok", name, f"answers, models: {count}")


def _second_factor() -> Finding:
    """Whether all who have rights have one, where people may."""
    about, mode = "Second factor", settings.PARLEY_SECOND_FACTOR
    if mode == "off":
        if count := count_second_factors():
            return Finding(
                "look", about, f"{count} people have one, and are not asked for it",
                "Set PARLEY_SECOND_FACTOR to optional or administration.",
            )  # fmt: skip
        return Finding("ok", about, "nobody is asked for one")
    without = ", ".join(person.get_username() for person in administrators_without())
    if without and mode == "optional":
        return Finding(
            "look", about, f"these enter the administration without: {without}",
            "Let them set one up (Account), or set PARLEY_SECOND_FACTOR to administration.",
        )  # fmt: skip
    return Finding("ok", about, "of everybody who enters the administration")


def _issuer() -> Iterator[Finding]:
    """The server by which people log in, if there is one."""
    if not settings.PARLEY_OIDC_ISSUER:
        return
    try:
        examine_issuer()
    except (IssuerAway, IssuerRefused) as fault:
        yield Finding(
            "look", f"Log-in server {issuer_name()}", str(fault),
            "Compare PARLEY_OIDC_ISSUER with what it says of itself; is it up?",
        )  # fmt: skip
    else:
        told = f"answers; it must lead back to {settings.ORIGINS[0]}{reverse('oidc_return')}"
        yield Finding("ok", f"Log-in server {issuer_name()}", told)


def _processes() -> Finding:
    servers = count_servers()
    if servers > 1 and not settings.REDIS_URL:
        return Finding(
            "bad", "Processes", f"{servers} servers without Redis: tabs of one miss the other's",
            "Set REDIS_URL.",
        )  # fmt: skip
    return Finding("ok", "Processes", f"{servers} serving")


def _connections() -> Iterator[Finding]:
    """Whether PostgreSQL takes as many as all servers together may open."""
    if connection.vendor != "postgresql":
        return
    servers = max(count_servers(), settings.PARLEY_PROCESSES)
    each = settings.PARLEY_LIMITS["connections"]
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT current_setting('max_connections')::int
                - current_setting('superuser_reserved_connections')::int"""
        )
        [taken] = cursor.fetchone()
    # While they are replaced there is one more; and commands need some too.
    needed = (servers + 1) * each
    if needed > taken:
        yield Finding(
            "look", "Connections",
            f"PostgreSQL takes {taken}, and {servers} servers with one to replace them may open "
            f"{needed} (PARLEY_LIMIT_CONNECTIONS is {each})",
            f"Set PARLEY_LIMIT_CONNECTIONS to {max(taken // (servers + 1), 5)} or less, or raise "
            "max_connections in postgresql.conf.",
        )  # fmt: skip
    else:
        yield Finding("ok", "Connections", f"at most {needed} of {taken}")


def _redis() -> Finding:
    if not settings.REDIS_URL:
        return Finding("ok", "Redis", "not needed by one process")
    import redis  # it takes a while to load

    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=3) as server:
            server.ping()
    except redis.RedisError as error:
        return Finding(
            "bad",
            "Redis",
            f"does not answer: {type(error).__name__}",
            "Start it, or see REDIS_URL.",
        )
    return Finding("ok", "Redis", "answers")


def _backup() -> Finding:
    made = last_backup()
    if made is None:
        return Finding("look", "Backup", "none was made yet", "manage.py backup, every night")
    age = timezone.now() - made
    words = f"the last one is {age.days} days old" if age.days else "one of the last 24 hours"
    if age > OLD_BACKUP:
        return Finding("look", "Backup", words, "manage.py backup, every night")
    return Finding("ok", "Backup", words)
