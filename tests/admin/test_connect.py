"""Connecting a model: a provider, its key, a test, a model (A11, A13)."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from chat.models import Agent, AuditEntry, LanguageModel, Provider
from chat.providers.presets import PRESETS
from chat.services.catalog import providers, trial
from chat.services.catalog.defaults import ensure_defaults
from tests.support import factories as make
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import ScriptedProvider, refuse, reply
from tests.support.pages import faults_of
from tests.support.world import KEY

CONNECT = reverse("admin:connect")


@pytest.fixture
def admin(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    monkeypatch.setattr(trial, "TRYING", IMPATIENT)
    ensure_defaults()
    client.force_login(make.a_superuser("root"))
    return client


def real() -> list[Provider]:
    return list(Provider.objects.exclude(kind="demo"))


def test_every_known_provider_can_be_chosen_in_both_languages(admin: Client) -> None:
    for language in ("en", "zh-hans"):
        header = {"accept-language": language}
        page = admin.get(CONNECT, headers=header).content.decode()
        assert list(faults_of(page)) == []
        for preset in PRESETS:
            assert f'href="?preset={preset.slug}"' in page
            asked = admin.get(CONNECT, {"preset": preset.slug}, headers=header)
            assert list(faults_of(asked.content.decode())) == []


def test_a_program_of_this_machine_is_offered_to_superusers(admin: Client, staff: User) -> None:
    """D3: who sets one can run anything here."""
    leads_to = f'href="{reverse("admin:chat_provider_add")}?preset=claude-code"'
    assert leads_to in admin.get(CONNECT).content.decode()
    staff.user_permissions.set(Permission.objects.filter(codename="add_provider"))
    admin.force_login(staff)
    assert leads_to not in admin.get(CONNECT).content.decode()


def test_from_the_key_to_the_model_of_new_chats(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.answer = reply("Hello!")
    given = {"kind": "openai", "base_url": scripted_provider.base_url, "api_key": KEY}
    tested = admin.post(f"{CONNECT}?preset=custom", given)
    provider = real()[0]
    assert tested["Location"] == reverse("admin:connected", args=[provider.pk])
    page = admin.get(tested["Location"]).content.decode()
    assert "scripted-small" in page
    assert KEY not in page
    model = LanguageModel.objects.get(model_id="scripted-small")
    assert Agent.objects.get(is_default=True).model != model
    done = admin.post(tested["Location"], {"model": str(model.pk)}, follow=True).content.decode()
    assert "says: Hello!" in done
    assert "New chats use scripted-small now." in done
    assert Agent.objects.get(is_default=True).model == model
    assert AuditEntry.objects.filter(verb="add", object_id=str(provider.pk)).exists()


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (refuse(401, {"error": {"message": f"bad key {KEY}"}}), "does not accept our key"),
        (refuse(404, b"<html>"), "no model provider at the given address"),
    ],
    ids=["key", "address"],
)
def test_what_is_wrong_is_said_at_once_and_nothing_is_kept(
    admin: Client, scripted_provider: ScriptedProvider, fault: object, sentence: str
) -> None:
    scripted_provider.script(fault)  # type: ignore[arg-type]
    given = {"kind": "openai", "base_url": scripted_provider.base_url, "api_key": KEY}
    page = admin.post(f"{CONNECT}?preset=custom", given).content.decode()
    assert sentence in page
    assert KEY not in page
    assert real() == []


def test_a_model_that_does_not_answer_is_not_used(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    given = {"kind": "openai", "base_url": scripted_provider.base_url, "api_key": KEY}
    address = admin.post(f"{CONNECT}?preset=custom", given)["Location"]
    model = LanguageModel.objects.get(model_id="scripted-small")
    scripted_provider.script(refuse(401))
    page = admin.post(address, {"model": str(model.pk)}).content.decode()
    assert "does not accept our key" in page
    assert Agent.objects.get(is_default=True).model != model


def test_a_key_given_again_is_of_the_same_provider(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    for key in (KEY, "another-key-1234567"):
        given = {"kind": "openai", "base_url": scripted_provider.base_url, "api_key": key}
        admin.post(f"{CONNECT}?preset=custom", given)
    assert [provider.api_key for provider in real()] == ["another-key-1234567"]


def test_it_takes_the_right_to_add_providers(client: Client, staff: User) -> None:
    client.force_login(staff)
    assert client.get(CONNECT).status_code == 403
    staff.user_permissions.set(Permission.objects.filter(codename="add_provider"))
    assert client.get(CONNECT).status_code == 200
