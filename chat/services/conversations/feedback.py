"""Feedback: what the reader of an answer thinks of it."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from chat.models import Feedback, Message
from chat.protocol.errors import ChatError
from chat.protocol.events import Edited
from chat.protocol.feedback import LONGEST_COMMENT, Verdict
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.services.access import lock_conversation
from chat.services.background import shielded
from chat.services.broadcast import publish
from chat.services.caller import Caller
from chat.services.conversations.revision import edited, raise_rev
from chat.services.pool import in_writer


@shielded
async def give_feedback(
    caller: Caller,
    conversation_id: str | UUID,
    message_id: str,
    verdict: Verdict | None,
    comment: object = None,
) -> None:
    """Say what one thinks of an answer, or take it back; without a comment the earlier one
    stays."""
    event = await in_writer(_give, caller, conversation_id, message_id, verdict, comment)
    if event is not None:
        await publish(event.conversation_id, [event])


@transaction.atomic
def _give(
    caller: Caller,
    conversation_id: str | UUID,
    message_id: str,
    verdict: Verdict | None,
    comment: object,
) -> Edited | None:
    conversation = lock_conversation(caller, conversation_id)
    answer = Message.objects.shown().filter(conversation=conversation, role=Message.Role.ASSISTANT)
    message = answer.filter(pk=message_id).first() if is_uuid(message_id) else None
    if message is None or message.is_running:
        raise ChatError("error.chat_message_not_found")
    given = Feedback.objects.filter(message=message, person_id=caller.user_id)
    if verdict is None:
        changed = bool(given.delete()[0])
    else:
        changed = _write(given.first(), message, caller, verdict, _cleaned(comment))
    if not changed:
        return None
    raise_rev(conversation)
    return edited(conversation, [message.pk], caller=caller)


def _cleaned(comment: object) -> str | None:
    text = " ".join(clean_text(comment).split()) if isinstance(comment, str) else None
    if text and len(text) > LONGEST_COMMENT:
        raise ChatError("error.chat_content_too_long", limit=LONGEST_COMMENT, length=len(text))
    return text


def _write(
    given: Feedback | None, message: Message, caller: Caller, verdict: Verdict, comment: str | None
) -> bool:
    """Whether this is something else than was given before."""
    row = given or Feedback(message=message, person_id=caller.user_id)
    words = row.comment if comment is None else comment
    if (row.verdict, row.comment) == (verdict, words):
        return False
    row.verdict, row.comment, row.updated = verdict, words, timezone.now()
    row.save(force_insert=given is None)
    return True
