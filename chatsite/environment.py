"""Reads the environment: typed values with defaults, and secrets kept in files."""

import base64
import os
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

# A key with this prefix is never accepted in production (parley.E001, security.W009).
INSECURE = "django-insecure-"

# How mail is sent, and at which port if none is said.
MAIL_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}

SQLITE_OPTIONS = {
    # Needed together: without IMMEDIATE a read-then-write transaction fails at once under load.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
    # 16 MB: with 2, a search through many messages reads the file again and again.
    "PRAGMA cache_size=-16000;",
}


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def words(name: str, default: list[str] | None = None) -> list[str]:
    """A list separated by commas or blanks."""
    return text(name).replace(",", " ").split() or list(default or [])


def number(name: str, default: int) -> int:
    value = text(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not “{value}”.") from None


def switch(name: str, default: bool = False) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not “{value}”.")


def choice(name: str, choices: tuple[str, ...]) -> str:
    """One of the choices; the first is the default."""
    value = text(name, choices[0])
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not “{value}”.")
    return value


def data_home() -> Path:
    """Where programs of this platform keep what is one person's: for what no folder is named."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "parley"
    return Path(text("XDG_DATA_HOME", str(Path.home() / ".local" / "share"))) / "parley"


def folder(name: str, default: Path) -> Path:
    """A folder that exists from now on, readable by us alone."""
    path = Path(text(name, str(default))).expanduser().resolve()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"cannot make the folder {path}: {error.strerror}.") from None
    return path


def database(url: str, data: Path) -> dict[str, Any]:
    """The default database: SQLite in our folder, unless an address is given."""
    url = url or f"sqlite:///{data / 'db.sqlite3'}"
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=0))
    except ValueError as error:
        raise ImproperlyConfigured(f"DATABASE_URL is not understood: {error}") from None
    if config["ENGINE"].endswith("sqlite3"):
        config["OPTIONS"] = {**SQLITE_OPTIONS, **config.get("OPTIONS", {})}
    return config


def mail(url: str) -> dict[str, Any]:
    """Django's settings for sending mail, from one address: `smtp://user:password@host:587` (which
    is encrypted once it is connected), `smtps://…` (from the first byte), `smtp+plain://…` (never)
    or `console:`."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if url and parts.scheme == "console":
        return {"EMAIL_BACKEND": "django.core.mail.backends.console.EmailBackend"}
    if not url:
        return {}
    if parts.scheme not in MAIL_PORTS or not parts.hostname or port == -1:
        # Not the address itself, which has a password in it.
        raise ImproperlyConfigured(
            "PARLEY_EMAIL_URL must be like smtp://user:password@mail.example.org:587."
        )
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or MAIL_PORTS[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }


def new_secret_key() -> str:
    return secrets.token_urlsafe(64)


def new_fernet_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def kept_secret(path: Path, make: Callable[[], str]) -> str:
    """The secret in this file; made once, readable by us alone."""
    try:
        if not path.exists():
            _write_once(path, make())
        value = path.read_text().strip()
    except OSError as error:
        raise ImproperlyConfigured(f"cannot keep a secret in {path}: {error.strerror}.") from None
    if not value:
        raise ImproperlyConfigured(f"the secret in {path} is empty; restore it or delete the file.")
    return value


def _write_once(path: Path, value: str) -> None:
    # Written aside and linked, so that two processes starting together agree on one whole secret.
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(value)
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink(missing_ok=True)
