"""Deleting an account: what was theirs is nowhere any more, and nothing else has changed."""

from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.urls import reverse

from chat import services
from chat.models import (
    AuditEntry,
    Conversation,
    DailyUsage,
    LogIn,
    Profile,
    Prompt,
    RequestLog,
    SearchEntry,
    ShareLink,
)
from chat.protocol.errors import ChatError
from chat.services import Caller, NewShare
from chat.services.people.leaving import _close_doors, go_on_removing
from chat.services.runs.run import RUNS
from tests.support import factories as make
from tests.support.factories import PASSWORD
from tests.support.model_server import Wait, reply
from tests.support.site import Programs, Site
from tests.support.tabs import Person, in_thread
from tests.support.traces import files_with, tables_with
from tests.support.waiting import eventually

# Begins like no other word: the index keeps of a word only what differs from the one before.
CANARY = "qzxkanary7431"
SEARCHED = CANARY[3:]
PAGE = "/settings/account/delete/"


def traces() -> list[str]:
    return [*tables_with(SEARCHED), *files_with(SEARCHED)]


@in_thread
def leave_traces(person: User, talk: Conversation) -> None:
    """Wherever the chat has room for words."""
    Profile.objects.create(user=person, instructions=CANARY)
    Prompt.objects.create(owner=person, name=CANARY, text=CANARY)
    folder = make.a_folder(person, CANARY)
    Conversation.objects.filter(pk=talk.pk).update(title=CANARY, folder=folder)
    talk.refresh_from_db()
    message = make.a_message_with_parts(talk, text=f"{CANARY} and more")
    make.an_attachment(person, message, CANARY.encode(), filename=f"{CANARY}.txt")
    make.an_attachment(person, None, CANARY.encode(), filename=f"{CANARY}-unsent.txt")
    make.a_queued_message(make.a_conversation(person), CANARY)
    answer = make.a_message_with_parts(talk, "assistant", CANARY, (make.a_finished_call(),))
    make.a_feedback(answer, comment=CANARY)
    archived = make.a_conversation(person, title=CANARY, deleted_at=talk.created)
    make.a_message_with_parts(archived, text=CANARY)
    unkept = make.a_conversation(person, title=CANARY, temporary=True)
    make.a_message_with_parts(unkept, text=CANARY)
    services.reindex()
    LogEntry.objects.create(
        user=make.a_superuser("root"),
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(person.pk), object_repr=CANARY, action_flag=CHANGE, change_message="",
    )  # fmt: skip
    folder_of_program = settings.PARLEY_CLAUDE_CODE / str(talk.pk) / "work"
    folder_of_program.mkdir(parents=True)
    (folder_of_program / "notes.txt").write_text(CANARY)
    # From before log-ins were written down.
    store = SessionStore()
    store["_auth_user_id"] = str(person.pk)
    store["draft"] = CANARY
    store.create()


@pytest.fixture
async def canary(site: Site) -> Person:
    """Somebody whose every word is the same."""
    person = await in_thread(make.a_user)(CANARY, first_name=CANARY, email=f"{CANARY}@example.org")
    leaver = await Person(person).enter()
    leaver.client.defaults["HTTP_USER_AGENT"] = CANARY
    talk = await in_thread(make.a_conversation)(person)
    await leave_traces(person, talk)
    await services.share(Caller(person.pk, CANARY), talk.pk, NewShare())
    return leaver


async def until_gone(person: User) -> None:
    async def is_there() -> bool:
        return await User.objects.filter(pk=person.pk).aexists()

    while await is_there():
        await go_on_removing()


@pytest.mark.both_databases
async def test_nothing_is_left_of_who_leaves(site: Site, program: Programs, canary: Person) -> None:
    """A13, S14: while an answer is being written for them, and with a page open elsewhere."""
    me = canary.user
    live = await Conversation.objects.acreate(owner=me, agent_id=None)
    one = await program(canary, live)
    site.provider.script(reply(CANARY, Wait()))
    await one.send(f"Say {CANARY}")
    await one.hears(CANARY)
    await canary.client.get("/settings/account/")
    await canary.client.get("/")
    before = await in_thread(traces)()
    assert len([name for name in before if name.startswith("chat_")]) >= 11, before
    assert {"auth_user", "django_admin_log"} <= set(before)
    if connection.vendor == "sqlite":
        assert "chat_search_data" in before
    assert len([name for name in before if "/" in name]) == 3, before
    others = await Conversation.objects.exclude(owner=me).acount()

    left = await canary.client.post(PAGE, {"password": PASSWORD})
    assert left.status_code == 302
    assert left["Location"] == "/accounts/login/"
    await eventually(lambda: one.closed)
    assert one.closed in (4401, 4404)
    await until_gone(me)
    await eventually(lambda: not RUNS)

    # What was asked of the provider is written a moment later, if its conversation is there.
    await in_thread(_looked_for_a_while)()
    assert not await SearchEntry.objects.filter(owner_id=me.pk).aexists()
    assert not await ShareLink.objects.aexists()
    assert not await LogIn.objects.filter(user_id=me.pk).aexists()
    assert await Conversation.objects.acount() == others
    entry = await AuditEntry.objects.aget()
    assert (entry.verb, entry.kind, entry.actor, entry.name) == ("delete", "auth.user", "", "")


