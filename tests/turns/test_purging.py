"""What was deleted is gone for good in the end, and nothing else is."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Generation, Message, SearchEntry
from chat.services.conversations.organise import purge_deleted
from chat.services.conversations.search_index import index_conversation
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def a_deleted_talk(days: int) -> Conversation:
    talk = make.a_conversation(title=f"Deleted {days} days ago")
    make.a_talk(talk, 4)
    index_conversation(talk)
    talk.deleted_at = timezone.now() - timedelta(days=days)
    talk.save()
    return talk


def test_what_was_deleted_long_ago_goes_with_all_that_it_had(settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "deleted_days": 30}
    kept = [a_deleted_talk(29), make.a_conversation(title="Not deleted")]
    a_deleted_talk(31)
    purge_deleted()
    assert set(Conversation.objects.all()) == set(kept)
    assert Message.objects.count() == 4
    assert SearchEntry.objects.count() == 5


def test_it_is_kept_for_ever_where_that_is_wanted(settings: Any) -> None:
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "deleted_days": 0}
    a_deleted_talk(4000)
    purge_deleted()
    assert Conversation.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_what_is_still_being_answered_is_waited_for(settings: Any, client: Client) -> None:
    """What an answer has used is counted when it ends; until then its row stays."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "deleted_days": 30}
    talk = a_deleted_talk(31)
    run = make.a_generation(make.a_message(talk, role="assistant"))
    client.force_login(talk.owner)
    told = client.post("/organise/", {"purge": str(talk.pk)}, headers={"HX-Request": "true"})
    assert "The answer before is still ending." in told.content.decode()
    purge_deleted()
    assert Generation.objects.filter(pk=run.pk).exists()
    Generation.objects.update(status="stopped", finished=timezone.now())
    purge_deleted()
    assert not Conversation.objects.exists()
