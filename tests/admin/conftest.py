"""One row of everything, and somebody who may see it all."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import Model
from django.test import Client

from tests.support import factories as make
from tests.support.world import one_of_everything


@pytest.fixture
def admin(client: Client, db: None) -> Client:
    """A browser in which an administrator is logged in."""
    client.force_login(make.a_superuser("root"))
    return client


@pytest.fixture
def rows(db: None) -> dict[type[Model], Any]:
    return one_of_everything()


@pytest.fixture
def staff(db: None) -> User:
    """May enter the administration, and nothing in it."""
    return make.a_user("sam", is_staff=True)
