"""All routes × all kinds of people: who gets what (the most frequent class of faults)."""

from typing import Any
from uuid import uuid4

import pytest
from django.http import HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils import timezone

from chat.models import Attachment, Conversation, Folder, Message, Part, Prompt
from chat.views.organise import VERBS
from tests.security.conftest import World
from tests.security.routes import (
    EXPECTED,
    ROLES,
    Expect,
    Route,
    admin_expects,
    everyone,
    owner_only,
    routes,
)
from tests.support import factories as make
from tests.support.pages import faults_of, is_page
from tests.support.world import KEY

ALL = list(routes())
CHAT = [route for route in ALL if not route.is_admin]
ADMIN = [route for route in ALL if route.is_admin]


def outcome(response: HttpResponse) -> int | str:
    """The status, or `login` for being sent to log in."""
    to_login = response.status_code == 302 and "/login/?next=" in response["Location"]
    return "login" if to_login else response.status_code


def ask(world: World, route: Route, method: str, role: str, expect: Expect) -> Any:
    client = world.browser(role)
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
            said = {answers[role] for role in ("other", "staff", "superuser")}
            assert expect.own, route.name
            assert said in ({404}, {405}), route.name


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("route", CHAT, ids=lambda route: route.name)
def test_who_gets_what(route: Route, method: str, open_world: World) -> None:
    """1.3, 5.1, 5.2, 70: the answer, its headers, and nothing in it that is not theirs."""
    expect = EXPECTED[route.name]
    answers = {role: ask(open_world, route, method, role, expect) for role in ROLES}

    got = {role: outcome(response) for role, response in answers.items()}
    assert got == getattr(expect, method)
    for role, response in answers.items():
        page = response.content.decode()
        assert_hardened(response)
        assert KEY not in page
        assert role == "owner" or ("hens&lt;" not in page and "2+2" not in page)


@pytest.mark.parametrize("method", ["get", "post"])
def test_who_gets_what_in_the_administration(method: str, world: World) -> None:
    wanted = {route.name: getattr(admin_expects(route), method) for route in ADMIN}
    got = {
        route.name: {
            role: outcome(ask(world, route, method, role, Expect())) for role in wanted[route.name]
        }
        for route in ADMIN
    }
    assert got == wanted


OWN = [route for route in CHAT if route.name in EXPECTED and EXPECTED[route.name].own]


@pytest.mark.parametrize("gone", ["deleted", "never there"])
@pytest.mark.parametrize("route", OWN, ids=lambda route: route.name)
def test_what_is_not_there_is_not_found_by_its_owner_either(
    route: Route, gone: str, open_world: World
) -> None:
    """A stranger cannot tell somebody's conversation from one that never was."""
    expect = EXPECTED[route.name]
    method = "post" if expect.get["owner"] == 405 else "get"
    talk, folder = open_world.rows[Conversation], open_world.rows[Folder]
    if gone == "deleted":
        Conversation.objects.filter(pk=talk.pk).update(deleted_at=timezone.now())
        Folder.objects.filter(pk=folder.pk).delete()
        Prompt.objects.all().delete()
    else:
        talk.pk = folder.pk = open_world.rows[Attachment].pk = uuid4()
        open_world.rows[Prompt].pk = uuid4()
    assert outcome(ask(open_world, route, method, "owner", expect)) == 404


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


@pytest.mark.parametrize("verb", VERBS)
def test_nobody_organises_what_is_not_theirs(verb: str, open_world: World) -> None:
    talk = open_world.rows[Conversation]
    before = Conversation.objects.values().get(pk=talk.pk)
    data = {verb: str(talk.pk), "title": "mine now"}
    for role in ("other", "staff", "superuser"):
        response = open_world.browser(role).post(reverse("chat:organise"), data)
        assert response.status_code == 404
    assert Conversation.objects.values().get(pk=talk.pk) == before


@pytest.mark.parametrize("role", ["anonymous", "owner", "staff", "superuser"])
def test_the_administration_carries_them_too(role: str, world: World) -> None:
    for route in ADMIN:
        assert_hardened(ask(world, route, "get", role, Expect(get=everyone(200))))


@pytest.mark.parametrize("address", ["/no/such/page", "/c/not-a-uuid/", "/admin/no/such/"])
def test_error_pages_carry_them_too(address: str, world: World) -> None:
    for role in ROLES:
        assert_hardened(world.browser(role).get(address))


def assert_hardened(response: HttpResponseBase) -> None:
    policy = response["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "unsafe-eval" not in policy
    assert "*" not in policy
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert response["Cross-Origin-Opener-Policy"] == "same-origin"
    if isinstance(response, HttpResponse) and is_page(response):
        assert list(faults_of(response.content.decode())) == []


# Kept for its owner, and shown only after asking again whether they still may see it.
ASKED_AGAIN = {"chat:attachment"}
PRIVATE = [route for route in CHAT if route.name.startswith("chat:")]


@pytest.mark.parametrize("route", PRIVATE, ids=lambda route: route.name)
def test_a_page_with_something_private_on_it_is_never_kept(route: Route, open_world: World) -> None:
    """After logging out, the Back button shows nothing."""
    expect = EXPECTED[route.name]
    response = ask(open_world, route, "get", "owner", expect)
    if response.status_code == 200:
        kept = "private, no-cache" if route.name in ASKED_AGAIN else "no-store"
        assert kept in response["Cache-Control"]


def test_owner_only_means_what_it_says() -> None:
    assert owner_only(200)["superuser"] == 404
