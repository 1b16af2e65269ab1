"""A provider with hundreds of models: its page is saved, and what is offered chosen in a list."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from lxml import html  # type: ignore[import-untyped]

from chat.models import Agent, LanguageModel, Provider
from tests.admin.provider_form import HOME, change
from tests.support import factories as make

MANY = 400
ON = 3
LIST = reverse("admin:chat_languagemodel_changelist")


@pytest.fixture
def hundreds(db: None) -> Provider:
    provider = make.a_provider(name="Router", kind="openai", base_url=HOME)
    LanguageModel.objects.bulk_create(
        LanguageModel(provider=provider, model_id=f"model-{n:03}", enabled=n < ON)
        for n in range(MANY)
    )
    return provider


def filled(page: bytes, form_id: str) -> dict[str, Any]:
    """What a browser sends of a form, as it stands."""
    form = html.fromstring(page.decode()).get_element_by_id(form_id)
    return {name: value for name, value in form.form_values() if "__prefix__" not in name}


def test_its_page_can_be_saved(admin: Client, hundreds: Provider) -> None:
    """A form of all of them has more fields than are taken."""
    given = filled(admin.get(change(hundreds)).content, "provider_form")
    saved = admin.post(change(hundreds), {**given, "name_en": "OpenRouter"})
    assert saved.status_code == 302
    hundreds.refresh_from_db()
    assert hundreds.name == "OpenRouter"
    assert LanguageModel.objects.filter(enabled=True).count() == ON


def test_it_shows_those_that_are_switched_on_and_leads_to_all(
    admin: Client, hundreds: Provider
) -> None:
    page = admin.get(change(hundreds)).content.decode()
    assert "model-002" in page
    assert "model-003" not in page
    assert "3 of 400 models are shown" in page
    assert f"{LIST}?provider__id__exact={hundreds.pk}" in page


def test_a_few_are_all_on_the_page_of_their_provider(admin: Client) -> None:
    provider = make.a_provider(base_url=HOME)
    make.a_model(provider, model_id="model-off", enabled=False)
    page = admin.get(change(provider)).content.decode()
    assert "model-off" in page
    assert "are shown" not in page


def test_a_row_that_is_not_shown_is_kept_with_a_fault_elsewhere(
    admin: Client, hundreds: Provider
) -> None:
    """The page with the fault has the rows that were sent."""
    given = filled(admin.get(change(hundreds)).content, "provider_form")
    given |= {"models-0-label": "Mine", "extra_headers": "[1]"}
    refused = admin.post(change(hundreds), given).content.decode()
    assert 'value="Mine"' in refused
    assert LanguageModel.objects.count() == MANY


def test_models_are_switched_on_in_the_list(admin: Client, hundreds: Provider) -> None:
    narrowed = f"{LIST}?provider__id__exact={hundreds.pk}"
    given = filled(admin.get(narrowed).content, "changelist-form")
    wanted = LanguageModel.objects.get(model_id="model-050")
    [place] = [name for name, value in given.items() if value == str(wanted.pk)]
    given |= {place.replace("-id", "-enabled"): "on", "_save": "Save"}
    assert admin.post(narrowed, given).status_code == 302
    assert LanguageModel.objects.filter(enabled=True).count() == ON + 1
    wanted.refresh_from_db()
    assert wanted.enabled


@pytest.mark.parametrize("way", ["list", "provider", "delete"])
def test_which_agents_lose_their_model_is_said_where_it_happens(admin: Client, way: str) -> None:
    """Broken configuration is caught where it is made."""
    provider = make.a_provider(name="Acme", kind="openai", base_url=HOME)
    model = make.a_model(provider, model_id="acme-1")
    agent = make.an_agent(model, name="Writer")
    make.an_agent(model, name="Asleep", enabled=False)
    if way == "list":
        given = filled(admin.get(LIST).content, "changelist-form")
        del given["form-0-enabled"]
        page = admin.post(LIST, {**given, "_save": "Save"}, follow=True)
    elif way == "provider":
        given = filled(admin.get(change(provider)).content, "provider_form")
        del given["enabled"]
        page = admin.post(change(provider), given, follow=True)
    else:
        gone = reverse("admin:chat_provider_delete", args=[provider.pk])
        page = admin.post(gone, {"post": "yes"}, follow=True)
    words = page.content.decode()
    assert "The agent Writer has no model that is switched on." in words
    assert f'href="{reverse("admin:chat_agent_change", args=[agent.pk])}"' in words
    assert "Asleep" not in words


def test_the_default_agent_without_any_model_is_a_trouble(admin: Client) -> None:
    make.an_agent(make.a_model(provider=make.a_provider(kind="openai")), is_default=True, name="A")
    Agent.objects.update(model=None)
    assert "The agent A has no model" in admin.get("/admin/").content.decode()