def _looked_for_a_while() -> None:
    """The words of the index go when its pieces are merged, in the background."""
    import time

    from tests.support.waiting import PATIENCE

    end = time.monotonic() + PATIENCE
    while (found := traces()) and time.monotonic() < end:
        time.sleep(0.05)
    assert found == []
    assert not RequestLog.objects.exists()


async def test_what_was_used_stays_of_nobody(site: Site, canary: Person) -> None:
    await DailyUsage.objects.acreate(
        day="2026-01-31", person=canary.user, kind="answer", requests=3, input_tokens=40
    )
    await canary.client.post(PAGE, {"password": PASSWORD})
    await until_gone(canary.user)
    # On a slow day the message that waits for its turn is sent meanwhile, and counted as well.
    row = await DailyUsage.objects.aget(day="2026-01-31")
    assert (row.person_id, row.requests, row.input_tokens) == (None, 3, 40)
    assert not await DailyUsage.objects.filter(person__isnull=False).aexists()


async def test_it_takes_the_password_or_the_name(site: Site) -> None:
    bob = await Person(await in_thread(make.a_user)("bob")).enter()
    for data in ({}, {"password": "wrong"}, {"username": "bob"}):
        refused = await bob.client.post(PAGE, data)
        assert refused.status_code == 422
        assert '<details class="leave" open' in refused.content.decode()
    await in_thread(_without_password)(bob.user)
    bob = await Person(bob.user).enter()
    assert (await bob.client.post(PAGE, {"username": "Bob"})).status_code == 422
    assert (await bob.client.post(PAGE, {"username": "bob"})).status_code == 302
    await until_gone(bob.user)


def _without_password(person: User) -> None:
    person.set_unusable_password()
    person.save()


async def test_the_last_administrator_stays(site: Site) -> None:
    root = await Person(await in_thread(make.a_superuser)("root")).enter()
    page = (await root.client.get("/settings/account/")).content.decode()
    assert "You are the only administrator" in page
    refused = await root.client.post(PAGE, {"password": PASSWORD})
    assert refused.status_code == 422
    assert "You are the only administrator" in refused.content.decode()
    await in_thread(make.a_superuser)("second")
    assert (await root.client.post(PAGE, {"password": PASSWORD})).status_code == 302
    await until_gone(root.user)


@pytest.mark.django_db
def test_of_two_administrators_who_leave_one_stays() -> None:
    first, second = make.a_superuser(), make.a_superuser()
    _close_doors(Caller(first.pk), first.pk)
    with pytest.raises(ChatError, match=r"error.chat_last_administrator"):
        _close_doors(Caller(second.pk), second.pk)


async def test_a_process_that_ended_in_between_is_taken_up(site: Site, canary: Person) -> None:
    """Out of reach at once, whatever happens then."""
    await in_thread(_close_doors)(Caller(canary.user.pk), canary.user.pk)
    assert (await canary.client.get("/")).status_code == 302
    assert not await Session.objects.filter(session_data__contains=CANARY).aexists()
    # A server's own round finds it.
    await until_gone(canary.user)


@in_thread
def delete_as_administrator(*things: Any) -> None:
    admin = Client()
    admin.force_login(make.a_superuser())
    for thing in things:
        page = reverse(f"admin:chat_{thing._meta.model_name}_delete", args=[thing.pk])
        assert admin.post(page, {"post": "yes"}).status_code == 302


@in_thread
def things_of(person: User) -> list[Any]:
    """One of each that an administrator may delete, with the word in it."""
    talk = make.a_conversation(person, title=CANARY)
    answer = make.a_message_with_parts(talk, "assistant", CANARY)
    return [
        make.a_feedback(answer, comment=CANARY),
        make.an_attachment(person, None, CANARY.encode(), filename=f"{CANARY}.txt"),
        answer,
        make.a_folder(person, CANARY),
        Prompt.objects.create(owner=person, name=CANARY, text=CANARY),
        talk,
    ]


async def test_what_an_administrator_deleted_left_no_words(site: Site) -> None:
    """Only the audit log knows whose it was."""
    person = await in_thread(make.a_user)("leaver")
    things = await things_of(person)
    await delete_as_administrator(*things)
    me = await Person(person).enter()
    assert (await me.client.post(PAGE, {"password": PASSWORD})).status_code == 302
    await until_gone(person)
    await in_thread(_looked_for_a_while)()
    assert await in_thread(lambda: list(tables_with("leaver")))() == ["chat_auditentry"]
    assert await AuditEntry.objects.filter(owner="leaver").acount() == len(things)


async def test_an_administrator_deletes_somebody_the_same_way(site: Site, canary: Person) -> None:
    """And is named for it."""
    root = await User.objects.aget(username="root")
    admin = await Person(root).enter()
    deleted = await admin.client.post(f"/admin/auth/user/{canary.user.pk}/delete/", {"post": "yes"})
    assert deleted.status_code == 302
    await until_gone(canary.user)
    entry: Any = await AuditEntry.objects.filter(verb="delete").aget()
    assert (entry.actor, entry.name) == ("root", CANARY)
