"""A message with files: the rows of one transaction (A17, E1)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from chat.models import Attachment, Conversation, Generation, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.parts import FilePart
from chat.services import Caller
from chat.services.processes import lease
from chat.services.turns.versions import switch_version
from tests.support import factories as make
from tests.support import sample_files as samples
from tests.support.turn_rows import write_edited, write_send

pytestmark = pytest.mark.both_databases


@pytest.fixture
def talk(alice: User, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    # Another test may have stopped the server.
    monkeypatch.setattr(lease, "closing", False)
    make.an_agent(is_default=True)
    return make.a_conversation(alice, title="")


def a_file(owner: User, name: str = "a.png", content: bytes = samples.PNG) -> str:
    return str(make.an_attachment(owner, content=content, filename=name, mime="image/png").pk)


def settle(talk: Conversation) -> None:
    Generation.objects.filter(conversation=talk).update(status="done", finished=timezone.now())


def parts_of(message: Message) -> list[tuple[str, str]]:
    return [(part.type, part.text) for part in message.parts.order_by("position")]


def test_files_come_before_the_words_in_the_order_given(alice: User, talk: Conversation) -> None:
    ids = [a_file(alice, "b.png"), a_file(alice, "a.png")]
    begun = write_send(Caller(alice.pk), talk.pk, "Look", list(reversed(ids)))
    files = [part for part in begun.message.parts if isinstance(part, FilePart)]
    assert [part.type for part in begun.message.parts] == ["file", "file", "text"]
    assert [file.filename for file in files] == ["a.png", "b.png"]
    assert files[0].url == f"/attachments/{ids[1]}/"
    assert (files[0].mime, files[0].size) == ("image/png", len(samples.PNG))
    assert {row.message_id for row in Attachment.objects.all()} == {
        Message.objects.get(role="user").pk
    }


def test_a_message_may_be_files_only_and_is_titled_by_them(alice: User, talk: Conversation) -> None:
    begun = write_send(Caller(alice.pk), talk.pk, " ", [a_file(alice, "photo.png")])
    assert [part.type for part in begun.message.parts] == ["file"]
    talk.refresh_from_db()
    assert talk.title == "photo.png"


@pytest.mark.parametrize(
    ("wanted", "key"),
    [
        (lambda a, b: [b], "error.chat_attachment_not_found"),
        (lambda a, b: [a, b], "error.chat_attachment_not_found"),
        (lambda a, b: [a, a], "error.chat_attachment_not_found"),
        (lambda a, b: [a, a.upper()], "error.chat_attachment_not_found"),
        (lambda a, b: ["../x"], "error.chat_attachment_not_found"),
        (lambda a, b: ["0190a0a0-0000-7000-8000-000000000000"], "error.chat_attachment_not_found"),
        (lambda a, b: [a] * 11, "error.chat_attachment_too_many"),
        (lambda a, b: a, "error.chat_bad_command"),
        (lambda a, b: [1], "error.chat_bad_command"),
        (lambda a, b: {"a": a}, "error.chat_bad_command"),
        (lambda a, b: [], "error.chat_content_required"),
    ],
)
def test_what_cannot_be_attached_sends_nothing(
    wanted: Any, key: str, alice: User, talk: Conversation
) -> None:
    """An attachment of somebody else is as good as not there."""
    mine, theirs = a_file(alice), a_file(make.a_user("bob"))
    with pytest.raises(ChatError) as refused:
        write_send(Caller(alice.pk), talk.pk, "", wanted(mine, theirs))
    assert refused.value.key == key
    assert not Message.objects.exists()
    assert not Attachment.objects.exclude(message=None).exists()


def test_a_file_is_on_one_message_only(alice: User, talk: Conversation) -> None:
    key = a_file(alice)
    write_send(Caller(alice.pk), talk.pk, "", [key])
    other = make.a_conversation(alice)
    with pytest.raises(ChatError, match="not_found"):
        write_send(Caller(alice.pk), other.pk, "again", [key])
    assert not other.messages.exists()


def test_a_send_that_is_repeated_answers_as_the_first(alice: User, talk: Conversation) -> None:
    caller = Caller(alice.pk, client_id="c1")
    key = a_file(alice)
    first = write_send(caller, talk.pk, "", [key])
    again = write_send(caller, talk.pk, "", [key])
    assert again.request_id == first.request_id
    assert Part.objects.filter(type="file").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_conversations_cannot_both_have_it(alice: User, talk: Conversation) -> None:
    """The database settles two sends of one file at the same moment."""
    key = a_file(alice)
    talks = [talk, *(make.a_conversation(alice) for _ in range(5))]

    def send(one: Conversation) -> bool:
        try:
            write_send(Caller(alice.pk), one.pk, "", [key])
        except ChatError:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(send, talks)) == 1
    assert Part.objects.filter(type="file").count() == Message.objects.filter(role="user").count()


def test_an_edited_message_keeps_its_files_and_so_does_its_earlier_version(
    alice: User, talk: Conversation
) -> None:
    """A5: the words change, the files stay; switching back shows both."""
    key = a_file(alice)
    begun = write_send(Caller(alice.pk), talk.pk, "one", [key])
    settle(talk)
    write_edited(Caller(alice.pk), talk.pk, begun.message.info.id, "two")
    settle(talk)
    said = Message.objects.get(pk=begun.message.info.id)
    assert parts_of(said) == [("file", ""), ("text", "two")]
    switch_version(Caller(alice.pk), talk.pk, str(said.pk), 1)
    assert parts_of(said) == [("file", ""), ("text", "one")]
    assert Attachment.objects.get(pk=key).message == said


def test_words_can_be_taken_off_a_message_that_has_files(alice: User, talk: Conversation) -> None:
    begun = write_send(Caller(alice.pk), talk.pk, "one", [a_file(alice)])
    settle(talk)
    write_edited(Caller(alice.pk), talk.pk, begun.message.info.id, "", archive=False)
    assert parts_of(Message.objects.get(pk=begun.message.info.id)) == [("file", "")]


def test_words_cannot_be_taken_off_a_message_that_has_none(alice: User, talk: Conversation) -> None:
    begun = write_send(Caller(alice.pk), talk.pk, "one")
    settle(talk)
    with pytest.raises(ChatError, match="content_required"):
        write_edited(Caller(alice.pk), talk.pk, begun.message.info.id, "")
