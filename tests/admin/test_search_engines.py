"""Who searches the web is set in the administration; the key goes in and never comes out."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import AuditEntry, SearchEngine
from chat.services.catalog.known import current_catalog
from tests.support.search_server import Engine, running_engine
from tests.support.world import KEY

ADD = reverse("admin:chat_searchengine_add")


@pytest.fixture
def server() -> Iterator[Engine]:
    with running_engine() as server:
        row = {"title": "Tides", "url": "https://tides.example/", "content": "Twice a day."}
        server.answer = {"results": [row]}
        yield server


def given(server: Engine, **fields: Any) -> dict[str, Any]:
    values = {"kind": "tavily", "base_url": server.url, "in_use": "on", "new_key": KEY}
    return values | fields


def change(engine: SearchEngine) -> str:
    return reverse("admin:chat_searchengine_change", args=[engine.pk])


def test_an_engine_is_set_tried_and_used(admin: Client, server: Engine) -> None:
    page = admin.post(ADD, given(server), follow=True).content.decode()
    assert "Tavily answers: 1 pages for one word." in page
    assert KEY not in page
    engine = SearchEngine.objects.get()
    assert engine.api_key == KEY
    used = current_catalog().search_engine
    assert (used.kind, used.base_url, used.api_key) == ("tavily", server.url, KEY)
    assert KEY not in admin.get(change(engine)).content.decode()
    stored = SearchEngine.objects.extra(select={"raw": "api_key"}).values_list("raw", flat=True)
    assert KEY not in str(list(stored))


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_a_new_key_is_written_down_as_one(admin: Client, server: Engine, language: str) -> None:
    headers = {"accept-language": language}
    admin.post(ADD, given(server), headers=headers)
    engine = SearchEngine.objects.get()
    admin.post(change(engine), given(server, new_key="another-key-0123"), headers=headers)
    admin.post(change(engine), given(server, new_key="", in_use=""), headers=headers)
    entries = AuditEntry.objects.order_by("id").values_list("verb", "details")
    assert list(entries) == [
        ("add", {}),
        ("key", {"fields": ["new_key"]}),
        ("change", {"fields": ["in_use"]}),
    ]


def test_only_one_is_in_use_and_none_is_duckduckgo(admin: Client, server: Engine) -> None:
    assert current_catalog().search_engine.kind == "duckduckgo"
    admin.post(ADD, given(server))
    admin.post(ADD, given(server, kind="searxng", new_key=""))
    assert list(SearchEngine.objects.filter(in_use=True).values_list("kind", flat=True)) == [
        "searxng"
    ]
    assert current_catalog().search_engine.kind == "searxng"
    engine = SearchEngine.objects.get(in_use=True)
    admin.post(change(engine), {"kind": "searxng", "base_url": server.url})
    assert current_catalog().search_engine.kind == "duckduckgo"


def test_a_fault_is_said_and_the_row_kept(admin: Client, server: Engine) -> None:
    server.status = 401
    page = admin.post(ADD, given(server), follow=True).content.decode()
    assert "Tavily finds nothing. The search engine does not accept the key" in page
    assert SearchEngine.objects.count() == 1


def test_what_an_engine_needs_is_asked_for(admin: Client, server: Engine) -> None:
    page = admin.post(ADD, given(server, kind="searxng", base_url="")).content.decode()
    assert "SearXNG has no address of its own" in page
    page = admin.post(ADD, given(server, new_key="")).content.decode()
    assert "This engine answers only with a key." in page
    assert SearchEngine.objects.count() == 0


def test_a_key_stays_with_its_server(admin: Client, server: Engine) -> None:
    engine = SearchEngine.objects.create(kind="tavily", base_url=server.url, api_key=KEY)
    admin.post(change(engine), given(server, new_key=""))
    assert SearchEngine.objects.get().api_key == KEY
    elsewhere = f"{server.url}/elsewhere"
    admin.post(change(engine), given(server, new_key="", base_url=elsewhere))
    assert SearchEngine.objects.get().api_key == ""
    assert all(KEY not in str(asked.headers) for asked in server.asked if "else" in asked.path)
