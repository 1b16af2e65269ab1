"""Send: a message becomes a row, and an answer to it begins."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.formats.title import title_from
from chat.models import Conversation, Generation, Message
from chat.protocol import parts as values
from chat.protocol.errors import ChatError
from chat.protocol.events import UserMessage
from chat.protocol.factories import create_text_part
from chat.protocol.ids import uuid7
from chat.protocol.text import clean_text
from chat.services import sql
from chat.services.background import shielded
from chat.services.broadcast import publish
from chat.services.caller import Caller
from chat.services.catalog.permissions import catalog_for
from chat.services.catalog.picks import Picks, apply_picks
from chat.services.catalog.preferences import last_effort, remember_choice
from chat.services.conversations.attachments import attach, check_ids
from chat.services.conversations.folders import own_folder_key
from chat.services.conversations.search_index import index_text, index_title
from chat.services.pool import in_transaction
from chat.services.turns.enqueue import Queued, enqueue, find_queued, must_wait
from chat.services.turns.start import (
    Started,
    Turn,
    find_started,
    launch,
    lock_turn,
    next_position,
    refuse,
    write_answer,
)
from chat.services.turns.stop import when_stopped


class Beginning(NamedTuple):
    """How a new conversation begins: what was picked, in which language and folder."""

    picks: Picks
    language: str
    temporary: bool
    folder_id: str


@shielded
async def send(
    caller: Caller, conversation_id: str | UUID, content: object, attachments: object = None
) -> Started:
    """Send a message. A repeated send answers as the first one did and starts nothing."""
    files = check_ids(attachments)
    text = check_content(content, required=not files)
    started = await when_stopped(write_turn, caller, conversation_id, text, files)
    return await launch(caller, started)


@shielded
async def send_or_queue(
    caller: Caller, conversation_id: str | UUID, content: object, attachments: object = None
) -> Started | Queued:
    """Send a message, or let it wait where an answer runs."""
    files = check_ids(attachments)
    text = check_content(content, required=not files)
    written = await when_stopped(write_or_queue, caller, conversation_id, text, files)
    if isinstance(written, Started):
        return await launch(caller, written)
    if written.event is not None:
        await publish(written.event.conversation_id, [written.event])
    return written


@shielded
async def start_conversation(
    caller: Caller,
    content: object,
    attachments: object = None,
    *,
    language: str,
    picks: Picks,
    temporary: bool = False,
    folder_id: str = "",
) -> Started:
    """Send the first message of a new conversation, to whom was picked for it, in a folder of one's
    own. When it is refused there is no new conversation. A `temporary` one is gone with its last
    tab."""
    files = check_ids(attachments)
    text = check_content(content, required=not files)
    beginning = Beginning(picks, language, temporary, folder_id)
    started = await in_transaction(write_first_turn, caller, text, files, beginning)
    return await launch(caller, started)


def check_content(content: object, *, required: bool = True) -> str:
    """What was typed, cleaned and trimmed; empty or too long is refused."""
    text = clean_text(content).strip() if isinstance(content, str) else ""
    if not text and required:
        raise ChatError("error.chat_content_required")
    limit = settings.PARLEY_LIMITS["message_chars"]
    if len(text) > limit:
        raise ChatError("error.chat_content_too_long", limit=limit, length=len(text))
    return text


def write_turn(
    caller: Caller, conversation_id: str | UUID, text: str, files: Sequence[str]
) -> Started:
    """Lock, refuse, write the message, write the answer: one transaction."""
    try:
        with transaction.atomic():
            turn = lock_turn(caller, conversation_id)
            repeated = find_started(turn)
            if repeated:
                return repeated
            refuse(turn)
            return write_message(turn, text, files)
    except IntegrityError as error:
        # Somebody was faster by less than the check above could see.
        if Generation.objects.filter(conversation_id=conversation_id, status="active").exists():
            raise ChatError("error.chat_generation_in_progress_other_tab") from error
        raise


@transaction.atomic
def write_or_queue(
    caller: Caller, conversation_id: str | UUID, text: str, files: Sequence[str]
) -> Started | Queued:
    """The same, but where an answer runs the message is put in the queue."""
    turn = lock_turn(caller, conversation_id)
    repeated = find_started(turn) or find_queued(turn)
    if repeated:
        return repeated
    if must_wait(turn):
        return enqueue(turn, text, files)
    refuse(turn)
    return write_message(turn, text, files)


def write_message(
    turn: Turn, text: str, files: Sequence[str], message_id: UUID | None = None
) -> Started:
    """Write a message and the answer to it; one that was queued keeps its id."""
    message, parts = _new_message(turn, text, files, message_id or uuid7())
    started = write_answer(turn, message, parts)
    return replace(started, event=_sent(turn, started))


def write_first_turn(
    caller: Caller, text: str, files: Sequence[str], beginning: Beginning
) -> Started:
    """The same in a conversation that is made for it; a form posted twice makes one."""
    with transaction.atomic():
        conversation = _begun_before(caller) or _begin(caller, beginning)
        return write_turn(caller, conversation.pk, text, files)


def _begin(caller: Caller, beginning: Beginning) -> Conversation:
    """A new conversation, with what was picked for it; that is remembered for the next one."""
    catalog = catalog_for(caller, trying=beginning.picks.agent_id)
    conversation = Conversation(
        owner_id=caller.user_id,
        prompt_language=beginning.language,
        effort=last_effort(caller),
        temporary=beginning.temporary,
        folder_id=own_folder_key(caller, beginning.folder_id),
    )
    apply_picks(conversation, catalog, beginning.picks)
    conversation.save(force_insert=True)
    remember_choice(caller, catalog, conversation)
    return conversation


def _begun_before(caller: Caller) -> Conversation | None:
    if not caller.client_id:
        return None
    mine = Conversation.objects.owned_by(caller.user_id)
    return mine.filter(generations__client_id=caller.client_id).first()


def _new_message(
    turn: Turn, text: str, files: Sequence[str], message_id: UUID
) -> tuple[Message, tuple[values.Part, ...]]:
    """A new message and its parts, which are its files and its text. Its row is written with that
    of the answer; what is searched of it is written here."""
    conversation, caller = turn.conversation, turn.caller
    message = sql.new(
        Message,
        id=message_id,
        conversation_id=conversation.pk,
        parent_id=turn.standing.last,
        position=next_position(conversation),
        role=Message.Role.USER,
        client_id=caller.client_id[:64],
        completed_at=timezone.now(),
    )
    attached = attach(message, caller.user_id, files)
    names = [part.filename or "" for part in attached]
    # Of a temporary chat no word is kept elsewhere; a title would stay in the browser's history.
    if not conversation.temporary:
        if not conversation.title and not conversation.titled_by_hand:
            conversation.title = title_from(text or names[0])
            index_title(conversation)
        words = "\n".join([*names, text])
        index_text(conversation.owner_id, conversation.pk, message.pk, words)
    return message, (*attached, *_text_parts(message, text))


def _text_parts(message: Message, text: str) -> tuple[values.Part, ...]:
    if not text:
        return ()
    return (create_text_part(str(message.conversation_id), str(message.pk), text),)


def _sent(turn: Turn, started: Started) -> UserMessage:
    return UserMessage(
        conversation_id=started.conversation_id,
        rev=turn.conversation.rev,
        tab_id=turn.caller.tab_id,
        message_id=started.message.info.id,
        message=started.message,
        client_id=turn.caller.client_id,
        title=turn.conversation.title,
    )
