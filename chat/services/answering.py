"""The beginning of an answer: its rows, and what its run must know. All within a transaction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone, translation

from chat.models import Agent, Conversation, Generation, LanguageModel, Message
from chat.protocol.errors import ChatError
from chat.protocol.messages import AnswerInfo, WithParts
from chat.services import process
from chat.services.access import lock_conversation
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
from chat.services.runs import RUNS
from chat.services.style_lock import lock_style


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, from which tab; `client_id` makes asking twice harmless.

    `head` is the position of the last message the tab shows: when it is another one by now,
    the tab is behind, and what it asks for may not be what its person means.
    """

    user_id: int
    name: str = ""
    tab_id: str = ""
    client_id: str = ""
    head: int | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """What was asked for came to this; what was asked for before has nothing to start."""

    request_id: str
    message: WithParts
    assignment: Assignment | None = field(default=None, repr=False)
    title: str = ""


def begin_once(
    caller: Caller, conversation_id: str | UUID, begin: Callable[[Conversation], Begun]
) -> Begun:
    """Begin an answer in one transaction, unless that was asked for before or cannot be now."""
    with transaction.atomic():
        conversation = lock_conversation(caller.user_id, conversation_id)
        repeated = already_begun(conversation, caller)
        if repeated:
            return repeated
        refuse_busy(conversation, caller)
        refuse_stale(conversation, caller)
        _refuse_crowd(caller.user_id)
        return begin(conversation)


def already_begun(conversation: Conversation, caller: Caller) -> Begun | None:
    """The same request again: after a double click, or sent once more after a reconnect."""
    if not caller.client_id:
        return None
    run = Generation.objects.filter(conversation=conversation, client_id=caller.client_id).first()
    if run is None:
        return None
    said = run.message.parent or run.message
    return Begun(request_id=str(run.pk), message=as_value(said))


def refuse_stale(conversation: Conversation, caller: Caller) -> None:
    if caller.head is None:
        return
    last = Message.objects.shown().filter(conversation=conversation).order_by("position").last()
    if (last.position if last else 0) != caller.head:
        raise ChatError("error.chat_stale")


def refuse_busy(conversation: Conversation, caller: Caller) -> None:
    active = Generation.objects.filter(conversation=conversation, status="active").first()
    if active is None:
        return
    same = bool(caller.tab_id) and active.tab_id == caller.tab_id
    raise ChatError(
        "error.chat_generation_in_progress"
        if same
        else "error.chat_generation_in_progress_other_tab"
    )


def _refuse_crowd(user_id: int) -> None:
    if process.closing or len(RUNS) >= settings.PARLEY_LIMITS["generations_per_process"]:
        raise ChatError("error.chat_server_busy")
    running = Generation.objects.filter(user_id=user_id, status="active").count()
    limit = settings.PARLEY_LIMITS["generations_per_user"]
    if running >= limit:
        raise ChatError("error.chat_too_many_generations", limit=limit)


def begin_answer(conversation: Conversation, said: Message, caller: Caller) -> Begun:
    """A new answer to a message, and the run that writes it."""
    agent = choose_agent(conversation)
    model = choose_model(conversation, agent)
    earlier = Message.objects.filter(parent=said, role=Message.Role.ASSISTANT).count()
    answer = Message.objects.create(
        conversation=conversation,
        parent=said,
        version=earlier + 1,
        position=next_position(conversation),
        role=Message.Role.ASSISTANT,
        status=Message.Status.STREAMING,
        provider_id=str(model.provider_id),
        model_id=model.model_id,
        agent=agent.key,
    )
    Message.objects.filter(pk=said.pk).update(
        provider_id=answer.provider_id, model_id=answer.model_id, agent=answer.agent
    )
    return _run(conversation, said, answer, (agent, model), caller)


def resume_answer(conversation: Conversation, answer: Message, caller: Caller) -> Begun:
    """Go on with an answer that ended early, in the same message."""
    agent = choose_agent(conversation)
    model = choose_model(conversation, agent)
    answer.status = Message.Status.STREAMING
    answer.error_key, answer.error_data, answer.finish_reason = "", {}, ""
    answer.completed_at = None
    answer.save(
        update_fields=("status", "error_key", "error_data", "finish_reason", "completed_at")
    )
    said = answer.parent or answer
    return _run(conversation, said, answer, (agent, model), caller)


def next_position(conversation: Conversation) -> int:
    """A position that no message has or ever had; `touch` saves that it is taken."""
    conversation.last_position += 1
    return conversation.last_position


def touch(conversation: Conversation) -> None:
    """One more revision of what pages are drawn from."""
    conversation.rev += 1
    conversation.updated = timezone.now()
    conversation.prompt_language = conversation.prompt_language or translation.get_language() or ""
    conversation.save(update_fields=("rev", "last_position", "updated", "prompt_language", "title"))


def _run(
    conversation: Conversation,
    said: Message,
    answer: Message,
    choice: tuple[Agent, LanguageModel],
    caller: Caller,
) -> Begun:
    run = Generation.objects.create(
        conversation=conversation,
        message=answer,
        user_id=caller.user_id,
        process_id=this_process(),
        tab_id=caller.tab_id[:100],
        client_id=caller.client_id[:64],
    )
    touch(conversation)
    values = _values(said.pk, answer.pk)
    return Begun(
        request_id=str(run.pk),
        message=values[said.pk],
        assignment=_assignment(conversation, run, values[answer.pk], choice),
        title=conversation.title,
    )


def _values(*ids: UUID) -> dict[UUID, WithParts]:
    rows = Message.objects.with_versions().prefetch_related("parts").filter(pk__in=ids)
    return {row.pk: as_value(row) for row in rows}


def _assignment(
    conversation: Conversation,
    run: Generation,
    answer: WithParts,
    choice: tuple[Agent, LanguageModel],
) -> Assignment:
    agent, model = choice
    assert isinstance(answer.info, AnswerInfo)
    language = conversation.prompt_language
    history = read_history(conversation.pk, before=answer.info.position)
    return Assignment(
        request_id=str(run.pk),
        info=answer.info,
        parts=answer.parts,
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
        tool_style=lock_style(conversation, choice, answer, history),
        history=history,
    )
