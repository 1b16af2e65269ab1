"""Every address of the administration × every right: what it takes, and that nothing else opens it.

A new address that is not one of Django's own pages of rows needs a line in `BESIDES`.
"""

from collections import defaultdict
from collections.abc import Iterator

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import Permission, User
from django.db.models import Model
from django.test import Client

from chat.models import AuditEntry, Conversation, Invitation
from chat.services.people.groups import AUDITOR, OPERATOR
from tests.admin.test_pages import WRITTEN_BY_HAND
from tests.security.conftest import World
from tests.security.routes import ADMIN_BESIDES, ADMIN_LOGIN, ADMIN_LOGOUT, Route, routes
from tests.support import factories as make
from tests.support.world import secrets_in

READ = "chat.read_conversation"
# No rights of anybody open these.
NOBODY = frozenset({"nobody"})
# Of Django's pages of rows: the right to do what to them.
PAGES = {"changelist": "view", "history": "view", "change": "view", "add": "add",
         "delete": "delete"}  # fmt: skip
# Everything else: all of these.
BESIDES: dict[str, set[str]] = {
    "admin:stop_answer": {"chat.stop_generation"},
    "admin:backups": {"chat.view_provider"},
    "admin:connect": {"chat.add_provider"},
    "admin:connected": {"chat.add_provider"},
    "admin:auth_user_password_change": {"auth.change_user"},
    "admin:auth_user_link": {"auth.change_user"},
    "admin:auth_user_log_out": {"auth.change_user"},
    "admin:auth_user_factor": {"auth.change_user"},
    "admin:auth_user_disconnect": {"auth.change_user"},
    "admin:chat_agent_duplicate": {"chat.add_agent"},
    "admin:chat_auditentry_reason": {READ},
    "admin:chat_conversation_act": {"chat.stop_generation"},
    "admin:chat_conversation_export": {"chat.export_conversation", READ},
    "admin:chat_dailyusage_report": {"chat.view_dailyusage"},
    "admin:chat_invitation_revoke": {"chat.change_invitation"},
    "admin:chat_message_details": {"chat.view_message", READ},
    "admin:chat_part_inspect": {"chat.view_part", READ},
}
# Open to all staff, or only leading elsewhere.
OPEN = {*ADMIN_BESIDES, ADMIN_LOGIN, ADMIN_LOGOUT}


def takes(route: Route) -> frozenset[str]:
    """The rights that an address takes, all of them."""
    if route.name in BESIDES:
        return frozenset(BESIDES[route.name])
    model, page = _page_of(route)
    if page == "add" and model._meta.model_name not in WRITTEN_BY_HAND:
        return NOBODY
    if page == "delete" and model in (AuditEntry, Invitation):
        return NOBODY
    rights = {f"{model._meta.app_label}.{PAGES[page]}_{model._meta.model_name}"}
    if page == "change" and getattr(django_admin.site._registry[model], "shows_words", False):
        rights.add(READ)
    return frozenset(rights)


def _page_of(route: Route) -> tuple[type[Model], str]:
    for model in django_admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}_"
        if route.name.startswith(name) and route.name.removeprefix(name) in PAGES:
            return model, route.name.removeprefix(name)
    raise AssertionError(f"{route.name}: say in BESIDES what it takes")


CLOSED = [
    route
    for route in routes()
    if route.is_admin and route.name not in OPEN and not route.pattern.endswith("<path:object_id>/")
]


def staff_with(*rights: Permission) -> Client:
    person = make.a_user(is_staff=True)
    person.user_permissions.set(rights)
    client = Client()
    client.force_login(person)
    return client


def enters(client: Client, world: World, route: Route, method: str = "get") -> bool:
    """Whether somebody is let in, which may also lead on, or be done by a button only."""
    response = getattr(client, method)(world.address(route))
    to_login = response.status_code == 302 and "/login/" in response["Location"]
    assert not to_login, route.name
    assert response.status_code in (200, 302, 403, 405), (route.name, response.status_code)
    assert secrets_in(response.content.decode()) == [], route.name
    return bool(response.status_code != 403)


def test_every_address_says_what_it_takes() -> None:
    known = {f"{each.content_type.app_label}.{each.codename}" for each in _all_rights()}
    for route in CLOSED:
        assert takes(route) <= known | NOBODY, route.name


@pytest.fixture(autouse=True)
def _database(db: None) -> None:
    """Permissions are rows."""


def _all_rights() -> Iterator[Permission]:
    yield from Permission.objects.select_related("content_type")


@pytest.mark.parametrize("method", ["get", "post"])
def test_all_rights_but_the_one_do_not_open_it(method: str, world: World) -> None:
    missing: dict[str, list[Route]] = defaultdict(list)
    for route in CLOSED:
        for right in takes(route) - NOBODY:
            missing[right].append(route)
    opened = []
    for right, closed in missing.items():
        app, _, name = right.partition(".")
        # Who may change rows may look at them; words are changed by a right of their own.
        names = {name, name.replace("view_", "change_", 1)}
        names |= {"edit_conversation"} if name == "view_part" else set()
        others = [
            each
            for each in _all_rights()
            if each.content_type.app_label != app or each.codename not in names
        ]
        client = staff_with(*others)
        opened += [(right, route.name) for route in closed if enters(client, world, route, method)]
    assert opened == []


@pytest.mark.parametrize("role", [OPERATOR, AUDITOR, "superuser"])
def test_every_role_opens_what_its_rights_are_for(role: str, world: World) -> None:
    person = world.users[role]
    assert isinstance(person, User)
    rights = person.get_all_permissions()
    rights |= {right.replace(".change_", ".view_", 1) for right in rights}
    client = world.browser(role)
    wanted = {route.name: takes(route) <= rights for route in CLOSED}
    got = {route.name: enters(client, world, route) for route in CLOSED}
    assert got == wanted
    # Otherwise it would say nothing.
    assert set(wanted.values()) >= {True} | ({False} if role != "superuser" else set())


@pytest.mark.parametrize(
    ("verb", "right"),
    [
        ("stop", "stop_generation"),
        ("delete", "delete_conversation"),
        ("restore", "delete_conversation"),
        ("redact", "redact_conversation"),
    ],
)
def test_each_verb_takes_its_own_right(verb: str, right: str, world: World) -> None:
    address = f"/admin/chat/conversation/{world.rows[Conversation].pk}/act/{verb}/"
    others = [each for each in _all_rights() if each.codename != right]
    assert staff_with(*others).post(address, {"text": "x"}).status_code == 403
    own = [each for each in _all_rights() if each.codename in (right, "read_conversation")]
    assert staff_with(*own).get(address).status_code == 405
