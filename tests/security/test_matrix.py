"""All routes × all kinds of people: who gets what (the most frequent class of faults)."""

from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import Attachment, Conversation, Folder, Message, Part, Prompt
from chat.views.organise import VERBS
from tests.security.answers import assert_hardened
from tests.security.conftest import World
from tests.security.routes import (
    ADMIN_LOGOUT,
    EXPECTED,
    ROLES,
    Expect,
    Route,
    admin_expects,
    owner_only,
    routes,
)
from tests.support import factories as make
from tests.support.downloads import content_of
from tests.support.world import secrets_in

ALL = list(routes())
CHAT = [route for route in ALL if not route.is_admin]
ADMIN = [route for route in ALL if route.is_admin]
STRANGERS = ("other", "staff", "operator", "auditor", "superuser")


def outcome(response: HttpResponse) -> int | str:
    """The status, or `login` for being sent to log in."""
    to_login = response.status_code == 302 and "/login/?next=" in response["Location"]
    return "login" if to_login else response.status_code


def ask(
    world: World, route: Route, method: str, role: str, expect: Expect, client: Client | None = None
) -> Any:
    client = client or world.browser(role)
    address = world.address(route) + (expect.query.format(**world.ids) if method == "get" else "")
    return getattr(client, method)(address, world.data(expect.data) if method == "post" else None)


def test_every_route_says_who_may_use_it() -> None:
    """Whoever adds a route adds a row to `EXPECTED` in tests/security/routes.py."""
    missing = [route.name for route in CHAT if route.name not in EXPECTED]
    assert missing == []


def test_no_row_speaks_of_a_route_that_is_gone() -> None:
    assert set(EXPECTED) - {route.name for route in CHAT} == set()


def test_every_route_about_one_object_is_closed_to_strangers() -> None:
    """1.3: an id is no permission. A row about an object must say 404 for everybody else."""
    for route in CHAT:
        if not route.parameters or route.name not in EXPECTED:
            continue
        expect = EXPECTED[route.name]
        for answers in (expect.get, expect.post):
            said = {answers[role] for role in STRANGERS}
            if expect.get["owner"] == 410:
                continue  # a secret in the address opens it, and here it is no longer good
            assert expect.own, route.name
            assert said in ({404}, {405}), route.name


# Kept for its owner, and shown only after asking again whether they still may see it.
ASKED_AGAIN = {"chat:attachment"}


@pytest.mark.parametrize("route", CHAT, ids=lambda route: route.name)
def test_who_gets_what(route: Route, open_world: World) -> None:
    """1.3, 5.1, 5.2, 70, S14: the answer, its headers, and nothing in it that is not theirs."""
    expect = EXPECTED[route.name]
    # Who looks changes nothing: they all look first.
    for method in ("get", "post"):
        answers = {role: ask(open_world, route, method, role, expect) for role in ROLES}
        got = {role: outcome(response) for role, response in answers.items()}
        assert got == getattr(expect, method), method
        for role, response in answers.items():
            page = _content(response).decode()
            assert_hardened(response)
            assert secrets_in(page) == []
            assert role == "owner" or ("hens&lt;" not in page and "2+2" not in page)
        if method == "get" and route.name.startswith("chat:"):
            assert_not_kept(route, answers["owner"])


def assert_not_kept(route: Route, response: Any) -> None:
    """A page with something private on it: after logging out, the Back button shows nothing."""
    if response.status_code == 200:
        kept = "private, no-cache" if route.name in ASKED_AGAIN else "no-store"
        assert kept in response["Cache-Control"]


def _content(response: Any) -> bytes:
    return async_to_sync(content_of)(response) if response.streaming else response.content


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_gets_what_in_the_administration(method: str, world: World) -> None:
    """And every answer, also a refusal, carries the headers."""
    wanted = {route.name: getattr(admin_expects(route), method) for route in ADMIN}
    # Who only looks is logged in once; what is posted may end it.
    browsers = {role: world.browser(role) for role in ROLES} if method == "get" else {}
    got: dict[str, dict[str, int | str]] = {}
    for route in ADMIN:
        got[route.name] = {}
        for role in wanted[route.name]:
            browser = browsers.get(role) if route.name != ADMIN_LOGOUT else None
            response = ask(world, route, method, role, Expect(), browser)
            assert_hardened(response)
            got[route.name][role] = outcome(response)
    assert got == wanted


OWN = [route for route in CHAT if route.name in EXPECTED and EXPECTED[route.name].own]


@pytest.mark.parametrize("gone", ["deleted", "never there"])
def test_what_is_not_there_is_not_found_by_its_owner_either(gone: str, open_world: World) -> None:
    """A stranger cannot tell somebody's conversation from one that never was."""
    talk, folder = open_world.rows[Conversation], open_world.rows[Folder]
    if gone == "deleted":
        Conversation.objects.filter(pk=talk.pk).update(deleted_at=timezone.now())
        Folder.objects.filter(pk=folder.pk).delete()
        Prompt.objects.all().delete()
    else:
        talk.pk = folder.pk = open_world.rows[Attachment].pk = uuid4()
        open_world.rows[Prompt].pk = uuid4()
    got = {}
    for route in OWN:
        expect = EXPECTED[route.name]
        method = "post" if expect.get["owner"] == 405 else "get"
        got[route.name] = outcome(ask(open_world, route, method, "owner", expect))
    assert got == dict.fromkeys(got, 404)
    assert len(got) > 30


@pytest.mark.parametrize("verb", ["edit", "regenerate", "continue", "version"])
def test_a_message_is_only_reached_through_its_own_conversation(
    verb: str, open_world: World
) -> None:
    """The parent is checked and the child is too: my conversation, but your message."""
    bob = open_world.users["other"]
    mine = make.a_conversation(bob)
    make.a_message_with_parts(mine)
    theirs = open_world.rows[Message]
    before = list(Part.objects.order_by("pk").values())

    response = open_world.browser("other").post(
        reverse(f"chat:{verb}", args=[mine.pk]),
        {"message_id": str(theirs.pk), "version": f"{theirs.pk} 1", "content": "mine now"},
    )

    assert response.status_code in (404, 409)
    assert "2+2" not in response.content.decode()
    assert list(Part.objects.order_by("pk").values()) == before


@pytest.mark.parametrize("role", STRANGERS)
def test_nobody_organises_what_is_not_theirs(role: str, open_world: World) -> None:
    talk = open_world.rows[Conversation]
    before = Conversation.objects.values().get(pk=talk.pk)
    browser = open_world.browser(role)
    for verb in VERBS:
        data = {verb: str(talk.pk), "title": "mine now"}
        assert browser.post(reverse("chat:organise"), data).status_code == 404, verb
    assert Conversation.objects.values().get(pk=talk.pk) == before


@pytest.mark.parametrize("address", ["/no/such/page", "/c/not-a-uuid/", "/admin/no/such/"])
def test_error_pages_carry_them_too(address: str, world: World) -> None:
    for role in ROLES:
        assert_hardened(world.browser(role).get(address))


def test_owner_only_means_what_it_says() -> None:
    assert owner_only(200)["superuser"] == 404
