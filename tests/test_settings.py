"""The settings: safe by default, refused in production when something is missing."""

import json
import logging
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import Client, override_settings

from chat.checks import TAG, is_origin
from chatsite import environment as env
from chatsite.logs import ScrubbingFormatter, scrub
from tests.support.server import ROOT, python

SAMPLE = {
    "SECRET_KEY": env.new_secret_key(),
    **dict(
        line.split("=", 1)
        for line in (ROOT / "scripts/sample-production.env").read_text().splitlines()
        if not line.startswith("#")
    ),
}


def test_check_deploy_has_no_warnings(tmp_path: Path) -> None:
    result = python(tmp_path, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **SAMPLE)
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout


ISSUER = {"PARLEY_OIDC_CLIENT_ID": "parley", "PARLEY_OIDC_CLIENT_SECRET": "secret"}


def test_production_refuses_to_start_without_settings(tmp_path: Path) -> None:
    result = python(tmp_path, "-c", "import chatsite.asgi", PARLEY_ENV="production")
    assert result.returncode == 1
    for error in ("parley.E001", "parley.E002", "parley.E003"):
        assert error in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"SECRET_KEY": env.INSECURE + "x" * 60}, "parley.E001"),
        ({"SECRET_KEY": "short"}, "parley.E001"),
        # Earlier versions of Parley published it.
        (
            {"SECRET_KEY": "a-sample-only-AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQrrSSttUUvvWWxx"},
            "parley.E001",
        ),
        ({"ALLOWED_HOSTS": []}, "parley.E002"),
        ({"ALLOWED_HOSTS": ["*"]}, "parley.E002"),
        ({"ORIGINS": []}, "parley.E003"),
        ({"ORIGINS": ["*"]}, "parley.E003"),
        ({"ORIGINS": ["chat.example.org"]}, "parley.E003"),
        ({"ORIGINS": ["http://chat.example.org"]}, "parley.E003"),
        ({"ORIGINS": ["https://*.example.org"]}, "parley.E003"),
        ({"DEBUG": True}, "parley.E004"),
        ({"PARLEY_KEYS": ["not-a-key"]}, "parley.E005"),
        ({"DATA_DIR": Path("/nowhere/at/all")}, "parley.E006"),
        ({"REDIS_URL": "redis://localhost"}, "parley.W001"),
        ({"PARLEY_OIDC_CLIENT_ID": "parley"}, "parley.E010"),
        ({"PARLEY_OIDC_ISSUER": "https://login.example.org"}, "parley.E010"),
        ({**ISSUER, "PARLEY_OIDC_ISSUER": "http://login.example.org"}, "parley.E010"),
        ({**ISSUER, "PARLEY_OIDC_ISSUER": "login.example.org"}, "parley.E010"),
    ],
)
def test_unsafe_production_settings_are_named(change: dict[str, Any], error: str) -> None:
    safe = {
        "PRODUCTION": True,
        "SECRET_KEY": SAMPLE["SECRET_KEY"],
        "ALLOWED_HOSTS": ["chat.example.org"],
        "ORIGINS": ["https://chat.example.org"],
    }
    with override_settings(**safe):
        assert run_checks(tags=[TAG]) == []
        with override_settings(**change):
            assert [message.id for message in run_checks(tags=[TAG])] == [error]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"PARLEY_ENV": "staging"}, "PARLEY_ENV must be one of local, production"),
        ({"PORT": "web"}, "PORT must be a whole number"),
        ({"DEBUG": "perhaps"}, "DEBUG must be 1 or 0"),
        ({"DATABASE_URL": "oops"}, "DATABASE_URL is not understood"),
        ({"PARLEY_DATA": "/dev/null/data"}, "cannot make the folder"),
    ],
)
def test_a_wrong_value_is_told_in_one_line(
    tmp_path: Path, change: dict[str, str], said: str
) -> None:
    result = python(tmp_path, "manage.py", "check", **change)
    assert result.returncode == 1
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_production_hardens_cookies(tmp_path: Path) -> None:
    names = [
        "SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
        "SECURE_SSL_REDIRECT", "DEBUG", "ALLOWED_HOSTS",
    ]  # fmt: skip
    code = f"import json, chatsite.settings as s; print(json.dumps([vars(s)[n] for n in {names}]))"
    result = python(tmp_path, "-c", code, **SAMPLE)
    assert json.loads(result.stdout) == [
        "__Host-sessionid", "__Host-csrftoken", True, True, True, False, ["chat.example.org"],
    ]  # fmt: skip


