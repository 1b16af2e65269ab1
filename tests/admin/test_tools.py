"""A tool's page: its limits, and the settings that the tool itself has."""

import json
import logging
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from django.core import serializers
from django.test import Client
from django.urls import reverse
from pydantic import Field, SecretStr

from chat.models import Agent, AuditEntry, ToolSetting
from chat.services import own_settings
from chat.tools.own_settings import OwnSettings
from chat.tools.registry import registry
from tests.support import factories as make
from tests.support.model_server import Call, reply
from tests.support.site import Site
from tests.support.tabs import in_thread

KEY = "wk-canary-0123456789"


class Weather(OwnSettings):
    key: Annotated[SecretStr, "Key of the weather service"] = SecretStr("")
    region: Annotated[Literal["eu", "us"], "Part of the world"] = "eu"
    days: Annotated[int, Field(ge=1, le=14), "How many days"] = 3
    in_words: Annotated[bool, "In words"] = True


def weather(settings: Weather) -> str:
    """The weather."""
    key = settings.key.get_secret_value()
    return f"{settings.region}, {settings.days} days, {len(key)} signs, {settings.in_words}"


@pytest.fixture
def tool() -> Iterator[None]:
    registry.tool(weather)
    yield
    del registry._tools["weather"]


@pytest.fixture
def admin(db: None, tool: None) -> Client:
    client = Client()
    client.force_login(make.a_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def row(admin: Client) -> ToolSetting:
    return ToolSetting.objects.create(tool="weather", name_en="Weather")


def address(row: ToolSetting) -> str:
    return reverse("admin:chat_toolsetting_change", args=[row.pk])


def save(admin: Client, row: ToolSetting, **given: Any) -> Any:
    form = {"enabled": "on", "name_en": "Weather", "own_in_words": "on", **given}
    return admin.post(address(row), form)


def kept(row: ToolSetting) -> dict[str, Any]:
    return own_settings(ToolSetting.objects.get(pk=row.pk))


def test_the_page_asks_for_what_the_tool_has(admin: Client, row: ToolSetting) -> None:
    page = admin.get(address(row)).content.decode()
    for words in ("Key of the weather service", "Part of the world", "How many days"):
        assert words in page
    assert 'name="secret_key"' in page
    assert 'type="password"' in page
    assert 'max="14"' in page


def test_a_key_goes_in_and_never_comes_out(
    admin: Client, row: ToolSetting, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        assert save(admin, row, secret_key=KEY, own_region="us").status_code == 302
        pages = admin.get(address(row)).content + admin.get("/admin/").content
    assert kept(row) == {"key": KEY, "region": "us", "in_words": True}
    stored = ToolSetting.objects.get(pk=row.pk)
    dumped = serializers.serialize("json", [stored])
    listed = admin.get(reverse("admin:chat_toolsetting_changelist")).content
    history = admin.get(reverse("admin:chat_toolsetting_history", args=[row.pk])).content
    for place in (pages, listed, history, dumped.encode(), repr(stored).encode()):
        assert KEY.encode() not in place
    assert KEY not in caplog.text
    entry = AuditEntry.objects.latest("pk")
    assert entry.verb == AuditEntry.Verb.KEY
    assert entry.details == {"fields": ["own_region", "secret_key"]}


def test_an_empty_key_keeps_the_one_there_is_and_a_box_forgets_it(
    admin: Client, row: ToolSetting
) -> None:
    save(admin, row, secret_key=KEY)
    save(admin, row, own_days="7")
    assert kept(row) == {"key": KEY, "days": 7, "in_words": True}
    page = save(admin, row, own_days="99", secret_key=KEY + "x")
    assert page.status_code == 200
    assert KEY not in page.content.decode()
    assert kept(row)["days"] == 7
    save(admin, row, forget_key="on")
    assert kept(row) == {"in_words": True}


def test_a_box_of_the_list_leaves_them_alone(
    admin: Client, row: ToolSetting, settings: Any
) -> None:
    """Also while the key that opens them is away, and they read as empty."""
    save(admin, row, secret_key=KEY)
    mine = settings.PARLEY_KEYS
    settings.PARLEY_KEYS = ["wOYt6jNdXNRzYvXuVHmz0BcyYlGHJJbk2y8v9rQS0dU="]
    rows = ToolSetting.objects.order_by("tool")
    form: dict[str, Any] = {
        "form-TOTAL_FORMS": len(rows), "form-INITIAL_FORMS": len(rows), "_save": "Save",
    }  # fmt: skip
    for number, each in enumerate(rows):
        form[f"form-{number}-id"] = str(each.pk)
    listed = admin.post(reverse("admin:chat_toolsetting_changelist"), form)
    assert listed.status_code == 302
    settings.PARLEY_KEYS = mine
    assert ToolSetting.objects.get(pk=row.pk).enabled is False
    assert kept(row)["key"] == KEY


def test_what_the_tool_does_not_take_is_refused_in_the_form(
    admin: Client, row: ToolSetting
) -> None:
    search = ToolSetting.objects.create(tool="duckduckgo_search")
    page = admin.post(address(search), {"enabled": "on", "own_region": "everywhere"})
    assert "The tool does not take this value." in page.content.decode()
    assert admin.post(address(search), {"enabled": "on", "own_region": "de-de"}).status_code == 302
    assert kept(search) == {"region": "de-de"}
    assert row.pk


async def test_the_next_turn_uses_them(tool: None, site: Site) -> None:
    stored = json.dumps({"key": KEY, "region": "us", "days": 5})
    await in_thread(ToolSetting.objects.create)(tool="weather", own=stored)
    await in_thread(Agent.objects.update)(tools=["weather"])
    site.provider.script(reply(Call("weather", {}, id="call_1")), reply("Fine."))
    tab = await site.tab()
    await tab.send("How is the weather?")
    await tab.sees_the_end()
    sent = json.dumps(site.provider.requests[-1].json)
    assert f"us, 5 days, {len(KEY)} signs, True" in sent
    assert KEY not in "".join(json.dumps(each.json) for each in site.provider.requests)
