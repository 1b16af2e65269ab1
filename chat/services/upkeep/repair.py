"""Repair: tool calls and results that were saved as text become tool parts again (C4, C5).

It is done when a conversation of an older form is opened, imported or gone on with, and by
`manage.py repair_tool_history` to all of them.

An answer that came in several messages, with results between them, becomes one message, as
answers are here. The messages it replaces are kept out of sight: they count as earlier versions of
that answer (`copy_of`), which neither switching versions, nor search, nor export ever shows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from chat.formats.xml_repair import CallFinder, FoundCall, FoundResult
from chat.models import Conversation, Generation, Message, Part
from chat.models.message import CALLS_IN_TEXTS, FORMAT_VERSION
from chat.protocol import parts as values
from chat.protocol import tool_state
from chat.protocol.factories import (
    create_completed,
    create_pending,
    create_step_start_part,
    create_tool_part,
)
from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolSpec
from chat.services.access import lock_row
from chat.services.conversations.history import as_value, ms
from chat.services.conversations.revision import edited, raise_rev, tell_on_commit
from chat.services.conversations.search_index import forget_copies, index_message
from chat.services.statements import answers_to
from chat.tools.registry import registry

# So many messages are read at once.
BATCH = 200


@dataclass(slots=True)
class Repair:
    """What there is to repair in one conversation, or was."""

    conversation_id: str
    calls: int = 0
    results: int = 0
    joined: int = 0  # messages that became part of the answer before them
    busy: bool = False
    newer: bool = False  # a later Parley has written in it


def repair_conversations(*, apply: bool, only: UUID | None = None) -> Iterator[Repair]:
    """Look through all conversations, or one; write only when told to."""
    found = _texts_with_tags().filter(conversation__temporary=False)
    if only:
        found = found.filter(conversation_id=only)
    for pk in found.order_by("conversation").values_list("conversation", flat=True).distinct():
        with transaction.atomic():
            repair = repair_held(lock_row(pk), apply=apply)
        if repair.calls or repair.busy or repair.newer:
            yield repair


def upgrade(conversation_id: UUID) -> bool:
    """Bring the messages of a conversation that are shown to the form of today; whether any was
    of an older one, and could be."""
    if not _older(conversation_id).exists():
        return False
    with transaction.atomic():
        return upgrade_held(lock_row(conversation_id))


def upgrade_held(conversation: Conversation) -> bool:
    """The same for one that is locked."""
    repair = repair_held(conversation, apply=True)
    return not (repair.busy or repair.newer)


def repair_held(conversation: Conversation, *, apply: bool) -> Repair:
    """Repair a conversation that is locked, and tell its pages."""
    repair = Repair(str(conversation.pk))
    rows = Message.objects.shown().filter(conversation=conversation).order_by("position")
    repair.busy = Generation.objects.filter(conversation=conversation, status="active").exists()
    repair.newer = rows.filter(format_version__gt=FORMAT_VERSION).exists()
    if repair.busy or repair.newer:
        return repair
    reading = _Reading([tool.spec for tool in registry], repair)
    if _texts_with_tags().filter(conversation=conversation).exists():
        read = rows.prefetch_related("parts").iterator(BATCH)
        for row, after in pairwise(chain(read, (None,))):
            assert row is not None
            reading.read(row, _typed(after))
    if apply:
        _write(conversation, reading)
        _older(conversation.pk).update(format_version=FORMAT_VERSION)
    return repair


def _texts_with_tags() -> QuerySet[Part]:
    """Where there may be a call in a text."""
    return Part.objects.filter(
        type=Part.Type.TEXT,
        text__contains="</",
        message__role=Message.Role.ASSISTANT,
        message__archived_at=None,
    )


def _older(conversation_id: UUID) -> QuerySet[Message]:
    shown = Message.objects.shown().filter(conversation=conversation_id)
    return shown.filter(format_version__lt=FORMAT_VERSION)


def _write(conversation: Conversation, reading: "_Reading") -> None:
    if not reading.repair.calls:
        return
    for answer in reading.answers:
        answer.save()
    for joined in reading.joined:
        _keep_versions(joined)
        _replace(joined.row, joined.answer.row)
    forget_copies(conversation)
    raise_rev(conversation)
    changed = [answer.row.pk for answer in reading.answers]
    removed = [joined.row.position for joined in reading.joined]
    tell_on_commit(conversation, edited(conversation, changed, removed))


def _replace(row: Message, answer: Message) -> None:
    """Put a message away for good; what followed it follows the repaired answer now."""
    row.archived_at = timezone.now()
    row.copy_of = answer
    row.save(update_fields=("archived_at", "copy_of"))
    Message.objects.filter(parent=row, role=Message.Role.USER).update(parent=answer)


def _keep_versions(joined: "_Joined") -> None:
    """Other answers to a result, which are out of sight, are other answers to the question: each
    begins with what had been said and done until then."""
    row, answer = joined.row, joined.answer.row
    if row.role != Message.Role.ASSISTANT or row.parent_id is None or answer.parent_id is None:
        return
    others = Message.objects.filter(parent=row.parent_id, role=Message.Role.ASSISTANT, copy_of=None)
    for other in others.exclude(pk=row.pk).order_by("version"):
        _, highest = answers_to(answer.parent_id)
        said = _Saying(other, _moved(joined.before, other), other)
        said.add(other, list(as_value(other).parts))
        said.save()
        # What it says itself is looked through when it is shown.
        other.format_version = CALLS_IN_TEXTS
        other.parent_id, other.version = answer.parent_id, highest + 1
        other.save(update_fields=("parent", "version", "format_version"))


def _moved(parts: Sequence[values.Part], row: Message) -> list[values.Part]:
    """Parts like these in another message."""
    return [part.model_copy(update={"id": new_id(), "message_id": str(row.pk)}) for part in parts]


@dataclass(slots=True)
class _Saying:
    """A message with the parts it should have."""

    row: Message
    parts: list[values.Part]
    last: Message  # the message that ended it

    def add(self, other: Message, parts: list[values.Part]) -> None:
        """Go on with the parts of another message."""
        mark = create_step_start_part(str(self.row.conversation_id), str(self.row.pk))
        self.parts += [mark, *_moved(parts, self.row)]
        self.last = other
        if other is not self.row:
            self.row.cost += other.cost

    def finish(self, result: FoundResult) -> None:
        for place, part in enumerate(self.parts):
            if isinstance(part, values.ToolPart) and part.call_id == result.call.call_id:
                when = ms(self.row.created)
                state = create_completed(part.state.input, result.text, "", {}, when, when)
                self.parts[place] = part.model_copy(update={"state": state})

    def save(self) -> None:
        Part.objects.filter(message=self.row).delete()
        Part.objects.bulk_create(Part.of(part, place) for place, part in enumerate(self.parts))
        for name in _ENDING:
            setattr(self.row, name, getattr(self.last, name))
        self.row.revision += 1
        self.row.updated = timezone.now()
        self.row.format_version = FORMAT_VERSION
        self.row.save(update_fields=(*_ENDING, "cost", "revision", "updated", "format_version"))
        index_message(self.row.pk)


@dataclass(frozen=True, slots=True)
class _Joined:
    """A message that became part of an answer, and what the answer had before it."""

    row: Message
    answer: _Saying
    before: tuple[values.Part, ...] = ()


# What the last message of an answer says of its end.
_ENDING = (
    "status",
    "error_key",
    "error_data",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "completed_at",
)


class _Reading:
    """Goes through a conversation from its beginning."""

    def __init__(self, tools: Sequence[ToolSpec], repair: Repair) -> None:
        self.repair = repair
        self.answers: list[_Saying] = []
        self.joined: list[_Joined] = []
        self._finder = CallFinder(tools)
        self._answer: _Saying | None = None
        self._goes_on = False  # nothing but results came since

    def read(self, row: Message, following: Sequence[str] = ()) -> None:
        """A message; `following` is what the user's side says in the next one."""
        if any(part.value() is None for part in row.parts.all()):
            self._answer, self._goes_on = None, False
            return
        parts = list(as_value(row).parts)
        if row.role == Message.Role.ASSISTANT:
            self._read_answer(row, parts, following)
        else:
            self._read_question(row, parts)

    def _read_answer(
        self, row: Message, parts: list[values.Part], following: Sequence[str]
    ) -> None:
        self._finder.next_answer(following)
        found = [new for part in parts for new in self._pieces(row, part)]
        if self._goes_on and self._answer:
            self.joined.append(_Joined(row, self._answer, tuple(self._answer.parts)))
            self._answer.add(row, found)
            self.repair.joined += 1
        else:
            self._answer = _Saying(row, found, row)
            # Of a long conversation only what is written is kept in mind.
            if found != parts:
                self.answers.append(self._answer)
        self._goes_on = False

    def _pieces(self, row: Message, part: values.Part) -> Iterator[values.Part]:
        if not isinstance(part, values.TextPart) or part.ignored:
            yield part
            return
        for piece in self._finder.in_answer(part.text):
            if isinstance(piece, FoundCall):
                self.repair.calls += 1
                yield _call(row, piece)
            elif piece == part.text:
                yield part
            else:
                yield part.model_copy(update={"id": new_id(), "text": piece})

    def _read_question(self, row: Message, parts: list[values.Part]) -> None:
        answer = self._answer
        kept: list[values.Part] = []
        results = 0
        for part in parts:
            if answer is None or not isinstance(part, values.TextPart) or part.ignored:
                kept.append(part)
                continue
            for piece in self._finder.in_question(part.text):
                if isinstance(piece, FoundResult):
                    answer.finish(piece)
                    results += 1
                else:
                    kept.append(part.model_copy(update={"text": piece}))
        self.repair.results += results
        self._goes_on = bool(results) and not kept
        if self._goes_on and answer:
            self.joined.append(_Joined(row, answer))
        elif results:
            self.answers.append(_Saying(row, kept, row))


def _typed(row: Message | None) -> list[str]:
    """The texts of a message of the user's side; none where an answer follows, or nothing."""
    if row is None or row.role != Message.Role.USER:
        return []
    return [part.text for part in row.parts.all() if part.type == Part.Type.TEXT]


def _call(row: Message, call: FoundCall) -> values.ToolPart:
    """A call that nobody has answered yet: if nobody does, it was interrupted."""
    state = tool_state.abort(create_pending(call.input, ""), ms(row.created))
    session, message = str(row.conversation_id), str(row.pk)
    return create_tool_part(session, message, call.call_id, call.name, state)
