"""Providers in the administration: presets, their models, and a word from them."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html  # type: ignore[import-untyped]

from chat.models import Agent, LanguageModel, Provider
from chat.providers.presets import CUSTOM, PRESETS, PROGRAMS
from chat.services.catalog import providers, trial
from chat.services.catalog.defaults import ensure_defaults
from tests.admin.provider_form import change, given
from tests.support import factories as make
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import Reply, ScriptedProvider, refuse, reply
from tests.support.pages import faults_of
from tests.support.world import KEY

ADD = reverse("admin:chat_provider_add")


@pytest.fixture
def admin(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    monkeypatch.setattr(trial, "TRYING", IMPATIENT)
    client.force_login(make.a_superuser("root"))
    return client


@pytest.fixture
def provider(scripted_provider: ScriptedProvider, db: None) -> Provider:
    return make.a_provider(
        name="Acme", kind="openai", base_url=scripted_provider.base_url, api_key=KEY
    )


def messages_after(client: Client, address: str, data: dict[str, Any]) -> str:
    """The messages that the administrator sees after posting."""
    page = client.post(address, data, follow=True).content.decode()
    assert KEY not in page
    assert list(faults_of(page)) == []
    found = html.fromstring(page).xpath("//ul[@class='messagelist']/li")
    return " ".join(item.text_content() for item in found)


def press(client: Client, provider: Provider, button: str) -> str:
    fields = given(base_url=provider.base_url, kind=provider.kind)
    return messages_after(client, change(provider), {**fields, button: "1"})


def test_every_preset_is_a_link_that_fills_the_form(admin: Client) -> None:
    page = html.fromstring(admin.get(ADD).content.decode())
    links = {link.get("href") for link in page.xpath("//a[starts-with(@href, '?preset=')]")}
    known = [preset for preset in PRESETS if preset is not CUSTOM]
    assert links == {f"?preset={preset.slug}" for preset in (*known, *PROGRAMS)}
    for preset in PRESETS:
        filled = html.fromstring(admin.get(f"{ADD}?preset={preset.slug}").content.decode())
        values = filled.forms[-1].fields
        assert (values["name_en"] or "", values["kind"]) == (preset.name, preset.wire)
        assert (values["base_url"] or "") == preset.base_url


def test_a_preset_nobody_knows_is_an_empty_form(admin: Client) -> None:
    assert admin.get(f"{ADD}?preset=pigeon").status_code == 200


def test_a_new_provider_can_be_listed_at_once(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    fields = given(base_url=scripted_provider.base_url, new_key=KEY, _list_models="1")
    assert "Acme has 2 models, 2 of them new." in messages_after(admin, ADD, fields)
    assert scripted_provider.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert LanguageModel.objects.filter(enabled=True).count() == 2


def test_listing_again_adds_what_is_new_and_changes_nothing(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    kept = make.a_model(provider, model_id="scripted-small", label="Mine", enabled=False)
    assert "2 models, 1 of them new" in press(admin, provider, "_list_models")
    kept.refresh_from_db()
    assert (kept.label, kept.enabled) == ("Mine", False)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (refuse(401, {"error": {"message": f"bad key {KEY}"}}), "does not accept our key"),
        (refuse(404, b"<html>"), "no model provider at the given address"),
        (refuse(500), "had a fault of its own"),
    ],
    ids=["401", "404", "500"],
)
def test_a_fault_of_a_listing_is_told_in_words(
    admin: Client,
    provider: Provider,
    scripted_provider: ScriptedProvider,
    fault: Reply,
    reason: str,
) -> None:
    scripted_provider.script(fault)
    messages = press(admin, provider, "_list_models")
    assert "Acme cannot be asked for its models." in messages
    assert reason in messages


def test_a_fault_is_told_in_the_language_of_the_reader(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    admin.cookies["django_language"] = "zh-hans"
    scripted_provider.script(refuse(401))
    assert "密钥" in press(admin, provider, "_list_models")


def test_a_test_shows_what_the_model_says(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    make.a_model(provider, model_id="scripted-small", label="Scripted")
    scripted_provider.answer = reply("Hello <b>you</b>")
    messages = press(admin, provider, "_test")
    assert "2 models, 1 of them new" in messages
    assert "says: Hello <b>you</b>" in messages


def test_a_test_that_fails_asks_once_and_says_why(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    model = make.a_model(provider, model_id="scripted-small", label="Scripted")
    rows = reverse("admin:chat_languagemodel_changelist")
    ask = {"action": "test", "_selected_action": [str(model.pk)]}
    scripted_provider.script(refuse(503), reply(""))
    assert "Scripted does not answer. The provider is overloaded" in messages_after(
        admin, rows, ask
    )
    assert len(scripted_provider.requests) == 1
    assert "The model answered nothing." in messages_after(admin, rows, ask)


def test_a_test_lists_the_models_first_and_the_first_real_one_is_for_everybody(
    admin: Client, scripted_provider: ScriptedProvider
) -> None:
    """A16: nothing has to be edited by hand after a provider is connected."""
    ensure_defaults()
    scripted_provider.answer = reply("Hello")
    fields = given(base_url=scripted_provider.base_url, new_key=KEY, _test="1")
    messages = messages_after(admin, ADD, fields)
    assert "2 models, 2 of them new" in messages
    assert "New chats use scripted-large now." in messages
    assert "scripted-large says: Hello" in messages
    page = html.fromstring(admin.get("/").content.decode())
    [chosen] = page.xpath("//select[@name='model']/option[@selected]")
    assert chosen.text_content().strip() == "scripted-large"


def test_what_an_administrator_has_decided_stays_until_they_take_the_offer(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    """Also when it is the demo: it is kept when another provider is connected."""
    ensure_defaults()
    press(admin, provider, "_list_models")
    demo = LanguageModel.objects.get(model_id="parley-demo")
    Agent.objects.update(model=demo)
    scripted_provider.answer = reply("Hello")
    fields = given(base_url=provider.base_url, kind=provider.kind)
    response = admin.post(change(provider), {**fields, "_test": "1"}, follow=True)
    assert Agent.objects.get().model == demo
    [offer] = html.fromstring(response.content.decode()).xpath("//button[@name='_use']")
    used = messages_after(admin, change(provider), {**fields, "_use": offer.get("value")})
    assert "New chats use" in used
    assert str(Agent.objects.get().model_id) == offer.get("value")


def test_a_wrong_address_is_told_by_a_test_too(admin: Client, provider: Provider) -> None:
    provider.base_url = "http://127.0.0.1:9/v1"
    messages = press(admin, provider, "_test")
    assert "Acme cannot be asked for its models." in messages


def test_the_same_as_actions_on_the_lists(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    chosen = {"_selected_action": [str(provider.pk)]}
    rows = reverse("admin:chat_provider_changelist")
    assert "2 models" in messages_after(admin, rows, {"action": "list_models", **chosen})
    scripted_provider.answer = reply("Hello")
    assert "says: Hello" in messages_after(admin, rows, {"action": "test", **chosen})
    models = [str(model.pk) for model in LanguageModel.objects.all()]
    rows = reverse("admin:chat_languagemodel_changelist")
    messages = messages_after(admin, rows, {"action": "test", "_selected_action": models})
    assert messages.count("says: Hello") == 2


def test_a_demo_provider_can_be_tested_and_listed_too(admin: Client) -> None:
    demo = make.a_provider(name="Demo", kind="demo")
    make.a_model(demo, model_id="parley-demo", label="Demo model")
    assert "1 model; new: 0." in press(admin, demo, "_list_models")
    assert "Demo model says:" in press(admin, demo, "_test")


TOLD = {
    "data": [
        {
            "id": "openrouter/one",
            "name": "One",
            "context_length": 200_000,
            "top_provider": {"max_completion_tokens": 8_000},
            "architecture": {"input_modalities": ["text", "image"]},
            "supported_parameters": ["tools", "reasoning"],
            "pricing": {"prompt": "0.000003", "completion": "0.000015"},
        },
        {"id": "mistral-two", "max_context_length": 32_768,
         "capabilities": {"function_calling": False}},
        {"id": "claude-three", "display_name": "Three", "max_input_tokens": 1_000_000,
         "max_tokens": 64_000, "capabilities": {"image_input": {"supported": True}}},
        {"id": "llama-four", "meta": {"n_ctx": 4096, "n_ctx_train": 8192},
         "pricing": {"prompt": "0", "completion": "0"}},
        {"id": "vllm-five", "max_model_len": 16_384},
        {"id": "five-2026-01-31"}, {"id": "five"},
        {"id": "text-embedding-3"}, {"id": "whisper-1"}, {"id": "old", "lifecycle": "retired"},
        {"id": 7}, "odd", {"id": "x" * 300}, {"id": "bad", "context_length": "many",
         "pricing": {"prompt": "NaN", "completion": "free"}},
    ]
}  # fmt: skip


def test_what_servers_tell_about_models_is_kept(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    """Context, output, prices and skills, in the words of six servers."""
    listing = Reply(
        status=200, body=json.dumps(TOLD).encode(), headers={"content-type": "application/json"}
    )
    scripted_provider._listing = lambda request: listing  # type: ignore[method-assign]
    press(admin, provider, "_list_models")
    rows = {
        model.model_id: (model.context_window, model.max_output, model.native_tools, model.vision)
        for model in provider.models.all()
    }
    assert rows == {
        "openrouter/one": (200_000, 8_000, True, True),
        "mistral-two": (32_768, None, False, False),
        "claude-three": (1_000_000, 64_000, True, True),
        "llama-four": (4096, None, True, False),
        "vllm-five": (16_384, None, True, False),
        "five": (None, None, True, False),
        "bad": (None, None, True, False),
    }
    one = provider.models.get(model_id="openrouter/one")
    assert (one.label, one.reasoning, one.input_price, one.output_price) == ("One", True, 3, 15)
    # That it costs nothing is said too; of the others nobody says anything.
    free = provider.models.filter(free=True)
    assert list(free.values_list("model_id", flat=True)) == ["llama-four"]


def test_hundreds_of_models_are_added_switched_off(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.models = tuple(f"model-{number}" for number in range(120))
    assert "Switch on those you want." in press(admin, provider, "_list_models")
    assert provider.models.count() == 120
    # All but the one to begin with.
    assert provider.models.filter(enabled=True).count() == 1
