"""What a provider may do itself is ticked for each model, and off until then."""

from typing import Any

from django.forms import model_to_dict
from django.test import Client
from django.urls import reverse

from chat.models import LanguageModel
from chat.services.catalog.known import current_catalog
from tests.support import factories as make


def given(model: LanguageModel, **fields: Any) -> dict[str, Any]:
    """The form as it is, with these fields."""
    kept = {name: value for name, value in model_to_dict(model).items() if value is not None}
    adjusted = {"modeladjustment_set-TOTAL_FORMS": 0, "modeladjustment_set-INITIAL_FORMS": 0}
    inline = {f"adjustments-{name}": 0 for name in ("TOTAL_FORMS", "INITIAL_FORMS")}
    return {**kept, **adjusted, **inline, **fields}


def allowed(model: LanguageModel) -> tuple[str, ...]:
    return current_catalog().models[model.pk].choice.server_tools


def test_they_are_off_until_they_are_ticked(admin: Client) -> None:
    model = make.a_model(make.a_provider())
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    assert 'name="server_tools" value="web_search"' in admin.get(address).content.decode()
    assert allowed(model) == ()
    response = admin.post(address, given(model, server_tools=["web_search", "code_execution"]))
    assert response.status_code == 302, response.context["adminform"].form.errors
    assert allowed(model) == ("web_search", "code_execution")
    admin.post(address, given(model, server_tools=[]))
    assert allowed(model) == ()


def test_what_no_provider_offers_cannot_be_ticked(admin: Client) -> None:
    model = make.a_model(make.a_provider())
    address = reverse("admin:chat_languagemodel_change", args=[model.pk])
    response = admin.post(address, given(model, server_tools=["format_the_disk"]))
    assert "server_tools" in response.context["adminform"].form.errors
