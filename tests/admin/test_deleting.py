"""Before something is deleted, it is said how much goes with it: numbers, and no words."""

from typing import Any

import pytest
from django.contrib.admin import site
from django.contrib.admin.utils import get_deleted_objects
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import Model
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import Attachment, Conversation, Message
from tests.support import factories as make


def deletion(row: Model) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_delete", args=[row.pk])


@pytest.mark.both_databases
@pytest.mark.parametrize("model", [User, Conversation, Message, Attachment])
def test_as_much_as_goes(model: type[Model], admin: Client, rows: dict[type[Model], Any]) -> None:
    """By Django's own count, which reads all of it."""
    row = rows[model]
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="root")
    _names, expected, _missing, _protected = get_deleted_objects([row], request, site)
    counted = site.get_model_admin(model).get_deleted_objects([row], request)[1]
    # Ties of people to their groups are no rows of their own.
    expected = {str(name): count for name, count in expected.items() if "-" not in str(name)}
    assert counted == expected


@pytest.mark.both_databases
def test_the_page_asks_little_however_much_goes(admin: Client) -> None:
    olivia = make.a_user("olivia")
    for _ in range(3):
        talk = make.a_conversation(olivia, title="My hens")
        make.a_talk(talk, 40)
    # The first page of a session also writes down where it comes from.
    admin.get(deletion(olivia))
    with CaptureQueriesContext(connection) as asked:
        page = admin.get(deletion(olivia)).content.decode()
    assert len(asked) <= 8
    assert "Conversations: 3" in page
    assert "Messages: 120" in page
    assert "hens" not in page


def test_what_goes_with_it_takes_rights_as_well(client: Client, staff: User) -> None:
    olivia = make.a_user("olivia")
    rights = Permission.objects.filter(codename__in=("view_user", "change_user", "delete_user"))
    staff.user_permissions.add(*rights)
    client.force_login(staff)
    assert "Are you sure" in client.get(deletion(olivia)).content.decode()
    make.a_conversation(olivia)
    page = client.get(deletion(olivia)).content.decode()
    assert "permission to delete" in page
    assert client.post(deletion(olivia), {"post": "yes"}).status_code == 403
    assert User.objects.filter(username="olivia").exists()
