"""Secrets come out nowhere: each has a word in it that is looked for wherever something is told.

That no page of anybody has them is seen by the matrices (`test_matrix.py`, `test_rights.py`), that
no backup does by `tests/upkeep/test_backup.py`.
"""

import logging
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.models import Model
from django.test import Client

from chat.models import Installation, Invitation, Provider, ShareLink
from chat.models.secrets import EncryptedField, EncryptedTexts
from chat.services.catalog import providers
from chatsite.logs import ScrubbingFormatter, scrub
from tests.support import factories as make
from tests.support.model_server import refuse
from tests.support.site import Site
from tests.support.tabs import in_thread
from tests.support.world import FACTOR, KEY, one_of_everything, secrets_in

# These open something by themselves; they are in the world as well.
TOKENS = {ShareLink: "opens-something", Invitation: "invites-nobody"}
both = [pytest.mark.django_db, pytest.mark.both_databases]


def told_by(text: str) -> list[str]:
    return [*secrets_in(text), *(token for token in TOKENS.values() if token in text)]


@pytest.fixture
def rows(db: None) -> dict[type[Model], Any]:
    return one_of_everything()


class TestStored:
    pytestmark = both

    def test_the_world_has_every_secret_there_is(self, rows: dict[type[Model], Any]) -> None:
        """A new column of this kind needs one of these words in `tests/support/world.py`."""
        for model in apps.get_models():
            for field in model._meta.local_concrete_fields:
                if isinstance(field, EncryptedField | EncryptedTexts) and model is not Installation:
                    stored = getattr(model._default_manager.get(pk=rows[model].pk), field.attname)
                    values = stored.values() if isinstance(stored, dict) else [stored]
                    assert told_by(str([str(value) for value in values])), field
        assert Authenticator.objects.exists()

    def test_no_table_has_one_in_the_open(self, rows: dict[type[Model], Any]) -> None:
        """What somebody reads who has the file, or a copy of it."""
        assert [table for table, row in _all_rows() if told_by(row)] == []

    def test_no_dump_has_one(self, rows: dict[type[Model], Any]) -> None:
        dumped = StringIO()
        call_command("dumpdata", stdout=dumped)
        assert "Acme" in dumped.getvalue()
        assert told_by(dumped.getvalue()) == []


def _all_rows() -> Iterator[tuple[str, str]]:
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            for row in cursor.fetchall():
                yield table, str([bytes(each) if isinstance(each, memoryview) else each
                                  for each in row])  # fmt: skip


# --- told while it is used --------------------------------------------------------------


async def test_a_key_that_a_provider_repeats_is_told_to_nobody(
    site: Site, program: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in the log, nor to the browser, a program or the row."""
    caplog.set_level(logging.DEBUG)
    caplog.handler.setFormatter(ScrubbingFormatter())
    await in_thread(_give_key)()
    tab, one = await site.tab(), await program()
    site.provider.script(refuse(401, {"error": {"message": f"the key {KEY} is wrong"}}))
    await tab.send("Go")
    await tab.sees_the_end()
    kept, page = str(await in_thread(_last_error)()), "".join(tab.page.root.itertext())
    assert "the key" in kept
    assert secrets_in(f"{page} {one.events} {kept} {caplog.text}") == []


def _give_key() -> None:
    provider = Provider.objects.get(kind="openai")
    provider.api_key = KEY
    provider.save()


def _last_error() -> Any:
    from chat.models import Message

    return Message.objects.filter(status="error").latest("created").error_data


@pytest.mark.parametrize("debug", [True, False])
def test_a_fault_shows_no_key(
    admin_client: Client, debug: bool, settings: Any, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Also where a page of faults is wanted, which shows what every function had in its hands."""
    settings.DEBUG = debug
    caplog.handler.setFormatter(ScrubbingFormatter())

    async def falls_over(connection: Any) -> Any:
        sent = {"authorization": f"Bearer {connection.api_key}", "x": [connection.api_key]}
        raise RuntimeError(f"could not send {len(sent)} headers")

    monkeypatch.setattr(providers, "_read", falls_over)
    admin_client.raise_request_exception = False
    form = {"kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "canary-4711-plain"}
    page = admin_client.post("/admin/connect/?preset=custom", form).content.decode()
    assert ("falls_over" in page) is debug
    for told in (page, caplog.text):
        assert "canary-4711" not in told
        assert admin_client.cookies["parley_sessionid"].value not in told
    assert "could not send 2 headers" in caplog.text


@pytest.mark.parametrize("path", ["/s/{}/", "/accounts/invitation/{}/", "/accounts/reset/Mg/{}/"])
def test_addresses_that_open_something_are_not_logged(path: str) -> None:
    token = "c4n4ry-" * 6
    told = scrub(f"Internal Server Error: {path.format(token)}")
    assert "c4n4ry" not in told
    assert told.endswith("/")


def test_what_is_shown_to_set_up_a_second_factor_is_not_what_is_kept(
    client: Client, settings: Any, db: None
) -> None:
    """Whoever has one is shown neither its secret nor its codes again."""
    settings.PARLEY_SECOND_FACTOR = "optional"
    rows = one_of_everything()
    [olivia] = [row for model, row in rows.items() if model.__name__ == "User"]
    client.force_login(olivia)
    page = client.get("/settings/account/second-factor/").content.decode()
    assert FACTOR not in page.replace(" ", "")
    assert make.PASSWORD not in page
