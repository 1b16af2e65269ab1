"""What the outline of a conversation lists: its questions, in order, each by its first line."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Message
from chat.protocol import parts as values
from chat.protocol.ids import new_id
from chat.services import Caller, list_questions
from chat.services.conversations import outline
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def lines(talk: Any) -> list[tuple[int, str]]:
    return [tuple(each) for each in list_questions(Caller(talk.owner_id), talk.pk)]


@pytest.mark.both_databases
def test_each_question_is_its_first_line(django_assert_num_queries: Any) -> None:
    talk = make.a_conversation()
    make.a_message_with_parts(talk, "user", "\n\n## **Why** is `it` slow?\n\nMore of it.")
    make.a_message_with_parts(talk, "assistant", "# Because")
    make.a_message_with_parts(talk, "user", "word " * 100)
    bare = make.a_message(talk, "user")
    file = {"mime": "image/png", "url": "/x", "filename": "photo.png"}
    make.a_part(values.FilePart(**make.of(bare), id=new_id(), **file))
    with django_assert_num_queries(2):
        found = lines(talk)
    assert found[0] == (1, "Why is it slow?")
    assert found[1][0] == 3
    assert found[1][1].endswith("word…")
    assert len(found[1][1]) <= outline.LONGEST
    assert found[2] == (4, "photo.png")


def test_earlier_versions_are_not_listed() -> None:
    talk = make.a_conversation()
    old, new = (make.a_message_with_parts(talk, "user", text) for text in ("old", "new"))
    Message.objects.filter(pk=old.pk).update(archived_at=timezone.now())
    assert lines(talk) == [(new.position, "new")]


def test_of_very_many_the_latest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outline, "MOST", 3)
    talk = make.a_conversation()
    make.a_talk(talk, 12)
    assert [position for position, _ in lines(talk)] == [7, 9, 11]


def test_what_a_question_says_is_escaped(client: Client) -> None:
    talk = make.a_conversation()
    make.a_message_with_parts(talk, "user", "<script>alert(1)</script>")
    client.force_login(talk.owner)
    drawn = client.get(f"/c/{talk.pk}/outline/").content.decode()
    assert "&lt;script&gt;" in drawn
    assert f'href="/c/{talk.pk}/?at=1#m1"' in drawn
