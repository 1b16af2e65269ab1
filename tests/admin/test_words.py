"""What is written down of the administration has no words of anybody.

Not the audit log, which is for ever, and not Django's own history.
"""

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin as django_admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chat.models import (
    Attachment,
    AuditEntry,
    BackgroundCall,
    Budget,
    Conversation,
    DailyUsage,
    Feedback,
    Folder,
    Generation,
    Invitation,
    Message,
    Part,
    Profile,
    Prompt,
    QueuedMessage,
    RequestLog,
    ShareLink,
    View,
)
from tests.support import factories as make

pytestmark = pytest.mark.django_db

CANARY = "canary-7c1e-hens"
WORDS: dict[type[Model], tuple[str, ...]] = {
    Conversation: ("title",), Message: ("system",), Part: ("text",), Feedback: ("comment",),
    Attachment: ("filename",), Folder: ("name", "instructions"), Prompt: ("name", "text"),
    QueuedMessage: ("text",), ShareLink: ("title",), Profile: ("instructions",),
    RequestLog: ("url",),
}  # fmt: skip
# Whose things these are is written down; what they are called is not.
OWNED = {
    *(model._meta.label_lower for model in WORDS),
    *(each._meta.label_lower for each in (BackgroundCall, Budget, DailyUsage, Generation, View)),
}


def delete(admin: Client, row: Model) -> None:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_delete"
    response = admin.post(reverse(name, args=[row.pk]), {"post": "yes"})
    assert response.status_code == 302, name


def test_what_is_deleted_is_called_by_its_kind_and_owner(
    admin: Client, rows: dict[type[Model], Any]
) -> None:
    for model, columns in WORDS.items():
        model._base_manager.filter(pk=rows[model].pk).update(**dict.fromkeys(columns, CANARY))
    # What is being written is not deleted.
    Message.objects.filter(status="streaming").update(status="error", completed_at=timezone.now())
    listed = set(django_admin.site._registry) - {AuditEntry, Invitation, User}
    # The latest first: they point to those from before.
    for row in [row for model, row in reversed(rows.items()) if model in listed]:
        delete(admin, row)
    for entry in AuditEntry.objects.filter(verb="delete"):
        assert CANARY not in entry.name + entry.reason + str(entry.details), entry.kind
        assert (entry.owner == "olivia" and not entry.name) == (entry.kind in OWNED), entry.kind
    deleted = set(AuditEntry.objects.filter(verb="delete").values_list("kind", flat=True))
    assert deleted == {model._meta.label_lower for model in listed}
    for told in LogEntry.objects.all():
        assert CANARY not in told.object_repr + told.change_message
        assert "olivia" not in told.object_repr + told.change_message
    assert LogEntry.objects.filter(object_repr="Acme").exists()


def test_whose_feedback_was_deleted_is_told(admin: Client) -> None:
    feedback = make.a_feedback(comment=CANARY)
    owner = feedback.person
    delete(admin, feedback)
    admin.force_login(owner)
    page = " ".join(admin.get("/readings/").content.decode().split())
    assert "<span>deleted</span> <span>feedback</span>" in page
    # What was set for somebody is nothing that anybody has read.
    budget = Budget.objects.create(person=owner, tokens_per_day=1)
    admin.force_login(User.objects.get(username="root"))
    delete(admin, budget)
    assert not Profile.objects.get(user=owner).was_read
    admin.force_login(owner)
    assert "budget" not in admin.get("/readings/").content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both_databases
def test_what_was_written_down_before_loses_its_words(staff: User) -> None:
    """By the migration, in both logs; the audit log refuses changes as before."""
    for model in (Conversation, Feedback, Folder):
        LogEntry.objects.create(
            user=staff, content_type=ContentType.objects.get_for_model(model), object_id="1",
            object_repr=CANARY, action_flag=CHANGE,
        )  # fmt: skip
    of_person = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(
        user=staff, content_type=of_person, object_id="1", object_repr="olivia", action_flag=CHANGE
    )
    AuditEntry.objects.create(actor="root", verb="delete", kind="chat.feedback", name=CANARY)
    AuditEntry.objects.create(actor="root", verb="delete", kind="chat.provider", name="Acme")
    with connection.schema_editor() as editor:
        import_module("chat.migrations.0043_history_without_words").forget_words(apps, editor)
    told = LogEntry.objects.order_by("pk").values_list("object_repr", flat=True)
    assert list(told) == ["chat.conversation 1", "chat.feedback 1", "chat.folder 1", "olivia"]
    assert sorted(AuditEntry.objects.values_list("name", flat=True)) == ["", "Acme"]
    with connection.cursor() as cursor:
        sql = "SELECT tgname FROM pg_trigger WHERE tgname LIKE 'chat_auditentry%'"
        if connection.vendor == "sqlite":
            sql = "SELECT name FROM sqlite_master WHERE name LIKE 'chat_auditentry_%_refused'"
        cursor.execute(sql)
        assert len(cursor.fetchall()) == (2 if connection.vendor == "sqlite" else 1)
