"""What a socket can be told to do: one method each."""

import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from chat.protocol.errors import ChatError
from chat.protocol.ids import is_uuid
from chat.protocol.messages import message_to_json
from chat.services import organise, presence, turn
from chat.services.answering import Begun, Caller
from chat.services.pool import in_pool
from chat.services.reading import PAGE, read_transcript
from chat.services.stop import stop_generation

if TYPE_CHECKING:
    from chat.consumers import ChatConsumer

Values = dict[str, Any]


class Commands:
    """The commands of one socket, as many a second as its limit allows."""

    def __init__(self, socket: "ChatConsumer") -> None:
        self.socket = socket
        self._allowance = float(settings.PARLEY_LIMITS["frames_per_second"])
        self._at = time.monotonic()

    async def run(self, name: str, client_id: str, values: Values) -> Values | None:
        """Run a command; what it gives back is its reply, if it has one."""
        caller = self._caller(client_id, values)
        message_id = str(values.get("message_id", ""))
        match name:
            case "attach":
                return await self._attach(values)
            case "ack":
                await self._ack(values)
                return None
            case "messages":
                return await self._messages(values)
            case "send":
                return await self._send(caller, values)
            case "edit":
                return await self._edit(caller, message_id, values)
            case "regenerate":
                return _begun(await turn.regenerate(caller, self._here(), message_id))
            case "continue":
                return _begun(await turn.continue_answer(caller, self._here(), message_id))
            case "version":
                return await self._version(caller, message_id, values)
            case "stop":
                request_id = str(values.get("request_id") or "")
                if request_id and not is_uuid(request_id):
                    raise ChatError("error.chat_bad_command")
                await stop_generation(self.socket.user_id, self._here(), caller.name, request_id)
                return {}
            case "rename" | "pin" | "delete":
                return await self._organise(name, values)
            case _:
                raise ChatError("error.chat_unknown_command")

    def _caller(self, client_id: str, values: Values) -> Caller:
        head = values.get("head")
        return Caller(
            user_id=self.socket.user_id,
            name=self.socket.reader.name,
            tab_id=str(values.get("tab_id") or self.socket.tab_id)[:100],
            client_id=client_id,
            head=head if isinstance(head, int) else None,
        )

    def spend(self) -> None:
        """A burst of two seconds' worth is fine; a flood is not."""
        rate = settings.PARLEY_LIMITS["frames_per_second"]
        now = time.monotonic()
        self._allowance = min(2.0 * rate, self._allowance + (now - self._at) * rate)
        self._at = now
        if self._allowance < 1:
            raise ChatError("error.chat_too_fast")
        self._allowance -= 1

    def _here(self) -> str:
        if not self.socket.conversation_id:
            raise ChatError("error.chat_conversation_not_found")
        # A program that asks now and then, without attaching, is watching too.
        presence.glimpsed_here(self.socket.conversation_id)
        return self.socket.conversation_id

    async def _attach(self, values: Values) -> Values:
        tab_id = str(values.get("tab_id") or "")[:100]
        await self.socket.attach(values.get("shown"), tab_id, values.get("column"))
        return {}

    async def _ack(self, values: Values) -> None:
        frames, seq = values.get("frames"), values.get("seq")
        if isinstance(frames, int):
            await self.socket.acknowledge(frames)
        elif isinstance(seq, int):
            await self.socket.acknowledge_events(seq)
        else:
            raise ChatError("error.chat_bad_command")

    async def _send(self, caller: Caller, values: Values) -> Values:
        content, attachments = values.get("content"), values.get("attachments")
        return _begun(await turn.send(caller, self._here(), content, attachments))

    async def _edit(self, caller: Caller, message_id: str, values: Values) -> Values:
        archive = values.get("archive", True) is not False
        content = values.get("content")
        return _begun(
            await turn.edit_and_resend(caller, self._here(), message_id, content, archive=archive)
        )

    async def _version(self, caller: Caller, message_id: str, values: Values) -> Values:
        version = str(values.get("version", ""))
        if not message_id:
            # A button has one value: "<message> <version>".
            message_id, _, version = version.partition(" ")
        if not version.isascii() or not version.isdigit() or len(version) > 6:
            raise ChatError("error.chat_bad_command")
        await turn.show_version(caller, self._here(), message_id, int(version))
        return {}

    async def _organise(self, name: str, values: Values) -> Values:
        user_id = self.socket.user_id
        match name:
            case "rename":
                return {"title": await organise.rename(user_id, self._here(), values.get("title"))}
            case "pin":
                await organise.pin(user_id, self._here(), pinned=values.get("pinned") is not False)
            case _:
                await organise.delete(user_id, self._here())
        return {}

    async def _messages(self, values: Values) -> Values:
        before, limit = values.get("before"), values.get("limit", PAGE)
        whole = isinstance(limit, int) and (before is None or isinstance(before, int))
        if not whole or not 1 <= limit <= 200:
            raise ChatError("error.chat_bad_command")
        transcript = await in_pool(read_transcript, self._here(), before=before, limit=limit)
        messages = [message_to_json(message) for message in transcript.messages]
        return {"messages": messages, "older": transcript.older, "rev": transcript.rev}


def _begun(begun: Begun) -> Values:
    return {"request_id": begun.request_id, "message_id": begun.message.info.id}
