"""An administrator stops what runs (A5, F3)."""

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from chat.models import Generation
from chat.services.pool import close_connections
from tests.support import factories as make

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _pool_closed():
    yield
    close_connections()


def stop(client: Client, *runs: Generation) -> None:
    client.post(
        reverse("admin:chat_generation_changelist"),
        {"action": "stop", "_selected_action": [str(run.pk) for run in runs]},
    )


def test_the_wish_to_stop_reaches_the_row(admin: Client) -> None:
    run = make.a_generation()
    stop(admin, run)
    run.refresh_from_db()
    assert run.stop_requested_by
    assert run.stop_requested_by["by"] == "root"


def test_what_has_ended_is_left_alone(admin: Client) -> None:
    run = make.a_generation(make.a_message(role="assistant"), status="done")
    stop(admin, run)
    run.refresh_from_db()
    assert not run.stop_requested_by


def test_who_may_only_look_cannot_stop(client: Client, staff: User) -> None:
    staff.user_permissions.set(Permission.objects.filter(codename="view_generation"))
    client.force_login(staff)
    run = make.a_generation()
    stop(client, run)
    run.refresh_from_db()
    assert not run.stop_requested_by
