"""What was deleted is gone for good in the end, and nothing else is."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Generation, Message, SearchEntry
from chat.services.conversations.organise import purge_deleted
from chat.services.conversations.search_index import index_conversation
from chat.services.pool import close_connections
from chat.services.processes.maintenance import go_round
from chat.services.upkeep import prune
from tests.support import factories as make
from tests.support.tabs import in_thread

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


@pytest.mark.django_db(transaction=True)
async def test_what_cannot_be_removed_keeps_nothing_else(settings: Any, caplog: Any) -> None:
    """Round after round: the log says what it was, and all others are done."""
    settings.PARLEY_LIMITS = {**settings.PARLEY_LIMITS, "deleted_days": 30}
    await in_thread(a_file_that_cannot_go)()
    await in_thread(a_deleted_talk)(31)
    prune._next = 0.0
    await prune.prune()
    assert not await Conversation.objects.aexists()
    await in_thread(a_file_that_cannot_go)()
    await in_thread(a_deleted_talk)(31)
    with pytest.raises(ExceptionGroup):
        await in_thread(prune.prune_now)()
    assert not await Conversation.objects.aexists()
    assert {record.getMessage() for record in caplog.records} == {"forget_waiting failed"}
    await in_thread(close_connections)()


def a_file_that_cannot_go() -> None:
    """Something else stands in its place."""
    file = make.an_attachment(created=timezone.now() - timedelta(days=2)).file
    file.storage.delete(file.name)
    (Path(file.path) / "kept").mkdir(parents=True)


async def test_a_round_of_maintenance_goes_on_after_what_fails(caplog: Any) -> None:
    done = []

    async def fails() -> None:
        raise RuntimeError

    async def goes_on() -> None:
        done.append(True)

    await go_round((fails, goes_on, fails, goes_on))
    assert len(done) == 2
    assert [record.getMessage() for record in caplog.records] == ["maintenance failed: fails"] * 2
