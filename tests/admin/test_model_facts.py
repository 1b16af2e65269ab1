"""What is known of models is filled in, and what administrators filled in stays."""

import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format

from chat import services
from chat.models import LanguageModel, Provider
from chat.providers.known_models import checked_on
from chat.services.catalog import new_chats, providers
from chat.services.catalog.known import choice_of
from tests.providers.test_known_models import OPENAI
from tests.support import factories as make
from tests.support.impatient_http import IMPATIENT
from tests.support.model_server import ScriptedProvider


@pytest.fixture
def provider(
    scripted_provider: ScriptedProvider, db: None, monkeypatch: pytest.MonkeyPatch
) -> Provider:
    """A server that lists what OpenAI does, taken for it."""
    monkeypatch.setattr(providers, "LISTING", IMPATIENT)
    monkeypatch.setattr(providers, "slug_of", lambda _: "openai")
    monkeypatch.setattr(new_chats, "slug_of", lambda _: "openai")
    scripted_provider.models = tuple(OPENAI)
    return make.a_provider(name="OpenAI", kind="openai", base_url=scripted_provider.base_url)


def test_a_key_gives_the_best_models_of_today(provider: Provider) -> None:
    """With what they can do and cost; older ones are there to be switched on, others are not."""
    listed = services.list_models(provider)
    assert len(listed.models) == 32
    offered = set(provider.models.filter(enabled=True).values_list("model_id", flat=True))
    assert offered >= {"gpt-6.2-astra", "gpt-6.2-sol", "gpt-6.1-terra", "gpt-6-luna"}
    assert not offered & {"gpt-5", "o3", "gpt-4o", "gpt-5-nano", "gpt-5.4-mini"}
    best = services.best_model(provider)
    assert best is not None
    assert best.model_id == "gpt-6.2-sol"
    assert (best.context_window, best.vision, best.documents) == (1_050_000, True, True)
    assert (best.input_price, best.efforts[-1], best.max_output) == (2, "max", 128_000)
    # What a model could write is not asked for with every request.
    assert choice_of(best).output_limit is None
    assert provider.models.get(model_id="o3-pro").wire == "responses"


def test_what_was_filled_in_by_hand_stays(provider: Provider) -> None:
    services.list_models(provider)
    sol = provider.models.get(model_id="gpt-6-sol")
    sol.input_price = 1
    sol.save()
    services.note_set_by_hand(sol, ["input_price", "enabled"])
    LanguageModel.objects.filter(pk=sol.pk).update(output_price=99)
    services.list_models(provider)
    sol.refresh_from_db()
    assert (sol.input_price, sol.output_price) == (1, 10)
    assert sol.set_by_hand == ["input_price"]


def test_models_that_were_listed_before_are_filled_in_at_the_next_start(
    provider: Provider,
) -> None:
    old = make.a_model(provider, model_id="gpt-5.6-luna", context_window=1000)
    old.set_by_hand = ["context_window"]
    old.save()
    assert services.fill_in_known() >= 1
    old.refresh_from_db()
    assert (old.context_window, old.vision, old.max_output) == (1000, True, 128_000)
    assert services.fill_in_known() == 0


def _form_of(page: Any) -> dict[str, Any]:
    form = page.context["adminform"].form
    told = {name: value for name, value in form.initial.items() if value is not None}
    data = {name: value for name, value in told.items() if value is not False}
    empty = {"adjustments-TOTAL_FORMS": 0, "adjustments-INITIAL_FORMS": 0}
    return {**data, "efforts": "null", "extra_body": "{}", **empty}


def test_a_form_marks_what_was_changed(client: Client, provider: Provider) -> None:
    client.force_login(make.a_superuser("root"))
    model = make.a_model(provider, model_id="mine")
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    form = _form_of(client.get(address))
    response = client.post(address, {**form, "context_window": 4096})
    assert response.status_code == 302, response.context["errors"]
    model.refresh_from_db()
    assert model.set_by_hand == ["context_window"]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_form_says_of_which_day_it_is(language: str, client: Client, provider: Provider) -> None:
    client.force_login(make.a_superuser("root"))
    client.cookies["django_language"] = language
    model = make.a_model(provider, model_id="mine")
    page = client.get(reverse("admin:chat_languagemodel_change", args=[model.pk]))
    with translation.override(language):
        day = date_format(checked_on())
    assert page.content.decode().count(day) == 2


def test_an_agents_form_says_who_takes_no_temperature(client: Client, provider: Provider) -> None:
    client.force_login(make.a_superuser("root"))
    page = client.get(reverse("admin:chat_agent_add")).content.decode()
    assert "It is not sent to models of Anthropic, OpenAI and xAI that think" in page


@pytest.mark.parametrize("value", ['{"model": "x"}', "[1]", '{"": 1}', "7"])
def test_extra_parameters_cannot_be_what_a_request_is_made_of(
    value: str, client: Client, provider: Provider
) -> None:
    client.force_login(make.a_superuser("root"))
    model = make.a_model(provider, model_id="mine")
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    form = _form_of(client.get(address))
    assert client.post(address, {**form, "extra_body": value}).status_code == 200
    response = client.post(address, {**form, "extra_body": '{"top_p": 0.9}'})
    assert response.status_code == 302, response.context["errors"]
    provider.extra_body = {"top_p": 0.1, "seed": 7}
    model.refresh_from_db()
    model.provider = provider
    assert choice_of(model).connection.extra_body == {"top_p": 0.9, "seed": 7}


def test_models_that_end_say_so_in_the_list_and_the_administration(
    client: Client, provider: Provider
) -> None:
    client.force_login(make.a_superuser("root"))
    today = timezone.localdate()
    make.a_model(provider, model_id="gone", retires_on=today)
    make.a_model(provider, model_id="going", retires_on=today + datetime.timedelta(days=20))
    make.a_model(provider, model_id="staying", retires_on=today + datetime.timedelta(days=400))
    for address in ("/models/", reverse("admin:chat_languagemodel_changelist")):
        page = client.get(address).content.decode()
        assert page.count("Retired") == 1, address
        assert page.count("Until ") == 1, address
