"""No text of a person, a model, a tool or a file becomes anything but text, wherever it is shown.

How they are drawn while they come, cut at every place, is proven in test_hostile_frames.py and in
tests/rendering/streaming.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from chat.models import Conversation
from chat.services.pool import close_connections
from tests.rendering.streaming.payloads import PAYLOADS as IN_MARKDOWN
from tests.security.hostile import CHOSEN, IN_PAGES, PAYLOADS, has_escaped
from tests.security.hostile_rows import Hostile
from tests.support.downloads import content_of, download
from tests.support.escapes import escapes, read
from tests.support.model_server import Call, Say, Think, refuse, reply
from tests.support.site import Site


def test_there_are_enough() -> None:
    assert len(set(PAYLOADS)) >= 300


def pages(hostile: Hostile) -> Iterator[tuple[str, str]]:
    """Every place where it is shown, and what a browser gets there."""
    for address in hostile.addresses():
        response = hostile.client.get(address)
        if response.status_code != 404:
            assert response.status_code == 200, address
            yield address, response.content.decode()
    found = hostile.client.get("/search/?q=alert", headers={"hx-request": "true"})
    assert found.status_code == 200
    yield "search", found.content.decode()
    yield "export", download(hostile.client, f"/c/{hostile.talk.pk}/export/html/").decode()
    yield "shared", Client().get(hostile.shared()).content.decode()
    yield "imported", hostile.client.get(imported(hostile)).content.decode()
    for address in hostile.administration():
        response = hostile.admin.get(address)
        assert response.status_code in (200, 302, 403), address
        if response.status_code == 200:
            yield address, response.content.decode()


def imported(hostile: Hostile) -> str:
    """The same once more, as it comes out of a file."""
    kept = download(hostile.client, f"/c/{hostile.talk.pk}/export/json/")
    assert json.loads(kept)
    file = SimpleUploadedFile("it.json", kept, "application/json")
    before = set(Conversation.objects.values_list("pk", flat=True))
    told = hostile.client.post(reverse("chat:import"), {"files": file})
    # It goes on as its progress is read.
    assert async_to_sync(content_of)(told)
    [new] = set(Conversation.objects.values_list("pk", flat=True)) - before
    return f"/c/{new}/"


@pytest.fixture
def rows(transactional_db: None) -> Iterator[None]:
    yield
    close_connections()


def test_nothing_escapes_wherever_a_text_is_shown(rows: None) -> None:
    hostile = Hostile(CHOSEN)
    shown = {where for where, page in pages(hostile) if has_escaped(where, page)}
    # They are there, and were not just left out.
    assert shown >= {"/", "search", "export", "shared", "imported", f"/c/{hostile.talk.pk}/"}
    kinds = ("conversation", "message", "part", "feedback", "attachment", "agent", "auditentry")
    for kind in kinds:
        assert any(where.startswith(f"/admin/chat/{kind}/") for where in shown), kind
    assert User.objects.filter(pk=hostile.owner.pk).exists()


async def test_nothing_escapes_while_it_comes(site: Site, settings: Any) -> None:
    """The same in fragments: thinking, tools and their results, answers, refusals and titles."""
    # On a quick machine it is more than people may ask for in a second.
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "frames_per_second": 10_000}
    frames: list[str] = []
    tab = await site.tab()
    apply = tab.page.apply

    def kept(frame: str) -> None:
        frames.append(frame)
        apply(frame)

    tab.page.apply = kept  # type: ignore[method-assign]
    for payload in CHOSEN:
        call = Call("calculator", {"expression": payload}, pieces=len(payload))
        unknown = Call(payload[:60], {payload[:40]: payload})
        site.provider.script(reply(Think(list(payload)), call, unknown), reply(Say(list(payload))))
        assert (await tab.send(payload))["ok"]
        await tab.sees_the_end()
        assert (await tab.ask("rename", title=payload[:200]))["ok"]
    site.provider.script(refuse(400, {"error": {"message": CHOSEN[0]}}))
    await tab.send("And?")
    await tab.sees_the_end()
    shown = [frame for frame in frames if has_escaped("a frame", frame)]
    assert len(shown) > len(CHOSEN)


@pytest.mark.parametrize("payload", [*IN_PAGES, *IN_MARKDOWN[:60:4]])
def test_the_look_itself_finds_what_is_not_escaped(payload: str) -> None:
    """Or the test above would prove nothing."""
    raw = f"<!doctype html><title>x</title><body><p title='a'>{payload}</p>"
    if "<script" in payload and "{{" not in payload:
        assert list(escapes(read(raw))), payload


@pytest.mark.parametrize(
    "markup",
    [
        "<script>x</script>", "<img src=x onerror=y>", "<a href=' java\nscript:x'>y</a>",
        "<img src=//evil.example/x>", "<img srcset='a.png, https://evil.example/b 2x'>",
        "<form action=https://evil.example></form>", "<svg><image href=//evil.example></svg>",
        "<link rel=stylesheet href=//evil.example>", "<iframe></iframe>", "<base href=/>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>", "<a href=/ ping=//evil>x</a>",
        "<p style='background:url(x)'>", "<div hx-on:load=x>", "<object data=x></object>",
        "<video poster=//evil.example></video>", "<script src=//evil.example></script>",
        "<button formaction=//evil.example>x</button>", "<img src='data:text/html,x'>",
    ],
)  # fmt: skip
def test_every_kind_of_escape_is_seen(markup: str) -> None:
    assert list(escapes(read(f"<!doctype html><body>{markup}")))
