"""A Parley that has been used for years: thousands of conversations, with twenty parts each, one of
which is a tool call, and with all that is kept of conversations."""

import zlib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import count
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import (
    Attachment,
    AuditEntry,
    BackgroundCall,
    Conversation,
    DailyUsage,
    Feedback,
    Generation,
    Message,
    Part,
    RequestLog,
    ShareLink,
)
from chat.protocol.ids import uuid7

PEOPLE = 50
MESSAGES = 10
PARTS = 2
WORDS: Final = "Some words that somebody said. " * 5
# A finished call, as its columns and `data` keep it.
CALL: Final[dict[str, Any]] = {
    "type": "tool",
    "tool": "calculator",
    "tool_status": "completed",
    "data": {
        "state": {
            "status": "completed",
            "input": {"expression": "6*7"},
            "output": "42",
            "title": "6*7",
            "metadata": {},
            "time": {"start": 1, "end": 2},
        }
    },
}
_BODY: Final = zlib.compress(b'{"model": "acme-1"}')
_numbers = count()


def many_conversations(number: int) -> None:
    """So many more, each of ten messages with two parts, of fifty people."""
    people = _people()
    now = timezone.now()
    for start in range(0, number, 500):
        talks = [
            Conversation(
                owner=people[next(_numbers) % PEOPLE],
                title=f"Talk {next(_numbers)}",
                created=now - timedelta(minutes=place),
                updated=now - timedelta(minutes=place),
                last_position=MESSAGES,
            )
            for place in range(start, min(start + 500, number))
        ]
        Conversation.objects.bulk_create(talks)
        _talk(talks)
    for day in range(30):
        DailyUsage.objects.bulk_create(
            (
                DailyUsage(
                    day=timezone.localdate() - timedelta(days=day), person=person, kind="answer",
                    model_id="acme-1", requests=1, input_tokens=10,
                )
                for person in people
            ),
            ignore_conflicts=True,
        )  # fmt: skip


def _people() -> list[User]:
    names = [f"many{place}" for place in range(PEOPLE)]
    User.objects.bulk_create((User(username=name) for name in names), ignore_conflicts=True)
    return list(User.objects.filter(username__in=names))


def _talk(talks: list[Conversation]) -> None:
    messages = [
        Message(
            conversation=talk,
            position=position,
            role="assistant" if position % 2 == 0 else "user",
            status="error" if position == MESSAGES and place % 50 == 0 else "success",
            error_key="error.chat_provider_stalled" if position == MESSAGES else "",
            completed_at=talk.updated,
            output_tokens=100,
        )
        for place, talk in enumerate(talks)
        for position in range(1, MESSAGES + 1)
    ]
    Message.objects.bulk_create(messages, batch_size=500)
    Part.objects.bulk_create(
        (
            Part(
                pk=uuid7(), conversation_id=message.conversation_id, message=message,
                position=position, **_part(message, position),
            )
            for message in messages
            for position in range(PARTS)
        ),
        batch_size=500,
    )  # fmt: skip
    answers = [message for message in messages if message.position == MESSAGES]
    Generation.objects.bulk_create(
        (
            Generation(
                conversation_id=message.conversation_id, message=message, status="done",
                started=message.completed_at, finished=message.completed_at,
            )
            for message in answers
        ),
        batch_size=500,
    )  # fmt: skip
    for rows in _kept(talks, answers):
        type(rows[0])._default_manager.bulk_create(rows, batch_size=500)


def _part(message: Message, position: int) -> dict[str, Any]:
    """What is said; every answer begins with a call."""
    if message.role == "assistant" and position == 0:
        return {**CALL, "call_id": f"call_{message.position}"}
    return {"type": "text", "text": WORDS}


def _kept(talks: Sequence[Conversation], answers: Sequence[Message]) -> Iterator[list[Any]]:
    """Of each conversation one of all that is kept of conversations."""
    yield [
        RequestLog(
            conversation_id=each.conversation_id, message=each, model_id="acme-1",
            url="https://acme.example/v1/chat", began=each.completed_at, sent=_BODY,
            received=_BODY, status=200,
        )
        for each in answers
    ]  # fmt: skip
    yield [
        AuditEntry(
            actor="root", verb="read", kind="chat.conversation", object_id=str(talk.pk),
            owner_id=talk.owner_id, owner=talk.owner.username, reason="Asked to",
        )
        for talk in talks
    ]  # fmt: skip
    yield [
        Attachment(
            owner=talk.owner, message=answer, file=f"attachments/{talk.pk}", mime="text/plain",
            size=1000, filename=f"{talk.title}.txt",
        )
        for talk, answer in zip(talks, answers, strict=True)
    ]  # fmt: skip
    yield [
        Feedback(message=answer, person=talk.owner, verdict="up", comment="Just right")
        for talk, answer in zip(talks, answers, strict=True)
    ]
    yield [BackgroundCall(conversation=talk, purpose="title", model_id="acme-1") for talk in talks]
    yield [
        ShareLink(
            conversation=talk, token_hash=talk.pk.hex, live=True, with_thinking=True,
            with_tools=True,
        )
        for talk in talks
    ]  # fmt: skip
