"""Amend: an administrator's corrections, under the same rules as everything else.

Each is one transaction that also raises the conversation's revision, and tells every open
page what has changed.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from chat.models import AuditEntry, Conversation, Message, Part
from chat.protocol import parts as values
from chat.protocol.errors import ChatError, InvalidStateTransition
from chat.protocol.events import Choice, Deleted, Title
from chat.protocol.frozen import JsonObject
from chat.protocol.notes import state_notes, with_state_notes
from chat.protocol.stopped import StoppedBy
from chat.protocol.text import clean_json, clean_text
from chat.protocol.tool_state import ToolCompleted, ToolError, ToolState, amend, refuse
from chat.protocol.validation import FaultKind, FieldFault, part_from_json, validate_part
from chat.services.access import lock_row
from chat.services.caller import Caller
from chat.services.conversations.history import chosen_in
from chat.services.conversations.revision import (
    edited,
    raise_rev,
    tell_on_commit,
    tell_sidebar_on_commit,
)
from chat.services.conversations.search_index import index_message, index_title
from chat.services.conversations.shares import end_kept
from chat.services.processes.control import request_stops
from chat.services.upkeep.audit import audit

Note = TypeVar("Note")

_FIXED = ("id", "sessionID", "messageID", "type", "text", "tool", "callID")


def amendable(row: Part) -> JsonObject:
    """What of a part, besides its text, may be amended: all but whose part it is and its kind."""
    return {key: value for key, value in row.as_json().items() if key not in _FIXED}


def amendment_faults(row: Part, text: str, data: JsonObject) -> tuple[FieldFault, ...]:
    """Everything that is wrong with an amendment, by field and rule; nothing is written."""
    form = _amended_form(row, text, data)
    faults = validate_part(form).faults
    if faults:
        return faults
    try:
        _amended(row, form)
    except InvalidStateTransition as error:
        ended = error.current in ("completed", "error")
        kind = FaultKind.STATE_CHANGED if ended else FaultKind.CALL_NOT_ENDED
        return (FieldFault(field="state.status", kind=kind, message=str(error), rule="BR-05"),)
    return ()


@transaction.atomic
def amend_part(row: Part, text: str, data: JsonObject) -> Part:
    """Write an amended part; one that breaks the rules raises `PartError`."""
    conversation = lock_row(row.conversation_id)
    row = Part.objects.select_related("message").get(pk=row.pk)
    _refuse_running(row.message)
    _refuse_newer(row.message)
    value = _amended(row, _amended_form(row, text, data))
    Part.of(value, row.position).save(force_update=True)
    _tell_changed(conversation, row.message)
    return Part.objects.get(pk=row.pk)


@transaction.atomic
def amend_conversation(row: Conversation, columns: Iterable[str]) -> None:
    """Write these columns of a conversation; its pages are told of each that they show."""
    columns = set(columns)
    conversation = lock_row(row.pk)
    # A title somebody chose is not replaced by one made from the first words.
    if "title" in columns:
        row.titled_by_hand = True
        columns.add("titled_by_hand")
    row.rev = conversation.rev
    row.save(update_fields=columns)
    key = str(row.pk)
    if "title" in columns:
        index_title(row)
        raise_rev(row)
        tell_on_commit(row, Title(conversation_id=key, rev=row.rev, title=row.title))
    if columns & {"agent", "model", "effort", "tools_off"}:
        raise_rev(row)
        tell_on_commit(row, _choice(row))
    if "deleted_at" in columns and row.deleted_at:
        raise_rev(row)
        tell_on_commit(row, Deleted(conversation_id=key, rev=row.rev))
        transaction.on_commit(lambda: request_stops(key, StoppedBy(reason="deleted")))
    else:
        tell_sidebar_on_commit(row)


def _choice(row: Conversation) -> Choice:
    return Choice(conversation_id=str(row.pk), rev=row.rev, **chosen_in(row)._asdict())


def put_away(caller: Caller, row: Conversation, *, deleted: bool, reason: str = "") -> None:
    """Delete a conversation as its owner would, or bring it back; whether it is one already or
    not, it is what was asked for."""
    with transaction.atomic():
        row.deleted_at = timezone.now() if deleted else None
        amend_conversation(row, ["deleted_at"])
        verb = AuditEntry.Verb.DELETE if deleted else AuditEntry.Verb.RESTORE
        audit(caller, verb, row, reason=reason)


@transaction.atomic
def remove_message(row: Message) -> None:
    """Delete a message; its position is not used again."""
    conversation = lock_row(row.conversation_id)
    _refuse_running(row)
    removed = [] if row.archived_at else [row.position]
    # Their number of versions changes, or what they answer.
    related = Q(parent=row) | Q(pk=row.copy_of_id)
    if row.parent_id and row.role == Message.Role.ASSISTANT:
        related |= Q(parent=row.parent_id, role=Message.Role.ASSISTANT)
    changed = list(Message.objects.filter(related).exclude(pk=row.pk).values_list("pk", flat=True))
    row.delete()
    end_kept(conversation)
    raise_rev(conversation)
    tell_on_commit(conversation, edited(conversation, changed, removed))


@transaction.atomic
def remove_part(row: Part) -> None:
    """Delete a part of a message."""
    conversation = lock_row(row.conversation_id)
    _refuse_running(row.message)
    row.delete()
    _tell_changed(conversation, row.message)


@transaction.atomic
def remove_conversation(row: Conversation) -> None:
    """Delete a conversation for good; its pages close, and a run of it finds nothing to write."""
    # In the order of a run that settles, which holds its own row and wants the conversation's:
    # the other way round both would wait for ever.
    row.generations.all().delete()
    conversation = lock_row(row.pk)
    raise_rev(conversation)
    gone = Deleted(conversation_id=str(conversation.pk), rev=conversation.rev)
    tell_on_commit(conversation, gone)
    row.delete()


def _tell_changed(conversation: Conversation, message: Message) -> None:
    """What the message consists of has changed: its revision, its words to search, its pages, and
    the links that would go on showing it as it was."""
    Message.objects.filter(pk=message.pk).update(updated=timezone.now(), revision=F("revision") + 1)
    index_message(message.pk)
    end_kept(conversation)
    raise_rev(conversation)
    tell_on_commit(conversation, edited(conversation, [message.pk]))


def _refuse_running(message: Message) -> None:
    """A run would write over it."""
    if message.is_running:
        raise ChatError("error.chat_generation_in_progress")


def _refuse_newer(message: Message) -> None:
    """Its rules are not known here."""
    if message.is_newer:
        raise ChatError("error.chat_format_too_new")


def _amended_form(row: Part, text: str, data: JsonObject) -> JsonObject:
    fixed = {key: value for key, value in row.as_json().items() if key in _FIXED}
    if "text" in fixed:
        fixed["text"] = clean_text(text)
    return {**clean_json(data), **fixed}


def _amended(row: Part, form: JsonObject) -> values.Part:
    value = part_from_json(form)
    old = row.value()
    # A part that could not be read has no state to go on from: any sound one repairs it.
    if isinstance(value, values.ToolPart) and isinstance(old, values.ToolPart):
        return value.model_copy(update={"state": _amended_state(old, value)})
    return value


def _amended_state(old: values.ToolPart, new: values.ToolPart) -> ToolState:
    if new.state == old.state:
        return old.state
    if new.state.status != old.state.status:
        raise refuse(old.state, new.state.status)
    changes = {name: getattr(new.state, name) for name in type(new.state).model_fields}
    changes["metadata"] = _metadata_that_fits(old.state, new.state)
    return amend(old.state, **changes)


def _metadata_that_fits(old: ToolState, new: ToolState) -> JsonObject | None:
    """The amended metadata, without what a person would see of the text from before.

    A card shows the display of an output and the reasons of an error, not the text itself, so
    those that were made for another text would hide the amendment. What was amended too stays.
    """
    before, after = state_notes(old), state_notes(new)
    match old, new:
        case ToolCompleted(), ToolCompleted() if new.output != old.output:
            fits = replace(after, display=_if_amended(before.display, after.display))
            return with_state_notes(new.metadata, fits) or {}
        case ToolError(), ToolError() if new.error != old.error:
            fits = replace(
                after,
                display=_if_amended(before.display, after.display),
                reasons=_if_amended(before.reasons, after.reasons) or (),
            )
            return with_state_notes(new.metadata, fits)
        case _:
            return getattr(new, "metadata", None)


def _if_amended(before: Note, after: Note) -> Note | None:
    return None if after == before else after
