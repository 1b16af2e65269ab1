"""What a server answers that is no model provider is not shown: staff could enter the address of
anything that only this machine can reach, and read it here."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Provider
from tests.admin.test_asking_providers import admin, messages_after, press, provider
from tests.support import factories as make
from tests.support.model_server import ScriptedProvider, refuse
from tests.support.pages import faults_of

__all__ = ["admin", "provider"]

SECRET = "10.0.0.7 has 3 vaults"
INSIDE: list[bytes | Any] = [
    SECRET.encode(),
    f"<html><h1>{SECRET}</h1>".encode(),
    {"message": SECRET},
    {"detail": SECRET},
    {"error": {"reason": SECRET, "type": "not_found"}},
    {"error": {"message": SECRET}},
    {"error": SECRET, "status": 500, "path": "/v1/models"},
    {"kind": "Status", "code": 500, "message": SECRET},
    [SECRET],
    SECRET,
]
ITS_OWN: list[Any] = [
    {"error": {"message": "No such plan", "type": "invalid_request_error", "code": None}},
    {"type": "error", "error": {"type": "api_error", "message": "No such plan"}},
    [{"error": {"code": 500, "message": "No such plan", "status": "INTERNAL"}}],
    {"error": "No such plan"},
]


@pytest.mark.parametrize("body", INSIDE, ids=str)
def test_what_another_server_answers_is_not_shown(
    body: Any, admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.script(refuse(500, body))
    told = press(admin, provider, "_list_models")
    assert "had a fault of its own. (HTTP 500)" in told
    assert "vaults" not in told


@pytest.mark.parametrize("body", ITS_OWN, ids=str)
def test_a_provider_is_quoted(
    body: Any, admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    scripted_provider.script(refuse(500, body))
    told = press(admin, provider, "_list_models")
    assert "had a fault of its own. (HTTP 500: No such plan)" in told


def test_a_model_that_is_tested_shows_no_more(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    model = make.a_model(provider, model_id="scripted-small")
    rows = reverse("admin:chat_languagemodel_changelist")
    scripted_provider.script(refuse(418, SECRET.encode()))
    ask = {"action": "test", "_selected_action": [str(model.pk)]}
    told = messages_after(admin, rows, ask)
    assert "HTTP 418" in told
    assert "vaults" not in told


def test_nor_does_connecting(admin: Client, scripted_provider: ScriptedProvider) -> None:
    scripted_provider.script(refuse(500, SECRET.encode()))
    given = {"kind": "openai", "base_url": scripted_provider.base_url, "api_key": ""}
    page = admin.post(f"{reverse('admin:connect')}?preset=custom", given).content.decode()
    assert "HTTP 500" in page
    assert "vaults" not in page
    assert list(faults_of(page)) == []


def test_what_is_quoted_is_one_short_line(
    admin: Client, provider: Provider, scripted_provider: ScriptedProvider
) -> None:
    odd = "No\n\nsuch\tplan\u202e\x00 " + "x" * 400
    scripted_provider.script(refuse(500, json.dumps({"error": odd}).encode()))
    told = press(admin, provider, "_list_models")
    [quoted] = [line for line in told.splitlines() if "HTTP 500" in line]
    assert "(HTTP 500: No such plan xxx" in quoted
    assert quoted.count("x") < 210
