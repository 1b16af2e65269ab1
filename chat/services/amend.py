"""Amend: an administrator's corrections, under the same rules as everything else.

Each is one transaction that also raises the conversation's revision, so that every open
page notices that it is out of date.
"""

from collections.abc import Iterable
from uuid import UUID

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Conversation, Message, Part
from chat.protocol import parts as values
from chat.protocol.errors import ChatError, InvalidStateTransition
from chat.protocol.events import Event
from chat.protocol.text import clean_json, clean_text
from chat.protocol.tool_state import JsonObject, ToolState, amend, refuse
from chat.protocol.validation import FieldFault, part_from_json, validate_part
from chat.services.broadcast import publish
from chat.services.search_index import index_message, index_title

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
        return (FieldFault(field="state.status", message=str(error), rule="BR-05"),)
    return ()


def amend_part(row: Part, text: str, data: JsonObject) -> Part:
    """Write an amended part; one that breaks the rules raises `PartError`."""
    with transaction.atomic():
        _open_conversation(row.conversation_id)
        row = Part.objects.select_related("message").get(pk=row.pk)
        _refuse_running(row.message)
        value = _amended(row, _amended_form(row, text, data))
        Part.of(value, row.position).save(force_update=True)
        Message.objects.filter(pk=row.message_id).update(
            updated=timezone.now(), revision=F("revision") + 1
        )
        index_message(row.message_id)
    return Part.objects.get(pk=row.pk)


def amend_conversation(row: Conversation, fields: Iterable[str]) -> None:
    """Write these columns of a conversation."""
    with transaction.atomic():
        locked = _open_conversation(row.pk)
        # A title somebody chose is not replaced by one made from the first words.
        if "title" in (fields := set(fields)):
            row.titled_by_hand = True
            fields.add("titled_by_hand")
        row.rev = locked.rev
        row.save(update_fields=fields)
        if "title" in fields:
            index_title(row)


def remove(row: Message | Part) -> None:
    """Delete a message or a part; its position is not used again."""
    with transaction.atomic():
        _open_conversation(row.conversation_id)
        message = row if isinstance(row, Message) else row.message
        _refuse_running(message)
        row.delete()
        if isinstance(row, Part):
            index_message(row.message_id)
        Message.objects.filter(pk=message.pk).update(revision=F("revision") + 1)


def _open_conversation(conversation_id: UUID) -> Conversation:
    """The conversation, held against other writers, one revision further; open pages are told."""
    conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
    Conversation.objects.filter(pk=conversation.pk).update(rev=F("rev") + 1)
    conversation.rev += 1
    changed = Event(name="chat:edited", conversation_id=str(conversation.pk), rev=conversation.rev)
    transaction.on_commit(lambda: async_to_sync(publish)(changed.conversation_id, [changed]))
    return conversation


def _refuse_running(message: Message) -> None:
    """A run would write over it."""
    if message.status in (Message.Status.PENDING, Message.Status.STREAMING):
        raise ChatError("error.chat_generation_in_progress")


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
    return amend(old.state, **changes)
