"""Repair: tool calls and results that were saved as text become tool parts again (C4).

An answer that came in several messages, with results between them, becomes one message, as
answers are here. The messages it replaces are kept out of sight: they count as earlier versions of
that answer (`copy_of`), which neither switching versions, nor search, nor export ever shows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chat.formats.xml_repair import CallFinder, FoundCall, FoundResult
from chat.models import Generation, Message, Part
from chat.models.message import FORMAT_VERSION
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
from chat.services.conversations.search_index import index_message


@dataclass(slots=True)
class Repair:
    """What there is to repair in one conversation, or was."""

    conversation_id: str
    calls: int = 0
    results: int = 0
    joined: int = 0  # messages that became part of the answer before them
    busy: bool = False


def repair_conversations(
    tools: Sequence[ToolSpec], *, apply: bool, only: UUID | None = None
) -> Iterator[Repair]:
    """Look through all conversations, or one; write only when told to."""
    found = Part.objects.filter(
        type=Part.Type.TEXT,
        text__contains="</",
        message__role=Message.Role.ASSISTANT,
        message__archived_at=None,
        conversation__temporary=False,
    )
    if only:
        found = found.filter(conversation_id=only)
    for pk in found.order_by("conversation").values_list("conversation", flat=True).distinct():
        repair = _repair(pk, tools, apply=apply)
        if repair.calls or repair.busy:
            yield repair


@transaction.atomic
def _repair(pk: UUID, tools: Sequence[ToolSpec], *, apply: bool) -> Repair:
    conversation = lock_row(pk)
    if Generation.objects.filter(conversation=conversation, status="active").exists():
        return Repair(str(pk), busy=True)
    reading = _Reading(tools, Repair(str(pk)))
    rows = Message.objects.shown().filter(conversation=conversation).order_by("position")
    for row in rows.prefetch_related("parts"):
        reading.read(row)
    if apply and reading.repair.calls:
        for answer in reading.answers:
            answer.save()
        for row, answer in reading.joined:
            _replace(row, answer.row)
        raise_rev(conversation)
        changed = [answer.row.pk for answer in reading.answers if answer.changed]
        removed = [row.position for row, _ in reading.joined]
        tell_on_commit(conversation, edited(conversation, changed, removed))
    return reading.repair


def _replace(row: Message, answer: Message) -> None:
    """Put a message away for good; what followed it follows the repaired answer now."""
    row.archived_at = timezone.now()
    row.copy_of = answer
    row.save(update_fields=("archived_at", "copy_of"))
    Message.objects.filter(parent=row, role=Message.Role.USER).update(parent=answer)


@dataclass(slots=True)
class _Saying:
    """A message with the parts it should have."""

    row: Message
    parts: list[values.Part]
    last: Message  # the message that ended it
    changed: bool = False

    def add(self, other: Message, parts: list[values.Part]) -> None:
        """Go on with the parts of another message."""
        mark = create_step_start_part(str(self.row.conversation_id), str(self.row.pk))
        moved = {"message_id": str(self.row.pk)}
        copies = [part.model_copy(update={"id": new_id(), **moved}) for part in parts]
        self.parts += [mark, *copies]
        self.last = other
        self.row.cost += other.cost

    def finish(self, result: FoundResult) -> None:
        for place, part in enumerate(self.parts):
            if isinstance(part, values.ToolPart) and part.call_id == result.call.call_id:
                when = ms(self.row.created)
                state = create_completed(part.state.input, result.text, "", {}, when, when)
                self.parts[place] = part.model_copy(update={"state": state})

    def save(self) -> None:
        if not self.changed:
            return
        Part.objects.filter(message=self.row).delete()
        Part.objects.bulk_create(Part.of(part, place) for place, part in enumerate(self.parts))
        for name in _ENDING:
            setattr(self.row, name, getattr(self.last, name))
        self.row.revision += 1
        self.row.updated = timezone.now()
        self.row.format_version = FORMAT_VERSION
        self.row.save(update_fields=(*_ENDING, "cost", "revision", "updated", "format_version"))
        index_message(self.row.pk)


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
        self.joined: list[tuple[Message, _Saying]] = []
        self._finder = CallFinder(tools)
        self._answer: _Saying | None = None
        self._goes_on = False  # nothing but results came since

    def read(self, row: Message) -> None:
        if any(part.value() is None for part in row.parts.all()):
            self._answer, self._goes_on = None, False
            return
        parts = list(as_value(row).parts)
        if row.role == Message.Role.ASSISTANT:
            self._read_answer(row, parts)
        else:
            self._read_question(row, parts)

    def _read_answer(self, row: Message, parts: list[values.Part]) -> None:
        self._finder.next_answer()
        found = [new for part in parts for new in self._pieces(row, part)]
        changed = found != parts
        if self._goes_on and self._answer:
            self._answer.add(row, found)
            self.joined.append((row, self._answer))
            self.repair.joined += 1
        else:
            self._answer = _Saying(row, found, row, changed)
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
            self.joined.append((row, answer))
        elif results:
            self.answers.append(_Saying(row, kept, row, changed=True))


def _call(row: Message, call: FoundCall) -> values.ToolPart:
    """A call that nobody has answered yet: if nobody does, it was interrupted."""
    state = tool_state.abort(create_pending(call.input, ""), ms(row.created))
    session, message = str(row.conversation_id), str(row.pk)
    return create_tool_part(session, message, call.call_id, call.name, state)
