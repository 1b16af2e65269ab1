"""Send: a person says something, and an answer begins."""

from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.utils import timezone

from chat.models import Agent, Conversation, Generation, LanguageModel, Message, Part
from chat.protocol.errors import ChatError
from chat.protocol.factories import create_text_part
from chat.protocol.ids import is_uuid
from chat.protocol.text import clean_text
from chat.services.answering import Begun, Caller, begin_answer, begin_once, next_position
from chat.services.attachments import attach, checked_ids
from chat.services.search_index import index_said, index_title

TITLE = 60

Row = TypeVar("Row", bound=Model)


def checked_content(content: object, *, required: bool = True) -> str:
    """What was typed, cleaned and trimmed; empty or too long is refused."""
    text = clean_text(content).strip() if isinstance(content, str) else ""
    if not text and required:
        raise ChatError("error.chat_content_required")
    limit = settings.PARLEY_LIMITS["message_chars"]
    if len(text) > limit:
        raise ChatError("error.chat_content_too_long", limit=limit, length=len(text))
    return text


def send_message(
    caller: Caller, conversation_id: str | UUID, content: object, attachments: object = None
) -> Begun:
    """Save the message and the answer to come, in one transaction; the caller starts the run."""
    ids = checked_ids(attachments)
    text = checked_content(content, required=not ids)

    def begin(conversation: Conversation) -> Begun:
        said = _add_message(conversation, text, ids, caller)
        return begin_answer(conversation, said, caller)

    try:
        return begin_once(caller, conversation_id, begin)
    except IntegrityError as error:
        # Somebody was faster by less than the check above could see.
        if Generation.objects.filter(conversation_id=conversation_id, status="active").exists():
            raise ChatError("error.chat_generation_in_progress_other_tab") from error
        raise


def create_conversation(
    user_id: int, language: str, agent_id: str = "", model_id: str = ""
) -> Conversation:
    """A new conversation with the agent and the model that were picked, if they may be used."""
    return Conversation.objects.create(
        owner_id=user_id,
        agent=_picked(Agent.objects.filter(enabled=True), agent_id),
        model=_picked(LanguageModel.objects.filter(enabled=True, provider__enabled=True), model_id),
        prompt_language=language,
    )


def begun_before(caller: Caller) -> Conversation | None:
    """The conversation that the same form began already: a page sent twice begins one."""
    if not caller.client_id:
        return None
    mine = Conversation.objects.owned_by(caller.user_id)
    return mine.filter(generations__client_id=caller.client_id).first()


def _picked(rows: QuerySet[Row], pk: str) -> Row | None:
    return rows.filter(pk=pk).first() if is_uuid(pk) else None


def title_from(text: str) -> str:
    """The first line, cut at a word where there is one."""
    line = " ".join(text.splitlines()[0].split())
    if len(line) <= TITLE:
        return line
    cut = line[:TITLE]
    word = cut.rfind(" ")
    return (cut[:word] if word > TITLE // 2 else cut) + "…"


def _add_message(
    conversation: Conversation, text: str, ids: Sequence[str], caller: Caller
) -> Message:
    last = Message.objects.shown().filter(conversation=conversation).order_by("position").last()
    said = Message.objects.create(
        conversation=conversation,
        parent=last,
        position=next_position(conversation),
        role=Message.Role.USER,
        client_id=caller.client_id[:64],
        completed_at=timezone.now(),
    )
    names = attach(said, caller.user_id, ids)
    if text:
        add_text(said, text, len(ids))
    if not conversation.title and not conversation.titled_by_hand:
        conversation.title = title_from(text or names[0])
        index_title(conversation)
    index_said(said, "\n".join([*names, text]))
    return said


def add_text(said: Message, text: str, position: int = 0) -> None:
    """The words of a message as its part."""
    part = create_text_part(str(said.conversation_id), str(said.pk), text)
    Part.of(part, position).save(force_insert=True)
