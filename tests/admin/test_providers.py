"""A provider's key goes in and never comes out."""

import io
import json
import logging
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import Provider
from chat.services.catalog.providers import connection_of
from tests.admin.provider_form import HOME, change, given
from tests.support import factories as make
from tests.support.world import KEY


def test_a_new_provider_keeps_the_key_it_was_given(admin: Client) -> None:
    response = admin.post(reverse("admin:chat_provider_add"), given(new_key=KEY))
    assert response.status_code == 302
    assert Provider.objects.get().api_key == KEY


def test_an_empty_key_field_keeps_the_old_key(admin: Client) -> None:
    provider = make.a_provider(api_key=KEY, base_url=HOME)
    assert admin.post(change(provider), given(name_en="Renamed")).status_code == 302
    provider = Provider.objects.get()
    assert (provider.name, provider.api_key) == ("Renamed", KEY)


@pytest.mark.parametrize("where", ["https://evil.example/v1", "http://api.example.com/v1"])
def test_a_key_does_not_go_to_another_address(admin: Client, where: str) -> None:
    """Sent elsewhere it would come out again; it must be given anew."""
    provider = make.a_provider(api_key=KEY, base_url=HOME)
    admin.post(change(provider), given(base_url=where))
    assert Provider.objects.get().api_key == ""


def test_another_path_of_the_same_server_keeps_the_key(admin: Client) -> None:
    provider = make.a_provider(api_key=KEY, base_url=HOME)
    admin.post(change(provider), given(base_url="https://api.example.com/v2"))
    assert Provider.objects.get().api_key == KEY


def test_a_new_key_takes_the_place_of_the_old(admin: Client) -> None:
    provider = make.a_provider(api_key="sk-old-0123456789")
    admin.post(change(provider), given(new_key=KEY))
    assert Provider.objects.get().api_key == KEY


def test_a_key_can_be_removed(admin: Client) -> None:
    provider = make.a_provider(api_key=KEY)
    admin.post(change(provider), given(forget_key="on"))
    assert Provider.objects.get().api_key == ""


def test_saving_a_provider_whose_key_cannot_be_opened_does_not_destroy_it(
    admin: Client, settings: Any
) -> None:
    """PARLEY_KEYS may be wrong for an hour; the key must still be there after it."""
    provider = make.a_provider(api_key=KEY, base_url=HOME)
    right = settings.PARLEY_KEYS
    settings.PARLEY_KEYS = [Fernet.generate_key().decode()]
    admin.post(change(provider), given(name_en="Renamed"))
    settings.PARLEY_KEYS = right
    assert Provider.objects.get().api_key == KEY


def test_the_page_shows_the_hint_and_nothing_more(admin: Client) -> None:
    provider = make.a_provider(api_key=KEY)
    for address in (change(provider), reverse("admin:chat_provider_changelist")):
        page = admin.get(address).content.decode()
        assert "…wxyz" in page
        assert KEY not in page
    assert 'type="password"' in admin.get(change(provider)).content.decode()


def test_a_form_with_a_fault_does_not_send_the_key_back(admin: Client) -> None:
    response = admin.post(reverse("admin:chat_provider_add"), given(new_key=KEY, kind="pigeon"))
    assert response.status_code == 200
    assert KEY not in response.content.decode()


@pytest.mark.parametrize("headers", ["[1]", '{"a": 1}', '{"a": "b\\r\\nevil: 1"}', '"text"'])
def test_headers_that_are_no_headers_are_refused(admin: Client, headers: str) -> None:
    response = admin.post(reverse("admin:chat_provider_add"), given(extra_headers=headers))
    assert response.status_code == 200
    assert "extra_headers" in response.context["adminform"].form.errors


# --- secrets in headers -----------------------------------------------------------------

HEADERS = {"X-Tenant": "acme", "X-Key": KEY}
HIDDEN = json.dumps(dict.fromkeys(HEADERS, "••••"))


