"""Versions: earlier texts and earlier answers, one of which is shown."""

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Conversation, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.services.access import lock_conversation
from chat.services.answering import Caller, refuse_busy, refuse_stale, touch
from chat.services.edit import put_away
from chat.services.search_index import index_message

# Out of the way of positions while two versions change places.
_ASIDE = 1_000_000


def switch_version(
    caller: Caller, conversation_id: str | UUID, message_id: str, version: int
) -> int:
    """Show another version of a message, with what came after it; the new revision."""
    with transaction.atomic():
        conversation = lock_conversation(caller.user_id, conversation_id)
        refuse_busy(conversation, caller)
        refuse_stale(conversation, caller)
        message = _shown(conversation, message_id)
        if message.version == version:
            return conversation.rev
        if message.role == Message.Role.USER:
            _show_text(conversation, message, version)
        else:
            _show_answer(conversation, message, version)
        touch(conversation)
        return conversation.rev


def _shown(conversation: Conversation, message_id: str) -> Message:
    rows = Message.objects.shown().filter(conversation=conversation)
    message = rows.filter(pk=message_id).first() if is_uuid(str(message_id)) else None
    if message is None:
        raise ChatError("error.chat_message_not_found")
    return message


def _show_answer(conversation: Conversation, answer: Message, version: int) -> None:
    other = Message.objects.filter(
        parent=answer.parent, role=Message.Role.ASSISTANT, version=version
    ).first()
    if answer.parent is None or other is None:
        raise ChatError("error.chat_message_not_found")
    put_away(conversation, answer.position)
    _bring_back(conversation, other)


def _show_text(conversation: Conversation, said: Message, version: int) -> None:
    """The message keeps its row; its words and their answers change places with the other's."""
    other = Message.objects.filter(copy_of=said, version=version).first()
    if other is None:
        raise ChatError("error.chat_message_not_found")
    put_away(conversation, said.position + 1)
    _exchange_parts(said, other)
    _exchange_answers(said, other)
    said.version, other.version = other.version, said.version
    said.revision += 1
    said.updated = timezone.now()
    for message in (said, other):
        message.save(update_fields=("version", "revision", "updated"))
    index_message(said.pk)
    following = _latest_child(_put_away_rows(conversation), said.pk)
    if following is not None:
        _bring_back(conversation, following)


def _exchange_parts(one: Message, two: Message) -> None:
    ones = list(one.parts.values_list("pk", flat=True))
    twos = list(two.parts.values_list("pk", flat=True))
    Part.objects.filter(pk__in=ones).update(message=two, position=F("position") + _ASIDE)
    Part.objects.filter(pk__in=twos).update(message=one)
    Part.objects.filter(pk__in=ones).update(position=F("position") - _ASIDE)


def _exchange_answers(one: Message, two: Message) -> None:
    answers = Message.objects.filter(role=Message.Role.ASSISTANT)
    ones = list(answers.filter(parent=one).values_list("pk", flat=True))
    twos = list(answers.filter(parent=two).values_list("pk", flat=True))
    Message.objects.filter(pk__in=ones).update(parent=two)
    Message.objects.filter(pk__in=twos).update(parent=one)


def _put_away_rows(conversation: Conversation) -> list[Message]:
    rows = Message.objects.filter(
        conversation=conversation, archived_at__isnull=False, copy_of__isnull=True
    )
    return list(rows.only("parent", "position", "archived_at"))


def _bring_back(conversation: Conversation, message: Message) -> None:
    """Show a message again and, down the line, what was last shown after it."""
    rows = _put_away_rows(conversation)
    back: list[UUID] = []
    following: Message | None = message
    while following is not None:
        back.append(following.pk)
        following = _latest_child(rows, following.pk)
    Message.objects.filter(pk__in=back).update(archived_at=None)


def _latest_child(rows: list[Message], parent: UUID) -> Message | None:
    children = [row for row in rows if row.parent_id == parent and row.archived_at]
    return max(children, key=lambda row: (row.archived_at, row.position), default=None)
