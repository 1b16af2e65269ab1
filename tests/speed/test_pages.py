"""Opening a page: how many queries, and how much work compared with an empty view."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import AsyncClient

from chat.models import Conversation, Part
from chat.services.catalog.defaults import ensure_defaults
from chat.services.pool import close_connections
from tests.support import factories as make
from tests.support.measuring import AsyncAct, async_ratio

pytestmark = [pytest.mark.urls("tests.speed.urls"), pytest.mark.full]

QUERIES = 12
TIMES_AN_EMPTY_VIEW = 8
TIMES_A_SHORT_ONE = 1.3

ANSWER = """## What it is

A paragraph with **bold**, `code` and a [link](https://example.org), long enough to be a paragraph.

- one thing
- another, with *emphasis*

```python
def double(number: int) -> int:
    return number * 2
```

| a | b |
| - | - |
| 1 | 2 |
"""


def a_long_talk(owner: User, messages: int) -> Conversation:
    talk = make.a_conversation(owner, title=f"{messages} messages")
    make.a_talk(talk, messages)
    Part.objects.filter(conversation=talk, message__role="assistant").update(text=ANSWER)
    return talk


def rows() -> dict[int, str]:
    """A person with a full column; the addresses of conversations by their length."""
    ensure_defaults()
    owner = make.a_user("alice")
    for number in range(60):
        make.a_conversation(owner, title=f"Talk {number}")
    return {number: f"/c/{a_long_talk(owner, number).pk}/" for number in (20, 50, 2000)}


def a_person_with(talks: int) -> AsyncClient:
    """Somebody logged in who has so many conversations."""
    owner = make.a_user(f"somebody{talks}")
    Conversation.objects.bulk_create(
        Conversation(owner=owner, title=f"Talk {number}") for number in range(talks)
    )
    client = AsyncClient()
    client.force_login(owner)
    return client


def a_person_with_folders(talks: int) -> AsyncClient:
    """Somebody logged in who has so many conversations in each of two folders."""
    owner = make.a_user(f"keeper{talks}")
    for name, collapsed in (("Open", False), ("Closed", True)):
        folder = make.a_folder(owner, name, collapsed=collapsed)
        Conversation.objects.bulk_create(
            Conversation(owner=owner, folder=folder, title=f"{name} {number}")
            for number in range(talks)
        )
    client = AsyncClient()
    client.force_login(owner)
    return client


@pytest.fixture
async def talks(transactional_db: None) -> AsyncIterator[dict[int, str]]:
    yield await sync_to_async(rows)()
    await sync_to_async(close_connections)()


@pytest.fixture
async def client(talks: dict[int, str]) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget(username="alice"))
    return client


def opening(client: AsyncClient, url: str) -> AsyncAct:
    async def act() -> None:
        response = await client.get(url)
        assert response.status_code == 200

    return act


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every statement that any thread sends to the database."""
    sent: list[str] = []
    wrapped = BaseDatabaseWrapper.cursor

    def cursor(self: BaseDatabaseWrapper) -> Any:
        if note not in self.execute_wrappers:
            self.execute_wrappers.append(note)
        return wrapped(self)

    def note(execute: Any, sql: str, *rest: Any) -> Any:
        sent.append(sql)
        return execute(sql, *rest)

    monkeypatch.setattr(BaseDatabaseWrapper, "cursor", cursor)
    yield sent
    for connection in connections.all():
        if note in connection.execute_wrappers:
            connection.execute_wrappers.remove(note)


async def test_a_page_of_fifty_messages_takes_few_queries(
    client: AsyncClient, talks: dict[int, str], statements: list[str]
) -> None:
    # A process reads its agents, models and tools once.
    await opening(client, talks[20])()
    statements.clear()
    await opening(client, talks[50])()
    reading = [sql for sql in statements if sql.startswith("SELECT")]
    assert len(reading) <= QUERIES, "\n".join(reading)
    assert "chat_message" in "".join(reading)
    # However long the conversation is.
    statements.clear()
    await opening(client, talks[2000])()
    assert len([sql for sql in statements if sql.startswith("SELECT")]) == len(reading)


async def test_a_page_costs_little_more_than_an_empty_view(
    client: AsyncClient, talks: dict[int, str]
) -> None:
    page, nothing = opening(client, talks[50]), opening(client, "/nothing/")
    assert await async_ratio(page, nothing, TIMES_AN_EMPTY_VIEW) <= TIMES_AN_EMPTY_VIEW


async def test_ten_thousand_conversations_open_like_twenty(client: AsyncClient) -> None:
    """A16: what the column does not list yet costs nothing."""
    few, many = [await sync_to_async(a_person_with)(number) for number in (20, 10_000)]
    with_few, with_many = opening(few, "/"), opening(many, "/")
    # Sixty rows are drawn instead of twenty, each of them once.
    await with_few()
    await with_many()
    assert await async_ratio(with_many, with_few, TIMES_A_SHORT_ONE) <= TIMES_A_SHORT_ONE


async def test_folders_of_ten_thousand_open_like_those_of_twenty(client: AsyncClient) -> None:
    """A16: one that is open, and one that is collapsed."""
    few, many = [await sync_to_async(a_person_with_folders)(number) for number in (20, 10_000)]
    with_few, with_many = opening(few, "/"), opening(many, "/")
    await with_few()
    await with_many()
    assert await async_ratio(with_many, with_few, TIMES_A_SHORT_ONE) <= TIMES_A_SHORT_ONE


async def test_a_long_conversation_opens_like_a_short_one(
    client: AsyncClient, talks: dict[int, str]
) -> None:
    long, short = opening(client, talks[2000]), opening(client, talks[20])
    assert await async_ratio(long, short, TIMES_A_SHORT_ONE) <= TIMES_A_SHORT_ONE
