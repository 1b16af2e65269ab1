"""Send: a person says something, and an answer begins."""

from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Model, QuerySet
from django.utils import timezone, translation

from chat.models import Agent, Conversation, Generation, LanguageModel, Message, Part
from chat.protocol import parts as values
from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid, new_id, now_ms
from chat.protocol.messages import AnswerInfo, WithParts
from chat.protocol.text import clean_text
from chat.services.access import get_conversation, lock_conversation
from chat.services.assignment import (
    Assignment,
    allowed_tools,
    choose_agent,
    choose_model,
    model_choice,
    system_prompt,
)
from chat.services.process import this_process
from chat.services.reading import as_value, read_history

TITLE = 60

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a send came to; a repeated one has nothing to start."""

    request_id: str
    message: WithParts
    assignment: Assignment | None = field(default=None, repr=False)


def checked_content(content: object) -> str:
    """What was typed, cleaned and trimmed; empty or too long is refused."""
    text = clean_text(content).strip() if isinstance(content, str) else ""
    if not text:
        raise ChatError("error.chat_content_required")
    limit = settings.PARLEY_LIMITS["message_chars"]
    if len(text) > limit:
        raise ChatError("error.chat_content_too_long", limit=limit, length=len(text))
    return text


def send_message(
    user_id: int,
    conversation_id: str | UUID,
    content: object,
    *,
    tab_id: str = "",
    client_id: str = "",
) -> Sent:
    """Save the message and the answer to come, in one transaction; the caller starts the run."""
    text = checked_content(content)
    get_conversation(user_id, conversation_id)
    try:
        with transaction.atomic():
            conversation = lock_conversation(user_id, conversation_id)
            repeated = _already_sent(conversation, client_id)
            if repeated:
                return repeated
            _refuse_busy(conversation, tab_id)
            _refuse_crowd(user_id)
            return _begin(conversation, text, user_id, tab_id, client_id)
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


def _picked(rows: QuerySet[Row], pk: str) -> Row | None:
    return rows.filter(pk=pk).first() if is_uuid(pk) else None


def _already_sent(conversation: Conversation, client_id: str) -> Sent | None:
    if not client_id:
        return None
    said = Message.objects.filter(conversation=conversation, client_id=client_id).first()
    if said is None:
        return None
    run = Generation.objects.filter(message__parent=said).order_by("started").first()
    return Sent(request_id=str(run.pk) if run else "", message=as_value(said))


def _refuse_busy(conversation: Conversation, tab_id: str) -> None:
    active = Generation.objects.filter(conversation=conversation, status="active").first()
    if active is None:
        return
    same = bool(tab_id) and active.tab_id == tab_id
    raise ChatError(
        "error.chat_generation_in_progress"
        if same
        else "error.chat_generation_in_progress_other_tab"
    )


def _refuse_crowd(user_id: int) -> None:
    running = Generation.objects.filter(user_id=user_id, status="active").count()
    limit = settings.PARLEY_LIMITS["generations_per_user"]
    if running >= limit:
        raise ChatError("error.chat_too_many_generations", limit=limit)


def _begin(
    conversation: Conversation, text: str, user_id: int, tab_id: str, client_id: str
) -> Sent:
    agent = choose_agent(conversation)
    model = choose_model(conversation, agent)
    said = _add_user_message(conversation, text, agent, model, client_id)
    answer = _add_answer(conversation, said, agent, model)
    run = Generation.objects.create(
        conversation=conversation,
        message=answer,
        user_id=user_id,
        process_id=this_process(),
        tab_id=tab_id[:100],
    )
    _touch(conversation, text, said.position + 1)
    return Sent(
        request_id=str(run.pk),
        message=as_value(said),
        assignment=_assignment(conversation, agent, model, said, answer, run),
    )


def _touch(conversation: Conversation, text: str, last_position: int) -> None:
    """One more revision, the positions taken, and a first title from the first words."""
    conversation.rev += 1
    conversation.last_position = last_position
    conversation.updated = timezone.now()
    conversation.prompt_language = conversation.prompt_language or translation.get_language() or ""
    if not conversation.title and not conversation.titled_by_hand:
        conversation.title = title_from(text)
    conversation.save(update_fields=("rev", "last_position", "updated", "prompt_language", "title"))


def title_from(text: str) -> str:
    """The first line, cut at a word where there is one."""
    line = " ".join(text.splitlines()[0].split())
    if len(line) <= TITLE:
        return line
    cut = line[:TITLE]
    word = cut.rfind(" ")
    return (cut[:word] if word > TITLE // 2 else cut) + "…"


def _add_user_message(
    conversation: Conversation, text: str, agent: Agent, model: LanguageModel, client_id: str
) -> Message:
    said = Message.objects.create(
        conversation=conversation,
        position=conversation.last_position + 1,
        role=Message.Role.USER,
        provider_id=str(model.provider_id),
        model_id=model.model_id,
        agent=agent.name,
        client_id=client_id[:64],
        completed_at=timezone.now(),
    )
    part = values.TextPart(
        id=new_id(),
        session_id=str(conversation.pk),
        message_id=str(said.pk),
        text=text,
        time=values.OpenSpan(start=now_ms(), end=now_ms()),
    )
    Part.of(part, 0).save(force_insert=True)
    return said


def _add_answer(
    conversation: Conversation, said: Message, agent: Agent, model: LanguageModel
) -> Message:
    return Message.objects.create(
        conversation=conversation,
        parent=said,
        position=said.position + 1,
        role=Message.Role.ASSISTANT,
        status=Message.Status.STREAMING,
        provider_id=str(model.provider_id),
        model_id=model.model_id,
        agent=agent.name,
    )


def _assignment(
    conversation: Conversation,
    agent: Agent,
    model: LanguageModel,
    said: Message,
    answer: Message,
    run: Generation,
) -> Assignment:
    info = as_value(answer).info
    assert isinstance(info, AnswerInfo)
    language = conversation.prompt_language
    return Assignment(
        request_id=str(run.pk),
        info=info,
        user_id=conversation.owner_id,
        tab_id=run.tab_id,
        rev=conversation.rev,
        language=language,
        system=system_prompt(agent, language),
        tools=allowed_tools(agent),
        temperature=agent.temperature,
        max_steps=agent.max_steps,
        unwatched=agent.unwatched,
        model=model_choice(model),
        history=read_history(conversation.pk, said.position),
    )
