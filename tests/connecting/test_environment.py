"""A key in the environment is all it takes, once; after that the administrator decides."""

import logging
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse

from chat.management.terminal import report_line
from chat.models import Agent, LanguageModel, Provider
from chat.services.catalog import providers
from chat.services.catalog.defaults import DEMO_MODEL, ensure_defaults
from chat.services.catalog.environment import (
    Named,
    Report,
    connect_environment,
    ollama_address,
    providers_named,
)
from tests.support import factories as make
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import ScriptedProvider, refuse
from tests.support.world import KEY

pytestmark = [pytest.mark.both_databases, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    """A new installation, which waits no longer than a test does."""
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    ensure_defaults()


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with ScriptedProvider() as gone:
        return gone.base_url


def start(**environment: str) -> list[Report]:
    return list(connect_environment(environment))


def default_model() -> LanguageModel | None:
    return Agent.objects.get(is_default=True).model


def still_demo() -> bool:
    model = default_model()
    return model is not None and model.model_id == DEMO_MODEL


def openai(server: ScriptedProvider) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": server.base_url}


def test_a_key_connects_a_provider_with_its_models(scripted_provider: ScriptedProvider) -> None:
    [report] = start(**openai(scripted_provider))
    provider = Provider.objects.get(kind="openai")
    assert (provider.base_url, provider.api_key) == (scripted_provider.base_url, KEY)
    assert {model.model_id for model in provider.models.all()} == set(scripted_provider.models)
    assert str(default_model()) == report.chosen == "scripted-small"
    assert scripted_provider.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_key_is_encrypted_and_told_to_nobody(
    scripted_provider: ScriptedProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    reports = start(**openai(scripted_provider))
    with connection.cursor() as cursor:
        cursor.execute("SELECT api_key FROM chat_provider WHERE kind = 'openai'")
        assert KEY not in cursor.fetchone()[0]
    assert KEY not in repr(reports) + "".join(map(report_line, reports)) + caplog.text


def test_a_second_start_asks_nobody_anything(scripted_provider: ScriptedProvider) -> None:
    start(**openai(scripted_provider))
    asked = len(scripted_provider.requests)
    assert start(**openai(scripted_provider)) == []
    assert len(scripted_provider.requests) == asked
    assert Provider.objects.filter(kind="openai").count() == 1


def test_what_an_administrator_changed_stays(scripted_provider: ScriptedProvider) -> None:
    start(**openai(scripted_provider))
    Agent.objects.filter(is_default=True).update(
        model=LanguageModel.objects.get(model_id=DEMO_MODEL)
    )
    provider = Provider.objects.get(kind="openai")
    provider.name, provider.enabled, provider.api_key = "Ours", False, "sk-other-0123456789"
    provider.save()

    [report] = start(**openai(scripted_provider))

    assert report.differs
    kept = Provider.objects.get(kind="openai")
    assert (kept.name, kept.enabled, kept.api_key) == ("Ours", False, "sk-other-0123456789")
    assert still_demo()


def test_what_an_administrator_deleted_stays_deleted(
    scripted_provider: ScriptedProvider, client: Client
) -> None:
    start(**openai(scripted_provider))
    client.force_login(make.a_superuser())
    row = Provider.objects.get(kind="openai")
    client.post(reverse("admin:chat_provider_delete", args=[row.pk]), {"post": "yes"})
    assert not Provider.objects.filter(kind="openai").exists()
    assert start(**openai(scripted_provider)) == []
    assert not Provider.objects.filter(kind="openai").exists()


def test_a_provider_somebody_set_up_by_hand_is_not_doubled(
    scripted_provider: ScriptedProvider,
) -> None:
    make.a_provider(kind="openai", base_url=scripted_provider.base_url)
    assert start(**openai(scripted_provider)) == []
    assert scripted_provider.requests == []


def test_an_agent_with_a_model_of_its_own_keeps_it(scripted_provider: ScriptedProvider) -> None:
    model = make.a_model(make.a_provider(kind="openai", base_url="https://other.example/v1"))
    Agent.objects.filter(is_default=True).update(model=model)
    start(**openai(scripted_provider))
    assert default_model() == model


def test_nobody_answers_and_parley_starts_all_the_same(nobody: str) -> None:
    [report] = start(OPENAI_BASE_URL=nobody, PARLEY_MODEL="mine")
    assert report.error is not None
    assert "The provider cannot be reached." in report_line(report)
    assert str(default_model()) == "mine"


def test_a_wrong_key_is_told_and_a_model_guessed(scripted_provider: ScriptedProvider) -> None:
    scripted_provider.script(refuse(401, {"error": {"message": f"bad key {KEY}"}}))
    [report] = start(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=scripted_provider.root)
    assert "The provider does not accept our key. (bad key …)" in report_line(report)
    assert report.chosen


def test_anthropic_and_ollama_are_asked_in_their_own_way(
    scripted_provider: ScriptedProvider,
) -> None:
    reports = start(
        ANTHROPIC_API_KEY=KEY,
        ANTHROPIC_BASE_URL=scripted_provider.root,
        OLLAMA_HOST=f"127.0.0.1:{scripted_provider.port}",
    )
    assert [report.models for report in reports] == [2, 2]
    asked = [request.path for request in scripted_provider.requests]
    assert asked == ["/v1/models", "/api/tags", "/api/show", "/api/show"]
    assert scripted_provider.requests[0].headers["x-api-key"] == KEY
    model = default_model()
    assert model is not None
    assert model.provider.kind == "anthropic"


def test_the_model_one_wishes_for(scripted_provider: ScriptedProvider) -> None:
    [report] = start(**openai(scripted_provider), PARLEY_MODEL="scripted-large")
    assert str(default_model()) == report.chosen == "scripted-large"


def test_no_models_yet(scripted_provider: ScriptedProvider) -> None:
    scripted_provider.models = ()
    [report] = start(OLLAMA_HOST=scripted_provider.root)
    assert "no models yet" in report_line(report)
    assert still_demo()


def test_an_address_that_is_none_is_told() -> None:
    [report] = start(OPENAI_BASE_URL="not an address")
    assert "is not an address" in report_line(report)
    assert Provider.objects.count() == 1


def test_nothing_named_nothing_done() -> None:
    assert start(OPENAI_API_KEY="  ", PATH="/bin") == []


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:1234", "http://127.0.0.1:1234"),
        (":1234", "http://127.0.0.1:1234"),
        ("ollama:80", "http://ollama:80"),
        ("https://ollama.example.org", "https://ollama.example.org:443"),
        ("http://ollama:11434/", "http://ollama:11434"),
        ("[::1]", "http://[::1]:11434"),
    ],
)
def test_where_ollama_is(host: str, address: str) -> None:
    assert ollama_address(host) == address


