"""What was deleted: listed with its last day, brought back, or deleted for good before that."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from chat.models import Conversation
from chat.protocol.errors import ChatError
from chat.services import Caller, list_deleted
from chat.services.access import get_conversation, lock_conversation
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice() -> User:
    return make.a_user("alice")


def deleted_talk(owner: User, title: str, days: int = 0) -> Conversation:
    deleted = timezone.now() - timedelta(days=days)
    return make.a_conversation(owner, title=title, deleted_at=deleted)


def test_ones_own_are_listed_the_latest_first_with_their_last_day(
    alice: User, client: Client
) -> None:
    """A16"""
    old = deleted_talk(alice, "Old", 10)
    deleted_talk(alice, "New")
    make.a_conversation(alice, title="Still there")
    deleted_talk(make.a_user("bob"), "Bob's")
    listed, more = list_deleted(Caller(alice.pk), 1)
    assert ([each.title for each in listed], more) == (["New", "Old"], False)
    last = old.deleted_at + timedelta(days=30)
    assert listed[1].until == last
    client.force_login(alice)
    page = client.get("/deleted/").content.decode()
    assert f"Gone for good on {date_format(timezone.localtime(last), 'DATE_FORMAT')}" in page
    assert "Bob" not in page


@pytest.mark.parametrize("place", ["/deleted/", "/settings/", "/admin/"])
def test_pages_without_a_conversation_keep_the_tab_open(
    place: str, alice: User, client: Client
) -> None:
    """A8: an answer that the tab showed before goes on."""
    User.objects.update(is_staff=True)
    client.force_login(alice)
    assert "js/elsewhere." in client.get(place).content.decode()


def test_where_nothing_is_purged_no_day_is_named(alice: User, settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "deleted_days": 0}
    deleted_talk(alice, "Kept")
    listed, _ = list_deleted(Caller(alice.pk), 1)
    assert [each.until for each in listed] == [None]


@pytest.mark.django_db(transaction=True)
def test_only_what_was_deleted_can_be_deleted_for_good_and_only_by_its_owner(
    alice: User, client: Client
) -> None:
    gone, kept = deleted_talk(alice, "Gone"), make.a_conversation(alice)
    strange = deleted_talk(make.a_user("bob"), "Bob's")
    client.force_login(alice)
    answers = [
        client.post("/organise/", {"purge": str(key)}).status_code
        for key in (gone.pk, kept.pk, strange.pk, uuid4())
    ]
    assert answers == [302, 404, 404, 404]
    assert set(Conversation.objects.all()) == {kept, strange}


def test_what_was_deleted_is_reached_by_no_verb(alice: User) -> None:
    """Nor held for one: it is there for being brought back, and for nothing else."""
    talk = deleted_talk(alice, "Old")
    for reach in (get_conversation, lock_conversation):
        with pytest.raises(ChatError) as error:
            reach(Caller(alice.pk), talk.pk)
        assert error.value.key == "error.chat_conversation_not_found"
