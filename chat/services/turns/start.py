"""The steps that every turn is made of. `send.py` and `edit.py` spell them out, in this order:

1. `lock_turn`: the conversation, held, and where it stands
2. `find_started`: the same request again changes nothing
3. `refuse`: busy, behind, or too much
4. write or rewrite the message (their own part)
5. `write_answer` or `resume_answer`: the answer's rows, and all that its run needs
6. `launch`: after the transaction, tell everybody and let the run begin
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.utils import timezone, translation

from chat.models import Conversation, Generation, Message, Part
from chat.models.message import FORMAT_VERSION
from chat.protocol import parts as values
from chat.protocol.errors import ChatError
from chat.protocol.events import Edited, UserMessage
from chat.protocol.messages import ModelRef, WithParts
from chat.services import sql, statements
from chat.services.access import get_conversation, lock_conversation
from chat.services.broadcast import tell_sidebar
from chat.services.caller import Caller
from chat.services.catalog.permissions import catalog_for
from chat.services.conversations.history import (
    answer_info,
    as_value,
    ms,
    read_history,
    read_messages,
    user_info,
)
from chat.services.conversations.revision import raise_rev
from chat.services.processes import lease
from chat.services.runs.generate import start_run
from chat.services.runs.run import RUNS
from chat.services.runs.spec import Answerer, RunSpec, choose_answerer, make_spec
from chat.services.runs.tool_style import style_of
from chat.services.upkeep.repair import upgrade_held
from chat.services.usage.spend import refuse_overspending

# Out of the way of positions while parts change places.
ASIDE = 1_000_000

# What a turn changes of its conversation.
_CHANGED = (
    "last_position", "updated", "prompt_language", "title", "tool_style", "queue_held",
    "archived_at",
)  # fmt: skip
# What a continued answer changes of its message.
_RESUMED = ("status", "error_key", "error_data", "finish_reason", "completed_at", "pauses")
# What a message keeps of how it was put to the model.
_ASKED = ("provider_id", "model_id", "agent", "system", "tools", "variant")


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn that somebody wants to take: where, and how the conversation stands."""

    caller: Caller
    conversation: Conversation
    standing: statements.Standing


@dataclass(frozen=True, slots=True)
class Started:
    """A turn that was taken: its request, the message it answers, and what its run needs.

    A request that was repeated after a double click or a reconnect has no `event` and no `spec`:
    both were used the first time.
    """

    request_id: str
    message: WithParts
    # What to tell of the messages that the turn has written or changed.
    event: UserMessage | Edited | None = None
    spec: RunSpec | None = field(default=None, repr=False)

    @property
    def conversation_id(self) -> str:
        return self.message.info.session_id


# --- 1 to 3: lock, refuse -----------------------------------------------------------


def lock_turn(caller: Caller, conversation_id: str | UUID) -> Turn:
    """Hold a conversation until the transaction ends, and see how it stands then."""
    return held_turn(caller, lock_conversation(caller, conversation_id))


def held_turn(caller: Caller, conversation: Conversation) -> Turn:
    """The same for one that is held: what was written in an older form is brought forward."""
    statements.stand_in_line(conversation.owner_id)
    turn = turn_in(caller, conversation)
    oldest = turn.standing.oldest_form
    if oldest is not None and oldest < FORMAT_VERSION and upgrade_held(conversation):
        return turn_in(caller, conversation)
    return turn


def look_at_turn(caller: Caller, conversation_id: str | UUID) -> Turn:
    """The same without holding it: what is seen may change before it is used."""
    return turn_in(caller, get_conversation(caller, conversation_id))


def turn_in(caller: Caller, conversation: Conversation) -> Turn:
    """How a conversation that was read, or locked, stands."""
    standing = statements.standing(conversation, caller.user_id, caller.client_id)
    return Turn(caller, conversation, standing)


def find_started(turn: Turn) -> Started | None:
    """The turn that this `client_id` has started already, if it has."""
    if turn.standing.started is None:
        return None
    run = Generation.objects.select_related("message__parent").get(pk=turn.standing.started)
    return Started(request_id=str(run.pk), message=as_value(run.message.parent or run.message))


def refuse(turn: Turn) -> None:
    """Raise the reason why no turn can be taken now, if there is one."""
    refuse_busy(turn)
    _refuse_newer(turn)
    refuse_stale(turn)
    _refuse_crowd(turn.standing.running)
    refuse_overspending(turn.caller.user_id, turn.standing.running, turn.standing.catalog_stamp)


def refuse_busy(turn: Turn) -> None:
    if turn.standing.active is None:
        return
    if turn.caller.tab_id and turn.standing.active_tab == turn.caller.tab_id:
        raise ChatError("error.chat_generation_in_progress")
    raise ChatError("error.chat_generation_in_progress_other_tab")


def refuse_stale(turn: Turn) -> None:
    """The tab does not show the latest message."""
    if turn.caller.head not in (None, turn.standing.head):
        raise ChatError("error.chat_stale")


def _refuse_newer(turn: Turn) -> None:
    """What a later Parley has written cannot be put to a model, nor be written over."""
    newest = turn.standing.newest_form
    if newest is not None and newest > FORMAT_VERSION:
        raise ChatError("error.chat_format_too_new")


def _refuse_crowd(running: int) -> None:
    if lease.closing or len(RUNS) >= settings.PARLEY_LIMITS["generations_per_process"]:
        raise ChatError("error.chat_server_busy")
    limit = settings.PARLEY_LIMITS["generations_per_user"]
    if running >= limit:
        raise ChatError("error.chat_too_many_generations", limit=limit)


# --- 5: the answer ------------------------------------------------------------------


