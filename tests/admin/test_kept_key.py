"""A key is typed once, also where the test of its server fails first; and it goes nowhere else."""

import pytest
from django.contrib.sessions.models import Session
from django.test import Client

from chat.admin.kept_key import KEPT_KEY, KEPT_MS
from chat.models.secrets import opened
from tests.admin.test_connect import CONNECT, admin, real
from tests.support.model_server import ScriptedProvider, refuse
from tests.support.world import KEY

__all__ = ["admin"]
BUSY = refuse(500)


def press(admin: Client, address: str, key: str = "") -> str:
    """What the page says after its button was pressed."""
    given = {"kind": "openai", "base_url": address, "api_key": key}
    page = admin.post(f"{CONNECT}?preset=custom", given, follow=True).content.decode()
    assert KEY not in page
    return page


def keys_sent(provider: ScriptedProvider) -> list[str]:
    return [request.headers.get("authorization", "") for request in provider.requests]


def test_it_need_not_be_typed_again(admin: Client, scripted_provider: ScriptedProvider) -> None:
    scripted_provider.script(BUSY)
    page = press(admin, scripted_provider.base_url, KEY)
    assert f"The key …{KEY[-4:]} is kept for ten minutes" in page
    assert real() == []
    press(admin, scripted_provider.base_url)
    assert [provider.api_key for provider in real()] == [KEY]
    assert KEPT_KEY not in admin.session


def test_it_lies_encrypted_in_the_session(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.script(BUSY)
    press(admin, scripted_provider.base_url, KEY)
    [(stored, _address)] = [(row.get_decoded(), row) for row in Session.objects.all()]
    assert KEY not in str(stored)
    assert opened(stored[KEPT_KEY][1]) == KEY


def test_another_server_is_not_given_it(admin: Client, scripted_provider: ScriptedProvider) -> None:
    press(admin, "http://127.0.0.1:9/v1", KEY)
    assert KEPT_KEY in admin.session
    page = press(admin, scripted_provider.base_url)
    assert keys_sent(scripted_provider) == [""]
    assert "is kept" not in page


@pytest.mark.parametrize("address", ["{url}", "{url}/v2"])
def test_another_path_of_the_same_server_is(
    admin: Client, scripted_provider: ScriptedProvider, address: str
) -> None:
    scripted_provider.script(BUSY)
    press(admin, scripted_provider.base_url, KEY)
    press(admin, address.format(url=scripted_provider.base_url.removesuffix("/v1")))
    assert keys_sent(scripted_provider) == [f"Bearer {KEY}"] * 2


def test_it_is_forgotten_after_a_while(admin: Client, scripted_provider: ScriptedProvider) -> None:
    scripted_provider.script(BUSY)
    press(admin, scripted_provider.base_url, KEY)
    session = admin.session
    address, key, until = session[KEPT_KEY]
    session[KEPT_KEY] = [address, key, until - KEPT_MS]
    session.save()
    press(admin, scripted_provider.base_url)
    assert keys_sent(scripted_provider) == [f"Bearer {KEY}", ""]
    assert KEPT_KEY not in admin.session


def test_one_that_was_refused_is_not_kept(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.script(BUSY, refuse(401))
    press(admin, scripted_provider.base_url, KEY)
    page = press(admin, scripted_provider.base_url)
    assert "does not accept our key" in page
    assert KEPT_KEY not in admin.session


def test_what_is_no_address_is_told_while_a_key_is_kept(admin: Client) -> None:
    press(admin, "http://127.0.0.1:9/v1", KEY)
    assert "Enter an address such as" in press(admin, "http://[")
    assert KEPT_KEY in admin.session
