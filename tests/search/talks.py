"""Conversations to search in, made without a server."""

from typing import Any

from django.contrib.auth.models import User

from chat.models import Conversation
from chat.services import Caller
from chat.services.conversations.search import Found, search
from chat.services.conversations.search_index import index_conversation
from tests.support import factories as make


def a_searchable_talk(owner: User, *texts: str, **fields: Any) -> Conversation:
    """A conversation in which question and answer alternate."""
    talk = make.a_conversation(owner, **fields)
    for number, text in enumerate(texts):
        make.a_message_with_parts(talk, ("user", "assistant")[number % 2], text)
    index_conversation(talk)
    return talk


def titles(owner: User, query: str, page: int = 1) -> list[str]:
    return [plain(found.title) for found in search(Caller(owner.pk), query, page).found]


def plain(pieces: tuple[tuple[str, bool], ...]) -> str:
    return "".join(piece for piece, _ in pieces)


def hits(found: Found) -> list[str]:
    return [piece for piece, hit in found.snippet if hit]
