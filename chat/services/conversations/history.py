"""Rows read as values: what pages, sockets and models are given of a conversation."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from chat.models import Conversation, Message, Part
from chat.protocol import parts as values
from chat.protocol.feedback import Feedback
from chat.protocol.frozen import JsonObject
from chat.protocol.messages import (
    ABORTED,
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
from chat.protocol.notes import NEWER_MESSAGE, PartNotes, Unreadable, with_part_notes
from chat.protocol.transcript import Chosen, Transcript
from chat.services import statements
from chat.services.access import get_conversation
from chat.services.caller import Caller
from chat.services.conversations.queue import read_queue

PAGE = 50
# Behind every position.
NO_END = 2**31 - 1


class Window(NamedTuple):
    """Which messages to read: so many before a position, and so many from it on."""

    # Nothing is the end of the conversation.
    position: int | None = None
    above: int = PAGE
    below: int = 0

    @classmethod
    def after(cls, position: int) -> "Window":
        return cls(position + 1, above=0, below=PAGE)

    @classmethod
    def around(cls, position: int) -> "Window":
        return cls(position, above=PAGE // 2, below=PAGE - PAGE // 2)


LATEST = Window()

# Brings a conversation forward to the form of today; whether it has.
Upgrade = Callable[[UUID], bool]


def read_transcript(
    caller: Caller,
    conversation_id: str | UUID,
    window: Window = LATEST,
    upgrade: Upgrade | None = None,
) -> Transcript:
    """The latest messages (or those of a window), in a few queries however many."""
    # The counters first: what is read after them can only be newer, and is applied twice
    # without harm, while the other way round something could be missed.
    conversation = get_conversation(caller, conversation_id)
    active, has_queue = statements.activity(conversation.pk)
    above, below = _rows_of(conversation, window)
    if upgrade and _are_older(above + below) and upgrade(conversation.pk):
        return read_transcript(caller, conversation_id, window)
    return Transcript(
        conversation_id=str(conversation_id),
        rev=conversation.rev,
        title=conversation.title,
        chosen=chosen_in(conversation),
        queue=read_queue(conversation.pk) if has_queue else (),
        held=conversation.queue_held,
        temporary=conversation.temporary,
        messages=with_parts(above[: window.above][::-1] + below[: window.below]),
        request_id=str(active[0]) if active else "",
        seq=active[1] if active else 0,
        older=len(above) > window.above,
        newer=len(below) > window.below,
    )


def _rows_of(conversation: Conversation, window: Window) -> tuple[list[Message], list[Message]]:
    """The messages on both sides of a position, the nearest first, and one more where there are
    others."""
    if window.position is None:
        # Not by what the conversation says is its last: messages that were sent since would be
        # left out, while the run that answers them was seen.
        return statements.latest_shown(conversation.pk, NO_END, window.above + 1), []
    position = max(0, min(window.position, conversation.last_position + 1))
    above = statements.latest_shown(conversation.pk, position, window.above + 1)
    return above, statements.first_shown(conversation.pk, position, window.below + 1)


def chosen_in(conversation: Conversation) -> Chosen:
    return Chosen(
        agent=str(conversation.agent_id or ""),
        model=str(conversation.model_id or ""),
        tools_off=tuple(conversation.tools_off or ()),
        effort=conversation.effort,
    )


def read_history(conversation_id: UUID, before: int) -> tuple[WithParts, ...]:
    """Every message before a position, for the model."""
    return with_parts(statements.shown_before(conversation_id, before))


def _are_older(rows: Iterable[Message]) -> bool:
    return any(row.is_older for row in rows)


def read_messages(ids: Sequence[UUID]) -> tuple[WithParts, ...]:
    """These messages as they are now, in their order; none that is out of sight."""
    return with_parts(statements.shown(ids)) if ids else ()


def with_parts(rows: Sequence[Message]) -> tuple[WithParts, ...]:
    """Messages with their parts, read in one query."""
    parts: dict[UUID, list[Part]] = {row.pk: [] for row in rows}
    for part in statements.parts_of(list(parts)) if rows else ():
        parts[part.message_id].append(part)
    return tuple(as_value(row, parts[row.pk]) for row in rows)


def as_value(row: Message, parts: Iterable[Part] | None = None) -> WithParts:
    """A message row and its parts, which are read where they are not given, as one value."""
    info = user_info(row) if row.role == Message.Role.USER else answer_info(row)
    rows = row.parts.all() if parts is None else parts
    return WithParts(info=info, parts=_of_newer(row, rows) if row.is_newer else tuple(_parts(rows)))


def _parts(rows: Iterable[Part]) -> Iterable[values.Part]:
    for row in rows:
        yield row.value() or _unreadable(row)


def _unreadable(row: Part) -> values.TextPart:
    """Stands for a part that no longer fits the rules: shown as a card, never sent."""
    return _stand_in(row.message_id, row, Unreadable(row.type, row.as_json()))


def _of_newer(row: Message, parts: Iterable[Part]) -> tuple[values.Part, ...]:
    """What a later Parley has written is not guessed at: one card stands for all of it."""
    stored = {"format_version": row.format_version, "parts": [part.as_json() for part in parts]}
    return (_stand_in(row.pk, row, Unreadable(NEWER_MESSAGE, stored)),)


def _stand_in(message_id: UUID, row: Message | Part, unreadable: Unreadable) -> values.TextPart:
    return values.TextPart(
        id=str(row.pk),
        session_id=str(row.conversation_id),
        message_id=str(message_id),
        text="",
        ignored=True,
        metadata=with_part_notes(None, PartNotes(unreadable=unreadable)),
    )


def user_info(row: Message) -> UserInfo:
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
        # Not `system`: an agent's instructions are for its administrators, who read the row.
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
        error=answer_error(row.status, row.error_key, row.error_data),
        feedback=_feedback(row),
        time=AnswerTime(created=ms(row.created), completed=completed, pauses=_pauses(row)),
    )


def _pauses(row: Message) -> tuple[tuple[int, int], ...] | None:
    return tuple((start, end) for start, end in row.pauses) if row.pauses else None


def _feedback(row: Message) -> Feedback | None:
    verdict, _, comment = row.feedback.partition(" ")
    if not verdict:
        return None
    return Feedback(verdict="up" if verdict == "up" else "down", comment=comment)


def _tokens(row: Message) -> values.Tokens:
    return values.Tokens(
        input=row.input_tokens,
        output=row.output_tokens,
        reasoning=row.reasoning_tokens,
        cache=values.CacheTokens(read=row.cache_read_tokens, write=row.cache_write_tokens),
    )


def answer_error(status: str, key: str, data: JsonObject) -> MessageError | None:
    """What an answer that ended like this says of it."""
    if status == Message.Status.CANCELLED:
        return MessageError(name=ABORTED, key=key, data=data)
    if status == Message.Status.ERROR:
        return MessageError(name="APIError", key=key, data=data)
    return None


def ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)
