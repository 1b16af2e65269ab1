"""Forged, twisted and hostile requests."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Profile
from tests.security.conftest import World
from tests.security.routes import EXPECTED, Route, routes
from tests.support.factories import PASSWORD

ALL = list(routes())

# --- forged forms ---------------------------------------------------------------------


@pytest.mark.parametrize("role", ["anonymous", "owner", "superuser"])
def test_no_route_takes_a_form_without_its_token(role: str, world: World) -> None:
    """Every route, also those of the administration, and whatever it would have answered."""
    client = world.browser(role, enforce_csrf_checks=True)
    for route in ALL:
        data = EXPECTED[route.name].data if route.name in EXPECTED else {}
        assert client.post(world.address(route), data).status_code == 403, route.name


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_no_route_takes_a_form_from_another_site(origin: str, world: World) -> None:
    client = world.browser("owner", enforce_csrf_checks=True)
    token = form_token(client)
    for route in (route for route in ALL if not route.is_admin):
        data = {**EXPECTED[route.name].data, "csrfmiddlewaretoken": token}
        response = client.post(world.address(route), data, headers={"origin": origin})
        assert response.status_code == 403, route.name


def test_with_its_token_a_form_is_taken(world: World) -> None:
    """Or the two tests above would prove nothing."""
    client = world.browser("owner", enforce_csrf_checks=True)
    data = {"theme": "dark", "csrfmiddlewaretoken": form_token(client)}
    assert client.post(reverse("chat:theme"), data).status_code == 302
    assert Profile.objects.get().theme == "dark"


def form_token(client: Client) -> str:
    page = client.get(reverse("chat:home")).content.decode()
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
    assert found
    return found[1]


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_methods_that_nothing_uses_change_nothing(method: str, world: World) -> None:
    client = world.browser("owner")
    used = {"delete": "chat:attachment"}
    for route in (route for route in ALL if route.name.startswith("chat:")):
        if route.name != used.get(method):
            assert getattr(client, method)(world.address(route)).status_code == 405, route.name


# --- where a redirect leads -----------------------------------------------------------

FOREIGN = [
    "https://evil.example/", "//evil.example/", "/\\evil.example/", "\\\\evil.example",
    "https:evil.example", "///evil.example", "http:///evil.example", "javascript:alert(1)",
    "/\t/evil.example", "https://testserver@evil.example/", "https://testserver.evil.example",
]  # fmt: skip


@pytest.mark.parametrize("target", FOREIGN)
def test_no_redirect_leaves_the_site(target: str, world: World) -> None:
    who = {"username": "olivia", "password": PASSWORD}
    owner = world.browser("owner")
    answers = [
        Client().post(reverse("login") + "?next=", {**who, "next": target}),
        Client().post("/admin/login/", {"username": "root", "password": PASSWORD, "next": target}),
        owner.get(reverse("login"), {"next": target}),
        owner.get(reverse("enter"), {"next": target}),
        owner.post(reverse("set_language"), {"language": "en", "next": target}),
        owner.post(reverse("set_language"), {"language": "en"}, headers={"referer": target}),
        owner.post(reverse("chat:theme"), {"theme": "dark"}, headers={"referer": target}),
        owner.post(reverse("logout"), {"next": target}),
    ]
    for response in answers:
        assert response.status_code == 302
        assert "evil" not in response["Location"]
        assert "javascript" not in response["Location"]


def test_a_page_of_ours_is_where_a_redirect_leads(world: World) -> None:
    who = {"username": "olivia", "password": PASSWORD, "next": "/?q=hens"}
    assert Client().post(reverse("login"), who)["Location"] == "/?q=hens"


# --- what a browser claims about itself -----------------------------------------------

MARK = '"><script>alert(1)</script>'


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "a b", "[::1", MARK])
def test_a_host_that_is_not_ours_is_refused_and_not_repeated(host: str, db: None) -> None:
    response = Client().get("/accounts/login/", headers={"host": host})
    assert response.status_code == 400
    assert host not in response.content.decode()


def test_only_the_host_itself_says_which_host_it_is(world: World) -> None:
    claims = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "https",
        "forwarded": "host=evil.example",
    }
    response = world.browser("anonymous").get("/", headers=claims)
    assert "evil" not in response["Location"]
    assert "evil" not in str(response.headers)


@pytest.mark.parametrize("language", [MARK, "x" * 5_000, "zz-ZZ", "en\x0b", "../../etc", ",,;q="])
def test_a_strange_language_is_neither_repeated_nor_an_error(language: str, world: World) -> None:
    client = world.browser("owner")
    client.cookies["django_language"] = re.sub(r"[^\w/.-]", "", language)
    response = client.get(reverse("chat:home"), headers={"accept-language": language})
    assert response.status_code == 200
    assert language not in response.content.decode()
    assert response["Content-Language"] in ("en", "zh-hans")


def test_a_strange_language_is_not_kept(world: World) -> None:
    client = world.browser("owner")
    client.post(reverse("set_language"), {"language": MARK, "next": "/"})
    assert "django_language" not in client.cookies
    assert not Profile.objects.exclude(language__in=["", "en", "zh-hans"]).exists()


@pytest.mark.parametrize("before", ["", "x", "-1", "²", "٣", "9" * 30, "1e9", "0x10", MARK])
def test_a_strange_position_is_not_found_and_not_an_error(before: str, world: World) -> None:
    talk = world.rows[Conversation]
    response = world.browser("owner").get(reverse("chat:older", args=[talk.pk]), {"before": before})
    assert response.status_code in (200, 404)
    assert MARK not in response.content.decode()


@pytest.mark.parametrize("page", ["", "0", "-1", "²", "9" * 30, MARK])
def test_a_strange_page_of_a_list_is_its_first(page: str, world: World) -> None:
    owner = world.browser("owner")
    for address in (reverse("chat:archived"), reverse("chat:deleted")):
        assert owner.get(address, {"page": page}).content == owner.get(address).content, address


@pytest.mark.parametrize("query", [MARK, "\x00", "x" * 100_000, "%", "'; drop table"])
def test_a_strange_search_is_neither_repeated_nor_an_error(query: str, world: World) -> None:
    response = world.browser("owner").get(reverse("chat:home"), {"q": query, "draft": query})
    assert response.status_code == 200
    assert MARK not in response.content.decode()


# --- cookies --------------------------------------------------------------------------


def cookies(world: World) -> Any:
    client = Client()
    client.get(reverse("login"))
    client.post(reverse("login"), {"username": "olivia", "password": PASSWORD})
    client.post(reverse("set_language"), {"language": "zh-hans", "next": "/"})
    return client.cookies


def test_no_cookie_is_readable_by_scripts_or_sent_by_other_sites(
    world: World, settings: Any
) -> None:
    jar = cookies(world)
    for name in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME):
        assert jar[name]["httponly"]
    assert {cookie["samesite"] for cookie in jar.values()} == {"Lax"}
    assert {cookie["domain"] for cookie in jar.values()} == {""}


def test_a_session_is_new_after_logging_in(world: World, settings: Any) -> None:
    """A session that somebody planted before the log-in is worth nothing."""
    client = Client()
    planted = client.session
    planted["a"] = 1
    planted.save()
    before = client.cookies[settings.SESSION_COOKIE_NAME].value
    client.post(reverse("login"), {"username": "olivia", "password": PASSWORD})
    assert client.cookies[settings.SESSION_COOKIE_NAME].value != before


# --- logging in -----------------------------------------------------------------------


def test_an_unknown_name_and_a_wrong_password_look_the_same(world: World) -> None:
    def answer(name: str) -> str:
        page = Client().post(reverse("login"), {"username": name, "password": "wrong"})
        text = page.content.decode().replace(name, "NAME")
        return re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]+"', "", text)

    assert answer("olivia") == answer("nobody")


def test_somebody_deactivated_cannot_log_in(world: World) -> None:
    world.browser("deactivated")
    who = {"username": "dora", "password": PASSWORD}
    assert Client().post(reverse("login"), who).status_code == 200


def admin_routes() -> list[Route]:
    return [route for route in ALL if route.is_admin]


def test_the_administration_is_among_the_routes() -> None:
    assert len(admin_routes()) > 50
