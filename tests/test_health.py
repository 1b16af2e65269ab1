"""What supervisors are told, and a server that does not fit its database."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import AsyncClient, Client

from chat.services.background import shielded_work
from chat.services.processes import lease, lifecycle
from chat.services.upkeep import schema
from tests.crash.remote import House
from tests.support.process import free_port
from tests.support.server import ROOT, python
from tests.support.site import Site
from tests.support.tables import lay_tables
from tests.support.waiting import eventually

# Landed migrations are never edited: databases that were made by them are out there.
LANDED = {
    "0045_parts_by_tool": "bb673d5b638040d0",
    "0044_free_models": "42303a307d104e88",
    "0040_header_secrets": "85e8b882f8dd2c15",
    "0038_invitations": "5dc9a4df67d2c255",
    "0039_hand_over": "a072b20acde024d3",
    "0037_accounts": "9a4deebfd9dcd28f",
    "0017_temporary": "d748441f095ce4b2",
    "0001_rows": "727941717314ee44",
    "0002_search": "ba836953b517d90a",
    "0003_catalog_stamp": "9e05c37b689a082a",
    "0004_process_identity": "4b772423fdf39195",
    "0033_share_links": "5aab00177c3fc633",
    "0005_agent_examples": "675aa87730d1c99a",
    "0021_pauses": "056948f0ccaee442",
    "0006_own_listed": "cb8baec1aab84c73",
    "0007_queued_messages": "a13e4a12e662020f",
    "0008_tabs": "3405e312e78bf7c4",
    "0009_last_choice": "94761fb08778a356",
    "0010_feedback": "ff9a4f50cb9a7006",
    "0011_choosing": "1fd783b5e0d4c7ee",
    "0012_provider_wire": "af9d2dbb82f328a5",
    "0013_effort": "a424b7fbe07cb79b",
    "0014_read_page": "98e7c4097821cc99",
    "0015_model_adjustments": "26baec1e00a8400e",
    "0016_background_calls": "ad0c97d0c6339029",
    "0018_search_engine": "1af127608ed8b095",
    "0019_folders": "cce34861d656c7b5",
    "0020_server_tools": "86cada2bdce867bb",
    "0022_model_facts": "5bef2f5b39dc7f15",
    "0023_prompts": "364fc46710e19f4b",
    "0025_audit": "4a65ed961ad37060",
    "0026_failed_answers": "55d975a2b8564818",
    "0028_budgets": "a079c15b5c71056e",
    "0032_request_log": "453a1c9f1914c0e4",
    "0030_was_read": "d65464770ada671c",
    "0024_usage": "90190859196abee4",
    "0027_claude_code": "9106bcc2854a6d8d",
    "0029_external_session_once": "af96d5c2fed0140d",
    "0031_agents_for_groups": "21f2d121fee71572",
    "0034_attempts": "8347e0541673a372",
    "0035_installation": "abe2fccefc5849ef",
    "0036_model_defaults": "ebd8c75397fb9f79",
    "0041_tool_settings": "ed744f60a7c4e34e",
    "0042_thinking_between": "a8d2904156caa45f",
    "0043_history_without_words": "ed26e3c79e40598b",
}


def test_landed_migrations_are_as_they_were() -> None:
    found = {
        path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in (ROOT / "chat/migrations").glob("0*.py")
    }
    assert found == LANDED, "migrations are never edited: write another, and add it here"


# --- probes -----------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("probe", ["/healthz", "/readyz"])
def test_supervisors_ask_by_address(probe: str, settings: Any) -> None:
    """R12: in production only the site's own names are served, except to them."""
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    settings.SECURE_SSL_REDIRECT = True
    assert Client().get(probe, HTTP_HOST="10.0.0.7:8000").status_code == 200
    assert Client().get("/", HTTP_HOST="10.0.0.7:8000").status_code == 400


async def test_a_server_that_goes_down_is_not_ready(site: Site) -> None:
    """R12: as soon as it is told, not only when its answers are settled."""
    client = AsyncClient()
    assert (await client.get("/readyz")).content == b"ready\n"
    verb = asyncio.Event()
    shielded_work.spawn(verb.wait(), "a verb under way")
    ending = asyncio.create_task(lifecycle.stop_process())
    await eventually(lambda: lease.closing)
    refused = await client.get("/readyz")
    assert (refused.status_code, refused.content) == (503, b"going down\n")
    assert (await client.get("/healthz")).status_code == 200
    verb.set()
    await ending


# --- a database that does not fit -------------------------------------------------


@pytest.fixture
def unknown_database(db: None) -> Iterator[None]:
    """Nobody has looked at this database yet."""
    schema._fitting.clear()
    yield
    schema._fitting.clear()


@pytest.mark.both_databases
def test_the_migrations_make_what_the_program_needs(unknown_database: None) -> None:
    assert schema.schema_fault() == ""


@pytest.mark.both_databases
def test_a_missing_column_is_named(unknown_database: None) -> None:
    """R10: as in a database that an edited migration had made before it was edited."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE chat_message DROP COLUMN variant")
    response = Client().get("/readyz")
    assert response.status_code == 503
    assert "chat_message.variant is missing" in response.content.decode()


@pytest.mark.both_databases
def test_a_newer_database_is_refused(unknown_database: None) -> None:
    MigrationRecorder(connection).record_applied("chat", "0999_of_the_future")
    with pytest.raises(CommandError, match=r"newer version of Parley \(chat.0999_of_the_future\)"):
        call_command("prepare")


def sql(data: Path, *statements: str) -> None:
    with sqlite3.connect(data / "db.sqlite3") as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def test_no_server_starts_with_an_unfit_database(tmp_path: Path) -> None:
    """R10: `prepare`, with which `serve` begins, and every server say why, in one line, and end."""
    lay_tables(tmp_path)
    sql(tmp_path, "ALTER TABLE chat_message DROP COLUMN variant")
    port = str(free_port())
    for words in (
        ["manage.py", "serve"],
        ["-m", "uvicorn", "chatsite.asgi:application", "--port", port],
        ["-m", "daphne", "chatsite.asgi:application", "--port", port],
    ):
        result = python(tmp_path, *words, PORT=port)
        assert result.returncode != 0, words
        assert "chat_message.variant is missing" in result.stderr, result.stderr
        assert "Traceback" not in result.stderr


def test_what_was_said_before_there_was_a_search_is_found(tmp_path: Path) -> None:
    """R10: the migration that makes the index does not fill it; `prepare` does."""
    House(tmp_path, "http://127.0.0.1:1")
    sql(
        tmp_path,
        "DELETE FROM chat_searchentry",
        # As if the last step had not been taken yet: without one, `prepare` looks for nothing.
        "DELETE FROM django_migrations WHERE app = 'sessions'",
        "DROP TABLE django_session",
    )
    result = python(tmp_path, "manage.py", "prepare")
    assert result.returncode == 0, result.stderr
    with closing(sqlite3.connect(tmp_path / "db.sqlite3")) as database:
        found = database.execute("SELECT words FROM chat_searchentry").fetchall()
    assert "talk" in str(found)
