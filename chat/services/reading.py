"""Rows read as values: what pages, sockets and models are given of a conversation."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db.models import Prefetch

from chat.models import Conversation, Generation, Message, Part
from chat.protocol import parts as values
from chat.protocol.messages import (
    AnswerInfo,
    AnswerTime,
    MessageError,
    ModelRef,
    Path,
    Summary,
    UserInfo,
    UserTime,
    WithParts,
)
from chat.protocol.transcript import Chosen, Transcript

PAGE = 50
ABORTED = "MessageAbortedError"


def read_transcript(
    conversation_id: str | UUID, *, before: int | None = None, limit: int = PAGE
) -> Transcript:
    """The latest messages (or those before a position), in four queries however many."""
    # The counters first: what is read after them can only be newer, and is applied twice
    # without harm, while the other way round something could be missed.
    conversation = Conversation.objects.only("rev", "title", "agent_id", "model_id").get(
        pk=conversation_id
    )
    active = Generation.objects.filter(conversation=conversation, status="active").first()
    rows = Message.objects.shown().with_versions().filter(conversation=conversation)
    if before is not None:
        rows = rows.filter(position__lt=before)
    parts = Prefetch("parts", Part.objects.order_by("position"))
    latest = list(rows.order_by("-position").prefetch_related(parts)[: limit + 1])
    return Transcript(
        conversation_id=str(conversation_id),
        rev=conversation.rev,
        title=conversation.title,
        chosen=chosen_in(conversation),
        messages=tuple(as_value(row) for row in reversed(latest[:limit])),
        request_id=str(active.pk) if active else "",
        seq=active.flushed_seq if active else 0,
        older=len(latest) > limit,
    )


def chosen_in(conversation: Conversation) -> Chosen:
    return Chosen(str(conversation.agent_id or ""), str(conversation.model_id or ""))


def read_history(conversation_id: str | UUID, before: int) -> tuple[WithParts, ...]:
    """Every message before a position, for the model."""
    rows = Message.objects.shown().filter(conversation_id=conversation_id, position__lt=before)
    parts = Prefetch("parts", Part.objects.order_by("position"))
    return tuple(as_value(row) for row in rows.order_by("position").prefetch_related(parts))


def as_value(row: Message) -> WithParts:
    """A message row and its parts as one value."""
    info = _user_info(row) if row.role == Message.Role.USER else answer_info(row)
    return WithParts(info=info, parts=tuple(_parts(row.parts.all())))


def _parts(rows: Iterable[Part]) -> Iterable[values.Part]:
    for row in rows:
        yield row.value() or _unreadable(row)


def _unreadable(row: Part) -> values.TextPart:
    """Stands for a part that no longer fits the rules: shown as a card, never sent."""
    return values.TextPart(
        id=str(row.pk),
        session_id=str(row.conversation_id),
        message_id=str(row.message_id),
        text="",
        ignored=True,
        metadata={"unreadable": row.type},
    )


def _user_info(row: Message) -> UserInfo:
    model = ModelRef(provider_id=row.provider_id, model_id=row.model_id)
    return UserInfo(
        id=str(row.pk),
        session_id=str(row.conversation_id),
        position=row.position,
        agent=row.agent,
        version=row.version,
        versions=row.versions,
        revision=row.revision,
        time=UserTime(created=ms(row.created)),
        model=model if row.model_id else None,
        summary=Summary.model_validate(row.summary, strict=False) if row.summary else None,
        system=row.system or None,
        tools=row.tools,
        variant=row.variant or None,
    )


def answer_info(row: Message) -> AnswerInfo:
    completed = ms(row.completed_at) if row.completed_at else None
    return AnswerInfo(
        id=str(row.pk),
        session_id=str(row.conversation_id),
        position=row.position,
        agent=row.agent,
        version=row.version,
        versions=row.versions,
        revision=row.revision,
        status=row.status,  # type: ignore[arg-type]  # the database allows no other
        parent_id=str(row.parent_id) if row.parent_id else None,
        provider_id=row.provider_id,
        model_id=row.model_id,
        cost=float(row.cost),
        tokens=_tokens(row),
        path=Path.model_validate(row.path or {}, strict=False),
        finish=row.finish_reason or None,
        error=_error(row),
        time=AnswerTime(created=ms(row.created), completed=completed),
    )


def _tokens(row: Message) -> values.Tokens:
    return values.Tokens(
        input=row.input_tokens,
        output=row.output_tokens,
        reasoning=row.reasoning_tokens,
        cache=values.CacheTokens(read=row.cache_read_tokens, write=row.cache_write_tokens),
    )


def _error(row: Message) -> MessageError | None:
    if row.status == Message.Status.CANCELLED:
        return MessageError(name=ABORTED, key=row.error_key, data=row.error_data)
    if row.status == Message.Status.ERROR:
        return MessageError(name="APIError", key=row.error_key, data=row.error_data)
    return None


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
