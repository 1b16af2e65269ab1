"""A turn: check and write, then tell, then let the answer begin."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from chat.models import Generation, Message
from chat.protocol.errors import ChatError
from chat.protocol.events import Event, EventName
from chat.protocol.messages import message_to_json
from chat.services import edit, generation
from chat.services.access import get_conversation
from chat.services.answering import Begun, Caller, already_begun
from chat.services.broadcast import publish, tell_user
from chat.services.pool import in_pool
from chat.services.runs import RUNS
from chat.services.send import checked_content, send_message
from chat.services.stop import stop_generation
from chat.services.versions import switch_version

# How long an edit waits for the answer it has stopped to be settled.
PATIENCE = 5.0

Conversation = str | UUID

P = ParamSpec("P")
T = TypeVar("T")

_under_way: set[asyncio.Future[Any]] = set()


def whole(function: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Done to its end even when the client leaves: rows without their run would stay open."""

    @wraps(function)
    async def call(*args: P.args, **kwargs: P.kwargs) -> T:
        doing = asyncio.ensure_future(function(*args, **kwargs))
        _under_way.add(doing)
        doing.add_done_callback(_under_way.discard)
        return await asyncio.shield(doing)

    return call


async def all_begun() -> None:
    """Every turn that is being taken has its run, or was refused."""
    if _under_way:
        await asyncio.wait(_under_way, timeout=PATIENCE)


@whole
async def send(
    caller: Caller, conversation_id: Conversation, content: object, attachments: object = None
) -> Begun:
    """Say something. A repeated send answers as the first one did and starts nothing."""
    begun = await in_pool(send_message, caller, conversation_id, content, attachments)
    return await _begin(caller, begun, "chat:user-message")


@whole
async def edit_and_resend(
    caller: Caller,
    conversation_id: Conversation,
    message_id: str,
    content: object,
    *,
    archive: bool = True,
) -> Begun:
    checked_content(content, required=False)
    await _make_room(caller, conversation_id, message_id, Message.Role.USER, content)
    begun = await in_pool(
        edit.edit_message, caller, conversation_id, message_id, content, archive=archive
    )
    return await _begin(caller, begun, "chat:edited")


@whole
async def regenerate(caller: Caller, conversation_id: Conversation, message_id: str) -> Begun:
    await _make_room(caller, conversation_id, message_id, Message.Role.ASSISTANT)
    begun = await in_pool(edit.regenerate, caller, conversation_id, message_id)
    return await _begin(caller, begun, "chat:edited")


@whole
async def continue_answer(caller: Caller, conversation_id: Conversation, message_id: str) -> Begun:
    begun = await in_pool(edit.continue_answer, caller, conversation_id, message_id)
    return await _begin(caller, begun, "chat:edited")


async def show_version(
    caller: Caller, conversation_id: Conversation, message_id: str, version: int
) -> None:
    rev = await in_pool(switch_version, caller, conversation_id, message_id, version)
    changed = Event(name="chat:edited", conversation_id=str(conversation_id), rev=rev)
    await publish(changed.conversation_id, [changed])


async def _begin(caller: Caller, begun: Begun, name: EventName) -> Begun:
    """Tell everybody what was said, then let the answer begin."""
    if begun.assignment is not None:
        said = Event(
            name=name,
            conversation_id=begun.message.info.session_id,
            rev=begun.assignment.rev,
            tab_id=caller.tab_id,
            message_id=begun.message.info.id,
            body={
                "message": message_to_json(begun.message),
                "client_id": caller.client_id,
                "title": begun.title,
            },
        )
        await publish(said.conversation_id, [said])
        generation.start(begun.assignment)
        await tell_user(caller.user_id, "column", conversation_id=said.conversation_id)
    return begun


async def _make_room(
    caller: Caller,
    conversation_id: Conversation,
    message_id: str,
    role: str,
    content: object = None,
) -> None:
    """Stop a running answer and see it settled; not for a wish that will be refused anyway."""
    key = str(conversation_id)
    request_id = await in_pool(_to_stop, caller, key, message_id, role, content)
    if not request_id:
        return
    try:
        await stop_generation(caller.user_id, key, caller.name, request_id)
    except ChatError as error:
        if error.key != "error.chat_no_active_generation":
            raise
    try:
        async with asyncio.timeout(PATIENCE):
            await _settled(key, request_id)
    except TimeoutError:
        raise ChatError("error.chat_previous_generation_not_finished") from None


async def _settled(conversation_id: str, request_id: str) -> None:
    run = RUNS.get(conversation_id)
    if run is not None and run.request_id == request_id and run.task is not None:
        await asyncio.wait({run.task})
    # Another process settles its runs without telling this one.
    while await in_pool(_is_running, request_id):  # noqa: ASYNC110
        await asyncio.sleep(0.1)


def _to_stop(
    caller: Caller, conversation_id: str, message_id: str, role: str, content: object
) -> str:
    """The run in the way of a wish. Looked for before the wish is checked: one that begins
    in between has changed what the wish is about, and must not be stopped for it."""
    conversation = get_conversation(caller.user_id, conversation_id)
    if already_begun(conversation, caller):
        return ""
    active = Generation.objects.filter(conversation=conversation, status="active").first()
    message = edit.check_wish(conversation, caller, message_id, role)
    if role == Message.Role.USER:
        edit.edited_text(message, content)
    return str(active.pk) if active else ""


def _is_running(request_id: str) -> bool:
    return Generation.objects.filter(pk=request_id, status="active").exists()
