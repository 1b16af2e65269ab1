"""One row of everything, and somebody who may see it all."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client

from chat.models import Conversation
from tests.support import factories as make
from tests.support.reading import give_reason
from tests.support.world import one_of_everything


@pytest.fixture
def admin(client: Client, db: None) -> Client:
    """A browser in which an administrator is logged in."""
    client.force_login(make.a_superuser("root"))
    return client


@pytest.fixture
def rows(client: Client, db: None) -> dict[type[Model], Any]:
    """The browser has said why it reads their conversation; who is logged in later keeps that."""
    rows = one_of_everything()
    give_reason(client, rows[Conversation])
    return rows


@pytest.fixture
def staff(db: None) -> User:
    """May enter the administration, and nothing in it."""
    return make.a_user("sam", is_staff=True)
