"""What was sent is kept word for word and without keys, for a few days, and never of what is
temporary."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import Conversation, Provider, RequestLog
from chat.protocol.ids import now_ms
from chat.providers.exchanges import Exchange
from chat.rendering.page.requests import as_curl
from chat.services.runs import request_log
from chat.services.runs.request_log import (
    Pending,
    forget_requests,
    hand_over,
    received_text,
    sent_text,
    stop_keeping_requests,
    write_requests,
)
from tests.support import factories as make
from tests.support.model_server import Call, Gate, refuse, reply
from tests.support.reading import give_reason
from tests.support.site import Site
from tests.support.tabs import in_thread

SUM = Call("calculator", {"expression": "6*7"}, id="call_1")
KEY = "sk-test-canary"


@in_thread
def kept() -> list[RequestLog]:
    return list(RequestLog.objects.order_by("id"))


@in_thread
def with_keys() -> None:
    provider = Provider.objects.get(kind="openai")
    provider.api_key, provider.extra_headers = KEY, {"x-secret": "canary-header"}
    provider.save()


@pytest.mark.both_databases
async def test_every_step_is_kept_as_it_was_sent(site: Site) -> None:
    await with_keys()
    tab = await site.tab()
    site.provider.script(reply(SUM), reply(f"It is 42, says {KEY}."))
    await tab.send("How much is six times seven?")
    await tab.sees_the_end()
    await write_requests()
    rows = await kept()
    sent = [request.body.decode() for request in site.provider.requests]
    assert [sent_text(row) for row in rows] == sent
    assert "call_1" in received_text(rows[0])
    assert [(row.status, row.error_key, row.kind) for row in rows] == [(200, "", "answer")] * 2
    assert all(row.first_ms is not None and row.took_ms >= row.first_ms for row in rows)
    for row in rows:
        everything = f"{row.url} {row.headers} {sent_text(row)} {received_text(row)}"
        assert "canary" not in everything
        assert row.headers["authorization"] == "Bearer $API_KEY"


async def test_refusals_and_stopped_answers_are_kept_too(site: Site) -> None:
    tab = await site.tab()
    site.provider.script(refuse(401, "bad key"))
    await tab.send("Go")
    await tab.sees_the_end()
    gate = Gate()
    site.provider.script(reply("One, ", gate))
    await tab.send("Go on")
    await tab.sees("One,")
    await tab.stop()
    await tab.sees_the_end()
    await write_requests()
    refused, stopped = await kept()
    assert (refused.status, refused.error_key) == (401, "error.chat_provider_auth_failed")
    assert "bad key" in received_text(refused)
    assert "One," in received_text(stopped)


async def test_nothing_is_kept_of_what_is_temporary_or_switched_off(
    site: Site, settings: Any
) -> None:
    await in_thread(Conversation.objects.update)(temporary=True)
    tab = await site.tab()
    site.provider.script(reply("Yes."), reply("No."))
    await tab.send("Well?")
    await tab.sees_the_end()
    assert request_log._pending == []
    await in_thread(Conversation.objects.update)(temporary=False)
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "request_days": 0}
    await tab.send("Well?")
    await tab.sees("No.")
    await tab.sees_the_end()
    assert request_log._pending == []
    assert await kept() == []


def ended(site: Site, exchange: Exchange) -> Pending:
    return Pending(site.talk.pk, None, "title", "acme-1", exchange)


async def test_what_comes_while_others_are_written_is_written_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_log, "WAIT", 0.0)
    compressed, go_on = threading.Event(), threading.Event()

    class Held(Exchange):
        def sent(self) -> bytes:
            compressed.set()
            go_on.wait(10)
            return super().sent()

    hand_over(ended(site, Held("http://h/1", {}, b"One")))
    await asyncio.to_thread(compressed.wait, 10)
    hand_over(ended(site, Exchange("http://h/2", {}, b"Two")))
    go_on.set()
    await request_log._writing.finish()
    assert [sent_text(row) for row in await kept()] == ["One", "Two"]


@pytest.mark.both_databases
async def test_what_was_redacted_is_not_written_afterwards(site: Site) -> None:
    await in_thread(make.a_message_with_parts)(site.talk, "user", "Mine is 4111.")
    hand_over(ended(site, Exchange("http://h/1", {}, b"Mine is 4111.")))
    await in_thread(services.redact)(services.Caller(0, "root"), site.talk.pk, "4111")
    hand_over(ended(site, Exchange("http://h/2", {}, b"Later", began=now_ms() + 1000)))
    await stop_keeping_requests()
    assert [sent_text(row) for row in await kept()] == ["Later"]


@pytest.mark.django_db
class TestRows:
    def test_they_go_after_a_few_days(self, rows: Any) -> None:
        forget_requests()
        assert RequestLog.objects.count() == 1
        RequestLog.objects.update(began=F("began") - timedelta(days=8))
        forget_requests()
        assert not RequestLog.objects.exists()

    def test_the_page_takes_a_reason_and_has_a_command(self, client: Client, rows: Any) -> None:
        client.force_login(make.a_superuser("root"))
        address = reverse("admin:chat_requestlog_change", args=[rows[RequestLog].pk])
        assert client.get(address).status_code == 302
        give_reason(client, rows[Conversation])
        page = client.get(address).content.decode()
        assert "curl -N https://acme.example/v1/chat" in page
        assert "Bearer $API_KEY" in page


@pytest.fixture
def rows(db: None) -> Any:
    from tests.support.world import one_of_everything

    return one_of_everything()


def test_a_command_says_what_was_sent_and_runs_nothing_else() -> None:
    command = as_curl("http://h/v1", {"a": "Bearer $API_KEY", "b": '"`$(id)`'}, '{"a": "it\'s"}')
    assert '-H "a: Bearer $API_KEY"' in command
    assert r'-H "b: \"\`\$(id)\`"' in command
    assert """--data-raw '{"a": "it'"'"'s"}'""" in command
