"""System checks: Parley refuses to start with unsafe settings, and says what to set."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cryptography.fernet import Fernet
from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core import checks
from django.core.checks import CheckMessage, Error, register, run_checks

from chatsite.environment import INSECURE

# How the key began that a sample of settings once published.
SAMPLE = "a-sample-only-"

TAG = "parley"


@register(TAG)
def check_secret_key(**kwargs: Any) -> list[CheckMessage]:
    key = settings.SECRET_KEY
    if not settings.PRODUCTION or (
        len(key) >= 50 and len(set(key)) >= 5 and not key.startswith((INSECURE, SAMPLE))
    ):
        return []
    return [
        Error(
            "SECRET_KEY is missing or too weak.",
            hint="Set SECRET_KEY to at least 50 random characters, for example the output of "
            "`python3 -c 'import secrets; print(secrets.token_urlsafe(64))'`.",
            id="parley.E001",
        )
    ]


@register(TAG)
def check_hosts(**kwargs: Any) -> list[CheckMessage]:
    hosts = settings.ALLOWED_HOSTS
    if hosts and "*" not in hosts:
        return []
    return [
        Error(
            "ALLOWED_HOSTS is missing or accepts every host.",
            hint="Set ALLOWED_HOSTS to the host names of this site, for example chat.example.org.",
            id="parley.E002",
        )
    ]


@register(TAG)
def check_origins(**kwargs: Any) -> list[CheckMessage]:
    schemes = {"https"} if settings.PRODUCTION else {"http", "https"}
    wrong = [origin for origin in settings.ORIGINS if not is_origin(origin, schemes)]
    if settings.ORIGINS and not wrong:
        return []
    return [
        Error(
            f"ORIGINS has no valid value: {', '.join(wrong)}" if wrong else "ORIGINS is missing.",
            hint="Set ORIGINS to the full addresses browsers use, for example "
            "https://chat.example.org: scheme, host and port, no path, no wildcard; "
            "in production only https.",
            id="parley.E003",
        )
    ]


def is_origin(value: str, schemes: set[str]) -> bool:
    """Whether this is a scheme, a host and perhaps a port, and nothing else."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return False
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    plain = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    return bool(
        parts.scheme in schemes
        and parts.hostname
        and not parts.hostname.startswith(".")
        and "*" not in value
        and value.lower() == plain
    )


@register(TAG)
def check_debug(**kwargs: Any) -> list[CheckMessage]:
    if not (settings.PRODUCTION and settings.DEBUG):
        return []
    return [
        Error("DEBUG is on in production.", hint="Unset DEBUG.", id="parley.E004"),
    ]


@register(TAG)
def check_provider_keys(**kwargs: Any) -> list[CheckMessage]:
    try:
        for key in settings.PARLEY_KEYS:
            Fernet(key)
    except ValueError:
        return [
            Error(
                "PARLEY_KEYS has a value that is not a Fernet key.",
                hint="Each is 32 random bytes in URL-safe base64, for example the output of "
                "`head -c 32 /dev/urandom | base64 | tr '+/' '-_'`. Keep the old keys "
                "after the new one, or stored provider keys are lost.",
                id="parley.E005",
            )
        ]
    return []


@register(TAG)
def check_data_folder(**kwargs: Any) -> list[CheckMessage]:
    if os.access(settings.DATA_DIR, os.W_OK | os.X_OK):
        return []
    return [
        Error(
            f"The folder {settings.DATA_DIR} cannot be written.",
            hint="Change its owner, or set PARLEY_DATA to another folder.",
            id="parley.E006",
        )
    ]


@register(TAG)
def check_several_processes(**kwargs: Any) -> list[CheckMessage]:
    sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    if not (settings.REDIS_URL and sqlite):
        return []
    return [
        checks.Warning(
            "REDIS_URL is set, but the database is SQLite.",
            hint="Redis is for several processes; they need PostgreSQL (DATABASE_URL).",
            id="parley.W001",
        )
    ]


@register(TAG)
def check_traces(**kwargs: Any) -> list[CheckMessage]:
    missing = _missing_for_traces() if settings.PARLEY_TRACES else []
    if not missing:
        return []
    return [
        Error(
            f"PARLEY_TRACES is on, but not installed: {', '.join(missing)}.",
            hint=f"Run `.venv/bin/pip install {' '.join(missing)}`, or unset PARLEY_TRACES.",
            id="parley.E008",
        )
    ]


def _missing_for_traces() -> list[str]:
    """The packages that are not there, of those that make spans and send them."""
    wanted = {"opentelemetry-sdk": "opentelemetry.sdk"}
    if os.environ.get("OTEL_TRACES_EXPORTER", "otlp") == "otlp":
        wanted["opentelemetry-exporter-otlp-proto-http"] = "opentelemetry.exporter.otlp.proto.http"
    return [package for package, module in wanted.items() if not _is_there(module)]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@register(TAG)
def check_metrics_token(**kwargs: Any) -> list[CheckMessage]:
    token = settings.PARLEY_METRICS_TOKEN
    if not token or len(token) >= 16:
        return []
    return [
        Error(
            "PARLEY_METRICS_TOKEN is too short.",
            hint="Set it to at least 16 random characters, or unset it for no `/metrics`.",
            id="parley.E009",
        )
    ]


@register(TAG)
def check_issuer(**kwargs: Any) -> list[CheckMessage]:
    """Who somebody is must come from the issuer, over a line that nobody else writes on."""
    issuer = settings.PARLEY_OIDC_ISSUER
    given = (settings.PARLEY_OIDC_CLIENT_ID, settings.PARLEY_OIDC_CLIENT_SECRET)
    if not issuer and not any(given):
        return []
    try:
        parts = urlsplit(issuer)
        host = parts.hostname
    except ValueError:
        host = None
    here = host in ("127.0.0.1", "localhost", "::1")
    if host and all(given) and (parts.scheme == "https" or (here and parts.scheme == "http")):
        return []
    return [
        Error(
            "The log-in server is half set.",
            hint="Set PARLEY_OIDC_ISSUER (https), PARLEY_OIDC_CLIENT_ID and "
            "PARLEY_OIDC_CLIENT_SECRET, or none of them.",
            id="parley.E010",
        )
    ]


def check_static_files() -> list[CheckMessage]:
    """Not registered: `prepare`, which gathers them, would be refused as well."""
    name = getattr(staticfiles_storage, "manifest_name", None)
    if settings.DEBUG or name is None or Path(settings.STATIC_ROOT, name).is_file():
        return []
    return [
        Error(
            "The static files have not been gathered.",
            hint="Run `manage.py prepare` before the server.",
            id="parley.E007",
        )
    ]


def refuse_unsafe_start() -> None:
    """End the process with one line per error, for servers that run no checks themselves."""
    errors = [message for message in run_checks(tags=[TAG]) if message.is_serious()]
    errors = errors or check_static_files()
    if errors:
        lines = sorted(f"Parley cannot start: {m.id}: {m.msg} {m.hint}" for m in errors)
        sys.exit("\n".join(lines))
