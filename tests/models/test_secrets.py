"""Keys at rest: a dump of the database is useless, and nothing shows a key again."""

import io
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.db import connection

from chat.models import Provider
from chat.models.secrets import Secret
from tests.support.factories import a_provider

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

KEY = "sk-canary-0123456789-wxyz"


def raw(provider: Provider) -> str:
    """What is in the column, as somebody with the file would see it."""
    with connection.cursor() as cursor:
        pk = Provider._meta.pk.get_db_prep_value(provider.pk, connection)
        cursor.execute("SELECT api_key FROM chat_provider WHERE id = %s", [pk])
        return cursor.fetchone()[0]


def test_the_column_holds_no_key_in_the_open() -> None:
    provider = a_provider(api_key=KEY)
    assert KEY not in raw(provider)
    assert len(raw(provider)) > 50
    assert Provider.objects.get().api_key == KEY


def test_an_empty_key_stays_empty() -> None:
    provider = a_provider(api_key="")
    assert raw(provider) == ""
    assert Provider.objects.get().api_key == ""


def test_a_key_read_back_prints_as_dots() -> None:
    a_provider(api_key=KEY)
    key = Provider.objects.get().api_key
    assert isinstance(key, Secret)
    assert KEY not in f"{key!r} {[key]} { ({'key': key}) }"
    assert key.hint == "…wxyz"


@pytest.mark.parametrize("short", ["", "abc", "elevenchars"])
def test_the_hint_of_a_short_key_gives_nothing_away(short: str) -> None:
    assert Secret(short).hint == "…"


def test_after_rotation_old_keys_open_and_new_ones_are_sealed_with_the_first(settings: Any) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.PARLEY_KEYS = [old]
    provider = a_provider(api_key=KEY)

    settings.PARLEY_KEYS = [new, old]
    provider = Provider.objects.get()
    assert provider.api_key == KEY

    provider.save()
    settings.PARLEY_KEYS = [new]
    assert Provider.objects.get().api_key == KEY


def test_a_key_that_cannot_be_opened_any_more_is_empty(settings: Any) -> None:
    a_provider(api_key=KEY)
    settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
    assert Provider.objects.get().api_key == ""


def test_a_dump_holds_the_sealed_key_and_can_be_loaded_again(tmp_path: Any) -> None:
    a_provider(api_key=KEY)
    dump = io.StringIO()
    call_command("dumpdata", "chat.provider", stdout=dump)
    assert KEY not in dump.getvalue()

    Provider.objects.all().delete()
    file = tmp_path / "dump.json"
    file.write_text(dump.getvalue())
    call_command("loaddata", str(file), verbosity=0)
    assert Provider.objects.get().api_key == KEY
