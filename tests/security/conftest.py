"""A world that belongs to one person, and everybody who might come to look at it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client

from chat import services
from chat.models import Generation, Invitation
from chat.services.pool import close_connections
from tests.security.routes import Route
from tests.support import factories as make
from tests.support.world import one_of_everything


@dataclass
class World:
    rows: dict[type[Model], Any]
    users: dict[str, User | None]

    def browser(self, role: str, **options: Any) -> Client:
        """A browser in which this kind of person was logged in a moment ago."""
        client = Client(**options)
        user = self.users[role]
        if user is not None:
            client.force_login(user)
        if role == "deactivated":
            User.objects.filter(pk=user.pk).update(is_active=False)  # type: ignore[union-attr]
        return client

    def address(self, route: Route) -> str:
        """The route with the owner's objects in it."""
        values = {
            **self.ids,
            "app_label": "chat",
            "url": "nothing/",
            "form": "markdown",
            "token": "opens-nothing",
            "uid": "MQ",
            "user_id": str(self.rows[User].pk),
            "invitation_id": str(self.rows[Invitation].pk),
            "id": str(self.rows[User].pk),
            "object_id": "1",
            "content_type_id": str(ContentType.objects.get_for_model(User).pk),
        }
        for model, row in self.rows.items():
            if f"/{model._meta.app_label}/{model._meta.model_name}/" in f"/{route.pattern}":
                values["object_id"] = str(row.pk)
        return "/" + route.filled(values)

    @property
    def ids(self) -> dict[str, str]:
        """The ids of the owner's objects, as routes name them."""
        ids = {f"{model._meta.model_name}_id": str(row.pk) for model, row in self.rows.items()}
        run = self.rows[Generation]
        named = {"answer_id": str(run.message_id), "run_id": str(run.pk)}
        return ids | named | {"verb": "stop"}

    def data(self, given: dict[str, str]) -> dict[str, str]:
        return {name: value.format(**self.ids) for name, value in given.items()}


def in_group(name: str) -> User:
    """Somebody with the rights that a new installation gives to this group."""
    if not Group.objects.filter(name=name).exists():
        services.ensure_groups()
    person: User = make.a_user(name, is_staff=True)
    person.groups.add(Group.objects.get(name=name))
    return person


def _world() -> World:
    owner = make.a_user("olivia")
    users = {
        "anonymous": None,
        "owner": owner,
        "other": make.a_user("bob"),
        "deactivated": make.a_user("dora"),
        "staff": make.a_user("sam", is_staff=True),
        "operator": in_group("operator"),
        "auditor": in_group("auditor"),
        "superuser": make.a_superuser("root"),
    }
    return World(one_of_everything(owner), users)


@pytest.fixture
def world(db: None) -> World:
    return _world()


@pytest.fixture
def open_world(transactional_db: None) -> Iterator[World]:
    """The same, seen by other threads too: views that are coroutines read in our pool."""
    yield _world()
    close_connections()