def next_position(conversation: Conversation) -> int:
    """A position that no message has or ever had; saved with the next revision."""
    conversation.last_position += 1
    return conversation.last_position


def write_answer(
    turn: Turn,
    message: Message,
    new_parts: tuple[values.Part, ...] = (),
    *,
    model_id: UUID | None = None,
) -> Started:
    """A new answer to a message, and the run that writes it; the rows of a message that has none
    yet, and of its parts, are written with those of the answer. `model_id` is a model for this
    answer alone."""
    conversation, answerer = turn.conversation, _answerer(turn, model_id)
    is_new = message._state.adding
    answers, highest = (0, 0) if is_new else statements.answers_to(message.pk)
    answer = sql.new(
        Message,
        conversation_id=conversation.pk,
        parent_id=message.pk,
        version=highest + 1,
        position=next_position(conversation),
        role=Message.Role.ASSISTANT,
        status=Message.Status.STREAMING,
        provider_id=answerer.model.choice.ref.provider_id,
        model_id=answerer.model.choice.ref.model_id,
        agent=answerer.agent.key,
        variant=answerer.effort,
        path={"cwd": f"/c/{conversation.pk}/", "root": "/"},
    )
    answer.siblings = answers + 1  # type: ignore[attr-defined]  # what `versions` counts
    has_begun = turn.standing.last is not None
    history = read_history(conversation.pk, before=answer.position) if has_begun else ()
    _note_asked(conversation, message, answerer, turn.standing.answered_by, history)
    asked = WithParts(info=user_info(message), parts=new_parts) if is_new else as_value(message)
    sql.insert([message, answer] if is_new else [answer])
    sql.insert([Part.of(part, position) for position, part in enumerate(new_parts)])
    spec = _write_generation(
        turn,
        WithParts(info=answer_info(answer)),
        answerer,
        (*history, asked) if is_new else history,
    )
    return Started(request_id=spec.request_id, message=asked, spec=spec)


def resume_answer(turn: Turn, answer: Message) -> Started:
    """Go on with an answer that ended early, in the same message."""
    conversation, answerer = turn.conversation, _answerer(turn)
    message = answer.parent or answer
    before = ModelRef(provider_id=answer.provider_id, model_id=answer.model_id)
    _close_gaps(answer)
    answer.status = Message.Status.STREAMING
    answer.error_key, answer.error_data, answer.finish_reason = "", {}, ""
    if answer.completed_at is not None:
        answer.pauses = [*(answer.pauses or []), [ms(answer.completed_at), ms(timezone.now())]]
    answer.completed_at = None
    sql.update(answer, *_RESUMED)
    history = read_history(conversation.pk, before=answer.position)
    _note_asked(conversation, message, answerer, before, history)
    [written] = read_messages([answer.pk])
    spec = _write_generation(turn, written, answerer, history)
    return Started(request_id=spec.request_id, message=as_value(message), spec=spec)


def _answerer(turn: Turn, model_id: UUID | None = None) -> Answerer:
    return choose_answerer(
        turn.conversation,
        catalog_for(turn.caller, turn.standing.catalog_stamp, trying=turn.conversation.agent_id),
        model_id=model_id,
        instructions=turn.standing.instructions,
        folder_instructions=turn.standing.folder_instructions,
    )


def _note_asked(
    conversation: Conversation,
    message: Message,
    answerer: Answerer,
    model_before: ModelRef | None,
    history: Sequence[WithParts],
) -> None:
    """Keep with the message how it is put to the model; the style of tools stays with the
    conversation."""
    ref = answerer.model.choice.ref
    conversation.prompt_language = conversation.prompt_language or translation.get_language() or ""
    conversation.tool_style = style_of(answerer, conversation.tool_style, model_before, history)
    message.provider_id, message.model_id = ref.provider_id, ref.model_id
    message.agent = answerer.agent.key
    message.system = answerer.system_prompt(conversation.prompt_language)
    message.tools, message.variant = answerer.tool_switches(), conversation.tool_style
    if not message._state.adding:
        sql.update(message, *_ASKED)


def _close_gaps(answer: Message) -> None:
    """Number the parts 0, 1, 2 … again: where one was deleted, a new one would be given the
    position of an old one."""
    positions = list(answer.parts.order_by("position").values_list("pk", "position"))
    if all(position == place for place, (_, position) in enumerate(positions)):
        return
    answer.parts.update(position=F("position") + ASIDE)
    for place, (pk, _) in enumerate(positions):
        Part.objects.filter(pk=pk).update(position=place)


def _write_generation(
    turn: Turn, answer: WithParts, answerer: Answerer, history: tuple[WithParts, ...]
) -> RunSpec:
    """The row that makes this the conversation's one active run, and what the run needs."""
    conversation, caller = turn.conversation, turn.caller
    conversation.updated = timezone.now()
    # Who writes on in an archived conversation has it in the column again.
    conversation.archived_at = None
    raise_rev(conversation, *_CHANGED)
    generation = sql.new(
        Generation,
        conversation_id=conversation.pk,
        message_id=UUID(answer.info.id),
        user_id=caller.user_id,
        process_id=lease.this_process(),
        tab_id=caller.tab_id[:100],
        client_id=caller.client_id[:64],
    )
    sql.insert([generation])
    return make_spec(conversation, generation, answer, answerer, history)


# --- 6: after the transaction -------------------------------------------------------


async def launch(caller: Caller, started: Started) -> Started:
    """Let the answer begin, and tell everybody. A repeated request has neither to start nor to
    tell: that was done the first time."""
    if started.event is not None and started.spec is not None:
        start_run(started.spec, started.event)
        await tell_sidebar(caller.user_id, started.conversation_id)
    return started
