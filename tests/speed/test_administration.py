"""The administration is as quick with ten thousand conversations as with a hundred."""

import time
from statistics import median

import pytest
from django.contrib import admin as django_admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chat.models import Conversation, Message
from chat.services.catalog.defaults import ensure_defaults
from tests.support import factories as make
from tests.support.many import many_conversations

FEW, MANY = 100, 10_000
MOST_QUERIES = 25
FACTOR = 3

MODELS = {
    f"admin:{model._meta.app_label}_{model._meta.model_name}": model
    for model in django_admin.site._registry
}
LISTS = [
    *(reverse(f"admin:{page}") for page in ("index", "backups", "connect")),
    reverse("admin:chat_dailyusage_report"),
    *(reverse(f"{name}_changelist") for name in MODELS),
]
# Whatever a list is narrowed by, its page is compared with that of the list.
NARROWED = [
    *(f"{reverse(f'{name}_changelist')}?q=many7" for name in MODELS),
    f"{reverse('admin:chat_conversation_changelist')}?state=failed",
    f"{reverse('admin:chat_conversation_changelist')}?state=running",
    f"{reverse('admin:chat_message_changelist')}?status__exact=error",
    *(f"{reverse('admin:chat_part_changelist')}?q={word}" for word in ("calc", "call_2")),
]
# Of these there are pages upon pages; a late one is compared with the first of few.
LONG = [
    reverse(f"admin:chat_{name}_changelist")
    for name in (
        "conversation", "message", "part", "generation", "requestlog", "auditentry", "attachment",
        "feedback", "backgroundcall", "sharelink",
    )
]  # fmt: skip
LATE = 90


def pages_of_rows(client: Client) -> list[str]:
    """The page of one row of each kind, its history, and what is asked before it is deleted; those
    with words once one has said why."""
    addresses = []
    for name, model in MODELS.items():
        row = model._default_manager.order_by("pk").last()
        if row is None:
            continue
        conversation = row if isinstance(row, Conversation) else getattr(row, "conversation", None)
        if conversation is not None:
            why = reverse("admin:chat_auditentry_reason", args=[conversation.pk])
            client.post(why, {"reason": "To see how long it takes"})
        addresses += [reverse(f"{name}_{page}", args=[row.pk]) for page in ("change", "history")]
        deletion = reverse(f"{name}_delete", args=[row.pk])
        # Some are deleted by nobody.
        addresses += [deletion] if client.get(deletion).status_code == 200 else []
    answer = Message.objects.filter(role="assistant").last()
    assert answer is not None
    person = User.objects.filter(username="many1").get()
    return [
        *addresses,
        reverse("admin:chat_message_details", args=[answer.pk]),
        reverse("admin:auth_user_password_change", args=[person.pk]),
    ]


def pages_of_new_rows(client: Client) -> list[str]:
    """Of what can be written by hand."""
    addresses = [reverse(f"{name}_add") for name in MODELS]
    return [address for address in addresses if client.get(address).status_code == 200]


def took(client: Client, address: str) -> tuple[float, int]:
    """The CPU of a page once everything is warm, and how much it asks."""
    client.get(address)
    times = []
    for _ in range(5):
        begun = time.process_time()
        with CaptureQueriesContext(connection) as asked:
            assert client.get(address).status_code == 200
        times.append(time.process_time() - begun)
    return median(times), len(asked)


@pytest.mark.full
@pytest.mark.django_db
def test_pages_cost_about_the_same_with_a_hundred_times_as_much(client: Client) -> None:
    ensure_defaults()
    client.force_login(make.a_superuser("root"))
    many_conversations(FEW)
    before = {address: took(client, address) for address in LISTS}
    # Of few rows little is found: what has a page full of it is the list itself.
    before |= {address: before[address.partition("?")[0]] for address in NARROWED}
    before |= {f"{address}?p={LATE}": before[address] for address in LONG}
    many_conversations(MANY - FEW)
    after = {address: took(client, address) for address in before}
    slow = {
        address: (round(before[address][0], 3), round(seconds, 3))
        for address, (seconds, _) in after.items()
        if seconds > FACTOR * before[address][0]
    }
    assert slow == {}
    others = [*pages_of_rows(client), *pages_of_new_rows(client)]
    after |= {address: took(client, address) for address in others}
    assert {address: asked for address, (_, asked) in after.items() if asked > MOST_QUERIES} == {}
