"""What a socket can be told to do: one function for each command, and the table of them."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from chat import services
from chat.consumers.drawing import draw_aside
from chat.consumers.json_wire import known_form, messages_reply
from chat.protocol.errors import ChatError
from chat.protocol.feedback import parse_feedback_choice
from chat.protocol.ids import is_uuid
from chat.protocol.version_choice import parse_version_choice
from chat.services import Caller, Picks, Started

# What a command came with, and what its reply says besides `ok`.
Values = dict[str, Any]

MOST_MESSAGES = 200


class Socket(Protocol):
    """What commands need to know of the socket they came through."""

    conversation_id: str
    socket: str
    # Whether it shows the conversation, and so counts as watching by itself.
    attached: bool

    async def attach(self, caller: Caller, values: Values) -> None: ...
    async def detach(self) -> None: ...
    async def list_more(self, rows: int, folder_id: str) -> None: ...
    async def acknowledge(self, frames: int) -> None: ...
    async def acknowledge_events(self, seq: int) -> None: ...


# A reply that is long is given as the text of its frame, which was made aside.
Command = Callable[[Socket, Caller, Values], Awaitable[Values | str | None]]


async def attach(socket: Socket, caller: Caller, values: Values) -> Values:
    """Bring the other end from what it shows to now, and tell it what happens from now on."""
    await socket.attach(caller, values)
    return {}


async def detach(socket: Socket, caller: Caller, values: Values) -> Values:
    """The tab is closed: it no longer counts as watching, and is told nothing more."""
    await socket.detach()
    return {}


async def look(socket: Socket, caller: Caller, values: Values) -> Values:
    """The page has come to the front, or lies behind others now."""
    hidden = values.get("hidden") is True
    await services.look(caller, await _here(socket), socket.socket, hidden=hidden)
    return {}


async def list_more(socket: Socket, caller: Caller, values: Values) -> Values:
    """The column, or a folder in it, is to list so many conversations."""
    rows, folder_id = values.get("rows"), str(values.get("folder") or "")
    if not isinstance(rows, int) or (folder_id and not is_uuid(folder_id)):
        raise ChatError("error.chat_bad_command")
    await socket.list_more(rows, folder_id)
    return {}


async def acknowledge(socket: Socket, caller: Caller, values: Values) -> None:
    """The other end says how far it has read; there is no reply."""
    frames, seq = values.get("frames"), values.get("seq")
    if isinstance(frames, int):
        await socket.acknowledge(frames)
    elif isinstance(seq, int):
        await socket.acknowledge_events(seq)
    else:
        raise ChatError("error.chat_bad_command")


async def send(socket: Socket, caller: Caller, values: Values) -> Values:
    """With `queue`, what is sent while an answer runs waits for its end, and the reply says so."""
    content, attachments = values.get("content"), values.get("attachments")
    if values.get("queue") is not True:
        return _started(await services.send(caller, await _here(socket), content, attachments))
    sent = await services.send_or_queue(caller, await _here(socket), content, attachments)
    if isinstance(sent, Started):
        return _started(sent)
    return {"message_id": sent.message.info.id, "queued": True}


async def edit_queued(socket: Socket, caller: Caller, values: Values) -> Values:
    content = values.get("content")
    await services.edit_queued(caller, await _here(socket), _message_id(values), content)
    return {}


async def remove_queued(socket: Socket, caller: Caller, values: Values) -> Values:
    await services.remove_queued(caller, await _here(socket), _message_id(values))
    return {}


async def send_queued(socket: Socket, caller: Caller, values: Values) -> Values:
    return _started(await services.send_queued(caller, await _here(socket), _message_id(values)))


async def hold_queue(socket: Socket, caller: Caller, values: Values) -> Values:
    """`held` may be the text of a form."""
    held = values.get("held") not in (False, "false")
    await services.hold_queue(caller, await _here(socket), held=held)
    return {}


async def try_now(socket: Socket, caller: Caller, values: Values) -> Values:
    await services.try_now(caller, await _here(socket))
    return {}


async def edit(socket: Socket, caller: Caller, values: Values) -> Values:
    started = await services.edit(
        caller,
        await _here(socket),
        _message_id(values),
        values.get("content"),
        archive=values.get("archive", True) is not False,
    )
    return _started(started)


async def regenerate(socket: Socket, caller: Caller, values: Values) -> Values:
    model = str(values.get("model", ""))
    here, answer = await _here(socket), _message_id(values)
    return _started(await services.regenerate(caller, here, answer, model))


async def continue_answer(socket: Socket, caller: Caller, values: Values) -> Values:
    here, answer = await _here(socket), _message_id(values)
    return _started(await services.continue_answer(caller, here, answer))


async def show_version(socket: Socket, caller: Caller, values: Values) -> Values:
    choice = parse_version_choice(values.get("version", ""), _message_id(values))
    await services.show_version(caller, await _here(socket), choice.message_id, choice.version)
    return {}


async def give_feedback(socket: Socket, caller: Caller, values: Values) -> Values:
    choice = parse_feedback_choice(values.get("verdict", ""), _message_id(values))
    await services.give_feedback(
        caller, await _here(socket), choice.message_id, choice.verdict, values.get("comment")
    )
    return {}


async def choose(socket: Socket, caller: Caller, values: Values) -> Values:
    """Who answers from the next turn on; what is not named stays."""
    tools = values.get("tools", {})
    if not isinstance(tools, dict):
        raise ChatError("error.chat_bad_command")
    picks = Picks(
        agent_id=str(values.get("agent", "")),
        model_id=str(values.get("model", "")),
        effort=str(values.get("effort", "")),
        tools={str(name): on is True for name, on in tools.items()},
    )
    return (await services.choose(caller, await _here(socket), picks))._asdict()


async def stop(socket: Socket, caller: Caller, values: Values) -> Values:
    request_id = str(values.get("request_id") or "")
    if request_id and not is_uuid(request_id):
        raise ChatError("error.chat_bad_command")
    await services.stop(caller, await _here(socket), request_id)
    return {}


async def rename(socket: Socket, caller: Caller, values: Values) -> Values:
    return {"title": await services.rename(caller, await _here(socket), values.get("title"))}


async def pin(socket: Socket, caller: Caller, values: Values) -> Values:
    await services.pin(caller, await _here(socket), pinned=values.get("pinned") is not False)
    return {}


async def archive(socket: Socket, caller: Caller, values: Values) -> Values:
    archived = values.get("archived") is not False
    await services.archive(caller, await _here(socket), archived=archived)
    return {}


async def keep(socket: Socket, caller: Caller, values: Values) -> Values:
    """A temporary chat is to be kept."""
    await services.keep(caller, await _here(socket))
    return {}


async def delete(socket: Socket, caller: Caller, values: Values) -> Values:
    await services.delete(caller, await _here(socket))
    return {}


async def messages(socket: Socket, caller: Caller, values: Values) -> str:
    """Messages as they are stored, or in the form that is wished for: the latest, or those before
    a position. There may be much to read and to write: neither holds up anybody else."""
    form = known_form(values.get("form"))
    before, limit = values.get("before"), values.get("limit", services.PAGE)
    numbers = isinstance(limit, int) and (before is None or isinstance(before, int))
    if not numbers or not 1 <= limit <= MOST_MESSAGES:
        raise ChatError("error.chat_bad_command")
    here, window = await _here(socket), services.Window(before, limit)
    async with services.in_line(caller.user_id):
        transcript = await services.in_pool(services.open_transcript, caller, here, window)
    person = str(caller.user_id)
    return await draw_aside(person, messages_reply, caller.client_id, transcript, form)


COMMANDS: dict[str, Command] = {
    "attach": attach,
    "detach": detach,
    "look": look,
    "ack": acknowledge,
    "list": list_more,
    "messages": messages,
    "send": send,
    "queue-edit": edit_queued,
    "queue-remove": remove_queued,
    "queue-send": send_queued,
    "queue-hold": hold_queue,
    "edit": edit,
    "regenerate": regenerate,
    "continue": continue_answer,
    "version": show_version,
    "feedback": give_feedback,
    "choose": choose,
    "stop": stop,
    "try-now": try_now,
    "rename": rename,
    "pin": pin,
    "archive": archive,
    "keep": keep,
    "delete": delete,
}


async def _here(socket: Socket) -> str:
    """The socket's conversation; the one of the sidebar alone has none."""
    if not socket.conversation_id:
        raise ChatError("error.chat_conversation_not_found")
    # A program that asks now and then, without attaching, is watching too, wherever the answer is
    # being written.
    if not socket.attached:
        await services.see(socket.conversation_id)
    return socket.conversation_id


def _message_id(values: Values) -> str:
    return str(values.get("message_id", ""))


def _started(started: Started) -> Values:
    return {"request_id": started.request_id, "message_id": started.message.info.id}
