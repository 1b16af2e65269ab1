"""A file goes with its message, its conversation or its owner; none is left behind (A17)."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from chat.models import Attachment, Conversation, Message
from chat.protocol.errors import ChatError
from chat.services import Caller
from chat.services.conversations import attachments
from chat.services.pool import close_connections
from chat.services.upkeep import prune
from tests.support import factories as make
from tests.support import sample_files as samples

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def message(alice: User) -> Message:
    said = make.a_message_with_parts(make.a_conversation(alice))
    for name in ("a.txt", "b.txt"):
        make.an_attachment(alice, said, filename=name)
    # Somebody else's must stay whatever happens.
    make.an_attachment(make.a_user("bob"), filename="bob.txt")
    assert len(samples.stored()) == 3
    return said


@pytest.mark.parametrize(
    "delete",
    [
        lambda said: said.delete(),
        lambda said: Message.objects.filter(pk=said.pk).delete(),
        lambda said: said.conversation.delete(),
        lambda said: Conversation.objects.filter(pk=said.conversation_id).delete(),
        lambda said: User.objects.get(username="alice").delete(),
        lambda said: said.attachments.all().delete(),
    ],
)
def test_no_file_is_left_behind(delete: Any, message: Message) -> None:
    delete(message)
    [row] = Attachment.objects.all()
    assert [path.name for path in samples.stored()] == [str(row.pk)]


def test_a_delete_that_is_undone_keeps_the_file(message: Message) -> None:
    with transaction.atomic():
        message.delete()
        transaction.set_rollback(True)
    assert len(samples.stored()) == 3


def test_what_cannot_be_written_down_is_not_kept(alice: User, monkeypatch: Any) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the database is away")

    monkeypatch.setattr(Attachment, "save", fail)
    with pytest.raises(RuntimeError):
        attachments.store_attachment(Caller(alice.pk), "a.txt", samples.upload_of("a.txt", b"a"))
    assert samples.stored() == set()


async def test_the_sweep_removes_what_nobody_sent_within_a_day(
    message: Message, monkeypatch: Any
) -> None:
    from asgiref.sync import sync_to_async

    @sync_to_async
    def age(hours: int) -> None:
        Attachment.objects.update(created=timezone.now() - timedelta(hours=hours))

    monkeypatch.setattr(prune, "_next", 0.0)
    await age(23)
    await prune.prune()
    assert len(samples.stored()) == 3
    await age(25)
    await prune.prune()
    assert len(samples.stored()) == 3, "not again within ten minutes"
    monkeypatch.setattr(prune, "_next", 0.0)
    await prune.prune()
    names = await sync_to_async(
        lambda: set(Attachment.objects.values_list("filename", flat=True))
    )()
    assert names == {"a.txt", "b.txt"}
    assert len(samples.stored()) == 2
    await sync_to_async(close_connections)()


@pytest.mark.parametrize("remove", ["discard", "sweep", "oldest"])
def test_a_file_that_is_sent_just_before_it_is_removed_stays(
    remove: str, message: Message, monkeypatch: Any
) -> None:
    """A17: a message that was sent has its file, whoever looked at it a moment earlier."""
    alice = message.conversation.owner
    row = make.an_attachment(alice, created=timezone.now() - timedelta(days=2))

    def send(execute: Any, sql: str, *others: Any) -> Any:
        found = execute(sql, *others)
        if sql.startswith("SELECT") and "chat_attachment" in sql and not connection.in_atomic_block:
            Attachment.objects.filter(pk=row.pk).update(message=message)
        return found

    monkeypatch.setattr(attachments, "WAITING", 0)
    with connection.execute_wrapper(send):
        match remove:
            case "discard":
                with pytest.raises(ChatError, match="attachment_in_use"):
                    attachments.discard_attachment(Caller(alice.pk), row.pk)
            case "sweep":
                assert attachments.forget_waiting() == 0
            case "oldest":
                attachments._forget_oldest(alice.pk)
    assert Attachment.objects.get(pk=row.pk).message_id == message.pk
    assert str(row.pk) in {path.name for path in samples.stored()}
