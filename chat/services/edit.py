"""Edit and resend, regenerate, continue: an answer begins again, nothing is lost."""

from collections import defaultdict
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from chat.models import Conversation, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid, uuid7
from chat.services.answering import (
    Begun,
    Caller,
    begin_answer,
    begin_once,
    next_position,
    refuse_stale,
    resume_answer,
)
from chat.services.search_index import index_message
from chat.services.send import add_text, checked_content

# What can be gone on with: it stopped before it was done.
UNFINISHED = (Message.Status.ERROR, Message.Status.CANCELLED)


def edit_message(
    caller: Caller,
    conversation_id: str | UUID,
    message_id: str,
    content: object,
    *,
    archive: bool = True,
) -> Begun:
    """Say one's own message differently; what came after it is put away or deleted."""

    def begin(conversation: Conversation) -> Begun:
        said = find_message(conversation, message_id, Message.Role.USER)
        text = edited_text(said, content)
        if archive:
            put_away(conversation, said.position + 1)
            _keep_version(conversation, said)
        else:
            _delete_after(conversation, said)
            said.parts.exclude(type="file").delete()
        last = said.parts.aggregate(last=Max("position"))["last"]
        if text:
            add_text(said, text, 0 if last is None else last + 1)
        said.updated = timezone.now()
        said.revision += 1
        said.save(update_fields=("version", "revision", "updated"))
        index_message(said.pk)
        return begin_answer(conversation, said, caller)

    return begin_once(caller, conversation_id, begin)


def regenerate(caller: Caller, conversation_id: str | UUID, message_id: str) -> Begun:
    """Another answer to the same message; the earlier one stays as a version."""

    def begin(conversation: Conversation) -> Begun:
        answer = find_message(conversation, message_id, Message.Role.ASSISTANT)
        if answer.parent is None:
            raise ChatError("error.chat_message_not_found")
        put_away(conversation, answer.position)
        return begin_answer(conversation, answer.parent, caller)

    return begin_once(caller, conversation_id, begin)


def continue_answer(caller: Caller, conversation_id: str | UUID, message_id: str) -> Begun:
    """Go on with the last answer where it ended early; finished tools do not run again."""

    def begin(conversation: Conversation) -> Begun:
        answer = find_message(conversation, message_id, Message.Role.ASSISTANT)
        last = Message.objects.shown().filter(conversation=conversation).latest("position")
        ended_early = answer.status in UNFINISHED or answer.finish_reason == "length"
        if answer != last or not ended_early:
            raise ChatError("error.chat_nothing_to_continue")
        return resume_answer(conversation, answer, caller)

    return begin_once(caller, conversation_id, begin)


def edited_text(said: Message, content: object) -> str:
    """What a message is to say; files stay on it, and may be all that it says."""
    return checked_content(content, required=not said.parts.filter(type="file").exists())


def check_wish(conversation: Conversation, caller: Caller, message_id: str, role: str) -> Message:
    """Refuse at once what would be refused later, before anything is stopped for it."""
    refuse_stale(conversation, caller)
    return find_message(conversation, message_id, role)


def find_message(conversation: Conversation, message_id: str, role: str) -> Message:
    """A message of this conversation that is shown and said by that side."""
    rows = Message.objects.shown().filter(conversation=conversation, role=role)
    message = rows.filter(pk=message_id).first() if is_uuid(str(message_id)) else None
    if message is None:
        raise ChatError("error.chat_message_not_found")
    return message


def put_away(conversation: Conversation, first: int) -> None:
    """Take the messages from a position on out of sight."""
    later = Message.objects.shown().filter(conversation=conversation, position__gte=first)
    later.update(archived_at=timezone.now())


def _delete_after(conversation: Conversation, said: Message) -> None:
    """Delete all that was said after a message, earlier versions of it as well."""
    children: defaultdict[UUID | None, list[UUID]] = defaultdict(list)
    for pk, parent, original in Message.objects.filter(conversation=conversation).values_list(
        "pk", "parent_id", "copy_of_id"
    ):
        children[original or parent].append(pk)
    kept = set(Message.objects.filter(copy_of=said).values_list("pk", flat=True))
    gone: list[UUID] = []
    following = [pk for pk in children[said.pk] if pk not in kept]
    while following:
        gone += following
        following = [child for pk in following for child in children[pk]]
    later = Message.objects.shown().filter(conversation=conversation, position__gt=said.position)
    later.delete()
    Message.objects.filter(pk__in=gone).delete()


def _keep_version(conversation: Conversation, said: Message) -> None:
    """Move the old words, and the answers to them, to a row that is out of sight."""
    kept = Message.objects.create(
        conversation=conversation,
        copy_of=said,
        version=said.version,
        position=next_position(conversation),
        role=said.role,
        archived_at=timezone.now(),
    )
    files = list(said.parts.filter(type="file"))
    Part.objects.filter(message=said).update(message=kept)
    Message.objects.filter(parent=said, role=Message.Role.ASSISTANT).update(parent=kept)
    for file in files:
        file.pk = uuid7()
        file.message = said
        file.save(force_insert=True)
    highest = Message.objects.filter(copy_of=said).aggregate(highest=Max("version"))["highest"]
    said.version = max(highest, said.version) + 1
