"""Searching ten thousand messages."""

import pytest
from django.contrib.auth.models import User

from chat.formats.search_text import words_of
from chat.models import Message, SearchEntry
from chat.services import Caller
from chat.services.conversations.search import search
from tests.support import factories as make
from tests.support.measuring import ratio

TALKS, MESSAGES = 200, 50
# Two hundred times as much to search costs at most so many times as much.
TIMES_ONE_TALK = 20

TEXT = (
    "An answer of ordinary length about number{0} that says nothing much in a few sentences, "
    "with a word{1} or two of its own, so that the index has something to hold. 今天天气很好{0}。"
)


def somebody(name: str, talks: int) -> User:
    owner = make.a_user(name)
    for number in range(talks):
        talk = make.a_conversation(owner, title=f"Talk {number}")
        make.a_talk(talk, MESSAGES)
        SearchEntry.objects.bulk_create(
            SearchEntry(
                owner=owner,
                conversation=talk,
                message=message,
                words=words_of(TEXT.format(message.position, number)),
            )
            for message in Message.objects.filter(conversation=talk)
        )
    return owner


@pytest.mark.full
@pytest.mark.django_db
def test_ten_thousand_messages_are_searched_at_once() -> None:
    """Also for a word that is in every one of them."""
    much, little = somebody("alice", TALKS), somebody("bob", 1)
    assert SearchEntry.objects.filter(owner=much).count() == TALKS * MESSAGES
    for query in ("number7", "word42", "number7 word42", "天气", "nowhere"):
        found = ratio(
            lambda query=query: search(Caller(much.pk), query),  # type: ignore[misc]
            lambda query=query: search(Caller(little.pk), query),  # type: ignore[misc]
            TIMES_ONE_TALK,
        )
        assert found <= TIMES_ONE_TALK, query
