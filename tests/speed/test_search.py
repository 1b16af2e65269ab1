"""Searching ten thousand messages."""

import time

import pytest
from django.contrib.auth.models import User

from chat.formats.search_text import words_of
from chat.models import Message, SearchEntry
from chat.services.search import search
from tests import factories as make

TALKS, MESSAGES = 200, 50
SECONDS = 0.05
ATTEMPTS = 15

TEXT = (
    "An answer of ordinary length about number{0} that says nothing much in a few sentences, "
    "with a word{1} or two of its own, so that the index has something to hold. 今天天气很好{0}。"
)


@pytest.fixture
def owner(db: None) -> User:
    owner = make.a_user("alice")
    for number in range(TALKS):
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
def test_ten_thousand_messages_are_searched_at_once(owner: User) -> None:
    """Also for a word that is in every one of them."""
    assert SearchEntry.objects.count() == TALKS * MESSAGES
    for query in ("number7", "word42", "number7 word42", "天气", "nowhere"):
        best = min(_cost(owner, query) for _ in range(ATTEMPTS))
        assert best < SECONDS, query


def _cost(owner: User, query: str) -> float:
    begin = time.process_time()
    search(owner.pk, query)
    return time.process_time() - begin
