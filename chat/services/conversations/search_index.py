"""Keeping what can be searched: the words of a message when it is whole, and of its title.

Each is called within the transaction that writes the message or the title. What is archived,
deleted or an earlier version stays as it is: the search itself passes over it. Of a temporary
chat nothing is kept here, until it is kept itself.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from chat.formats.search_text import words_of
from chat.models import Conversation, Message, Part, SearchEntry
from chat.protocol import parts as values
from chat.protocol.frozen import JsonObject
from chat.protocol.validation import part_to_json
from chat.services import sql, statements

BATCH = 200
# How many pages of SQLite's index are merged at once.
PAGES = 200


def index_message(message_id: UUID | str) -> None:
    """Read a message's parts and keep their words, after a change."""
    rows = Message.objects.filter(pk=message_id, conversation__temporary=False)
    rows = rows.select_related("conversation").only("conversation__owner_id")
    _keep(rows.prefetch_related("parts"))


def index_text(owner_id: int, conversation_id: UUID, message_id: UUID, text: str) -> None:
    """The words of a message whose text is known."""
    entry = sql.new(
        SearchEntry,
        owner_id=owner_id,
        conversation_id=conversation_id,
        message_id=message_id,
        words=words_of(text),
    )
    statements.write_entries([entry])


def index_title(conversation: Conversation) -> None:
    if conversation.temporary:
        return
    statements.write_title_entry(
        sql.new(
            SearchEntry,
            owner_id=conversation.owner_id,
            conversation_id=conversation.pk,
            words=words_of(conversation.title),
        )
    )


def index_conversation(conversation: Conversation) -> None:
    """Everything in a conversation, such as one that was imported."""
    index_title(conversation)
    _keep_all(Message.objects.filter(conversation=conversation))


def forget_copies(conversation: Conversation) -> None:
    """Of what is kept out of sight as an earlier text of a message nothing is found: what was kept
    of it before it became that goes, too."""
    copies = Message.objects.filter(conversation=conversation, copy_of__isnull=False)
    SearchEntry.objects.filter(message__in=copies).delete()


def reindex() -> int:
    """Everything anew; the number of messages."""
    titled = Conversation.objects.only("title", "owner_id", "temporary").order_by("pk")
    with transaction.atomic():
        SearchEntry.objects.all().delete()
        for row in titled.iterator(BATCH):
            index_title(row)
    return _keep_all(Message.objects.all())


def forget_removed_words() -> bool:
    """Take words out of the index itself whose entries were deleted; whether there may be more to
    do. SQLite's index only notes that they are gone until its pieces are merged: a little at a
    time, for others want to write. PostgreSQL does it when it vacuums."""
    if connection.vendor != "sqlite":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT total_changes()")
        before = cursor.fetchone()[0]
        cursor.execute("INSERT INTO chat_search (chat_search, rank) VALUES ('merge', %s)", [-PAGES])
        cursor.execute("SELECT total_changes()")
        return bool(cursor.fetchone()[0] - before > 1)


def text_of(part: Part) -> str:
    """What of a part is searched: its text, or what a tool was asked and answered; no thinking."""
    if part.type == Part.Type.TEXT:
        return "" if part.ignored else part.text
    return _words_in(part.type, part.data if isinstance(part.data, dict) else {})


def _words_in(kind: str, data: JsonObject) -> str:
    match kind:
        case Part.Type.TOOL:
            state = data.get("state") or {}
            asked = " ".join(_strings(state.get("input")))
            return "\n".join(
                filter(None, (asked, str(state.get("output") or state.get("error") or "")))
            )
        case Part.Type.FILE:
            return str(data.get("filename") or "")
        case _:
            return ""


def searched(parts: Sequence[values.Part]) -> str:
    """The same of the parts of a message, all together."""
    return "\n".join(map(_text_of_value, parts))


def _text_of_value(part: values.Part) -> str:
    if isinstance(part, values.TextPart):
        return "" if part.ignored else part.text
    return _words_in(part.type, part_to_json(part))


def _strings(value: Any) -> Iterable[str]:
    """The texts inside the arguments of a call."""
    match value:
        case str():
            yield value
        case dict():
            for item in value.values():
                yield from _strings(item)
        case list():
            for item in value:
                yield from _strings(item)


def _keep_all(messages: QuerySet[Message]) -> int:
    """In batches, each read to its end and written on its own: a running server goes on meanwhile,
    and SQLite refuses to write while an older reading is still open."""
    rows = messages.filter(copy_of=None, conversation__temporary=False)
    rows = rows.select_related("conversation").order_by("pk")
    rows = rows.only("conversation__owner_id").prefetch_related("parts")
    number = 0
    batch = list(rows[:BATCH])
    while batch:
        _keep(batch)
        number += len(batch)
        batch = list(rows.filter(pk__gt=batch[-1].pk)[:BATCH])
    return number


def _keep(messages: Iterable[Message]) -> None:
    statements.write_entries([_entry(message) for message in messages])


def _entry(message: Message) -> SearchEntry:
    parts = sorted(message.parts.all(), key=lambda part: part.position)
    return SearchEntry(
        owner_id=message.conversation.owner_id,
        conversation_id=message.conversation_id,
        message=message,
        words=words_of("\n".join(map(text_of, parts))),
    )
