"""The audit log is only ever added to, and says who read and changed what."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client

from chat import services
from chat.models import AuditEntry
from chat.services import Caller
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def by_hand(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


CHANGES: dict[str, Callable[[], Any]] = {
    "saved again": lambda: AuditEntry.objects.get().save(),
    "deleted": lambda: AuditEntry.objects.get().delete(),
    "updated together": lambda: AuditEntry.objects.update(reason="Another"),
    "deleted together": lambda: AuditEntry.objects.all().delete(),
    "updated by hand": lambda: by_hand("UPDATE chat_auditentry SET reason = 'Another'"),
    "deleted by hand": lambda: by_hand("DELETE FROM chat_auditentry"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_an_entry_cannot_be_changed_or_deleted(how: str) -> None:
    talk = make.a_conversation(title="My secret")
    services.audit(Caller(make.a_superuser("root").pk), services.Verb.READ, talk, reason="Asked to")
    with pytest.raises(DatabaseError, match="only added to"), transaction.atomic():
        CHANGES[how]()
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.verb, entry.reason) == ("root", "read", "Asked to")
    # A title is made of what was said.
    assert (entry.owner, entry.name) == (talk.owner.username, "")


def test_whoever_calls_themselves_root_is_named_by_their_username(client: Client) -> None:
    """The name that others read is one's own to choose, and may be that of somebody else."""
    client.force_login(make.a_superuser("mallory", first_name="root"))
    bea = make.a_user("bea")
    client.post(f"/admin/auth/user/{bea.pk}/link/")
    client.post(f"/admin/auth/user/{bea.pk}/delete/", {"post": "yes"})
    entries = AuditEntry.objects.values_list("verb", "actor")
    assert set(entries) == {("link", "mallory"), ("delete", "mallory")}


def test_an_entry_outlives_whom_it_is_about() -> None:
    talk = make.a_conversation()
    services.audit(Caller(talk.owner_id, talk.owner.username), services.Verb.EXPORT, talk)
    talk.owner.delete()
    assert AuditEntry.objects.get().owner