def test_the_usual_addresses() -> None:
    found = providers_named({"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"})
    assert [(one.name, one.base_url) for one in found] == [
        ("OpenAI", "https://api.openai.com/v1"),
        ("Anthropic", "https://api.anthropic.com/v1"),
    ]
    assert Named("OPENAI_API_KEY", "openai", "https://api.deepseek.com/v1").name == "DeepSeek"


@pytest.fixture
def static(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path / "static"


def test_prepare_connects(
    scripted_provider: ScriptedProvider, monkeypatch: pytest.MonkeyPatch, static: None
) -> None:
    for name, value in openai(scripted_provider).items():
        monkeypatch.setenv(name, value)
    output = StringIO()
    call_command("prepare", stdout=output)
    assert "2 models, beginning with scripted-small" in output.getvalue()
    assert KEY not in output.getvalue()


def test_listing_by_command(scripted_provider: ScriptedProvider) -> None:
    start(**openai(scripted_provider))
    scripted_provider.models = ("scripted-small", "scripted-new")
    output = StringIO()
    call_command("list_models", stdout=output)
    assert "2 models, 1 of them new" in output.getvalue()
    scripted_provider.script(refuse(503))
    with pytest.raises(CommandError, match="Not listed"):
        call_command("list_models", stdout=output)
    assert "The provider is overloaded" in output.getvalue()
    with pytest.raises(CommandError, match="no provider “none”"):
        call_command("list_models", "none")