@pytest.mark.both_databases
def test_values_of_headers_are_encrypted_and_not_shown(admin: Client) -> None:
    """S14: they are often keys."""
    admin.post(reverse("admin:chat_provider_add"), given(extra_headers=json.dumps(HEADERS)))
    provider = Provider.objects.get()
    assert provider.extra_headers == HEADERS
    assert connection_of(provider).extra_headers == HEADERS
    with connection.cursor() as cursor:
        cursor.execute("SELECT extra_headers FROM chat_provider")
        stored = str(cursor.fetchone()[0])
    assert "X-Key" in stored
    page = admin.get(change(provider)).content.decode()
    assert "X-Key" in page
    dump = io.StringIO()
    call_command("dumpdata", "chat.provider", stdout=dump)
    assert KEY not in stored + page + dump.getvalue()


def test_a_header_that_is_left_as_it_is_keeps_its_value(admin: Client) -> None:
    provider = make.a_provider(extra_headers=HEADERS, base_url=HOME)
    admin.post(change(provider), given(extra_headers=HIDDEN))
    assert Provider.objects.get().extra_headers == HEADERS
    admin.post(change(provider), given(extra_headers='{"X-Key": "••••", "X-Tenant": "other"}'))
    assert Provider.objects.get().extra_headers == {"X-Key": KEY, "X-Tenant": "other"}


@pytest.mark.parametrize("where", ["https://evil.example/v1", "http://api.example.com/v1"])
def test_values_of_headers_do_not_go_to_another_address(admin: Client, where: str) -> None:
    provider = make.a_provider(extra_headers=HEADERS, base_url=HOME)
    response = admin.post(change(provider), given(base_url=where, extra_headers=HIDDEN))
    assert "enter the values of these headers anew" in response.content.decode()
    assert Provider.objects.get().base_url == HOME
    admin.post(change(provider), given(base_url=where, extra_headers='{"X-Key": "new"}'))
    assert Provider.objects.get().extra_headers == {"X-Key": "new"}


def test_a_new_header_needs_a_value(admin: Client) -> None:
    provider = make.a_provider(extra_headers={}, base_url=HOME)
    response = admin.post(change(provider), given(extra_headers=HIDDEN))
    assert "extra_headers" in response.context["adminform"].form.errors


@pytest.mark.both_databases
def test_headers_follow_the_keys(admin: Client, settings: Any) -> None:
    """They are rotated with the rest; what no key opens is neither sent nor destroyed."""
    provider = make.a_provider(extra_headers=HEADERS, base_url=HOME)
    [old], new = settings.PARLEY_KEYS, Fernet.generate_key().decode()
    settings.PARLEY_KEYS = [new]
    assert connection_of(Provider.objects.get()).extra_headers == {}
    assert services.rotate_keys().unreadable
    admin.post(change(provider), given(name_en="Renamed", extra_headers=HIDDEN))
    settings.PARLEY_KEYS = [new, old]
    assert Provider.objects.get().extra_headers == HEADERS
    services.rotate_keys()
    settings.PARLEY_KEYS = [new]
    assert connection_of(Provider.objects.get()).extra_headers == HEADERS


def test_the_key_is_in_no_log_no_history_and_no_dump(
    admin: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """Privacy: a key leaves this program towards its provider only."""
    caplog.set_level(logging.DEBUG)
    admin.post(reverse("admin:chat_provider_add"), given(new_key=KEY))
    provider = Provider.objects.get()
    admin.post(change(provider), given(new_key=KEY + "2"))
    assert admin.get(reverse("admin:chat_provider_history", args=[provider.pk])).status_code == 200

    dump = io.StringIO()
    call_command("dumpdata", "chat", "admin", stdout=dump)
    told = " ".join(entry.change_message for entry in LogEntry.objects.all())
    assert LogEntry.objects.count() == 2
    assert KEY not in caplog.text + told + dump.getvalue()