def test_a_secret_is_made_once_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "key"
    first = env.kept_secret(path, env.new_secret_key)
    assert env.kept_secret(path, env.new_secret_key) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_secret_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "key").touch()
    with pytest.raises(ImproperlyConfigured, match="is empty"):
        env.kept_secret(tmp_path / "key", env.new_secret_key)


def test_sqlite_waits_instead_of_failing(tmp_path: Path) -> None:
    config = env.database("", tmp_path)
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]
    assert config["CONN_MAX_AGE"] == 0


def test_postgresql_keeps_no_connection(tmp_path: Path) -> None:
    config = env.database("postgresql://parley@db/parley", tmp_path)
    assert config["ENGINE"] == "django.db.backends.postgresql"
    assert config["CONN_MAX_AGE"] == 0


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("https://chat.example.org", True),
        ("https://chat.example.org:8443", True),
        ("http://[::1]:8000", True),
        ("https://chat.example.org/", False),
        ("https://chat.example.org/path", False),
        ("https://user@chat.example.org", False),
        ("https://.example.org", False),
        ("https://chat.example.org:port", False),
        ("ftp://chat.example.org", False),
        ("chat.example.org", False),
        ("*", False),
    ],
)
def test_only_full_origins_count(value: str, valid: bool) -> None:
    assert is_origin(value, {"http", "https"}) is valid


@pytest.mark.parametrize(
    "line",
    [
        "key sk-ant-api03-CANARYcanary1234567890",
        "{'Authorization': 'Bearer CANARYcanary1234567890'}",
        "authorization: CANARYcanary1234567890",
        "x-api-key=CANARYcanary1234567890",
        '{"api_key": "CANARYcanary1234567890"}',
        "GET /enter/?sesame=CANARYcanary1234567890&next=/",
        "AIzaCANARYcanary1234567890CANARYcanary",
    ],
)
def test_keys_never_reach_the_log(line: str) -> None:
    assert "canary" not in scrub(line).lower()


def test_keys_in_tracebacks_are_hidden_too() -> None:
    try:
        raise ValueError("refused sk-proj-CANARYcanary1234567890")
    except ValueError:
        record = logging.LogRecord("x", 40, "f", 1, "failed %s", ("here",), sys.exc_info())
    line = ScrubbingFormatter().format(record)
    assert "failed here" in line
    assert "CANARY" not in line


def test_ordinary_text_is_logged_as_it_is() -> None:
    text = "The task sk-1 took 3 s; a cookie jar; authorization was checked."
    assert scrub(text) == text


@pytest.mark.django_db
def test_pages_carry_a_strict_policy() -> None:
    response = Client().get("/accounts/login/")
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "ws://127.0.0.1:8000" in policy
    assert "[" not in policy
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"


def test_static_files_are_served() -> None:
    response = Client().get("/static/admin/css/base.css")
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/css")


async def test_static_files_are_served_asynchronously(async_client) -> None:
    response = await async_client.get("/static/admin/css/base.css")
    assert response.status_code == 200
    assert not response.streaming
    missing = await async_client.get("/static/admin/none.css")
    assert missing.status_code in {302, 404}


def test_a_browser_finds_the_icon_under_its_old_name() -> None:
    assert Client().get("/favicon.ico")["Location"] == "/static/icon.svg"


def test_pages_need_a_login_by_default() -> None:
    assert Client().get("/admin/").status_code == 302
