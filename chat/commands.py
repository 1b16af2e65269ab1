"""What a socket can be told to do: one method each."""

import time
from typing import TYPE_CHECKING, Any

from django.conf import settings

from chat.protocol.errors import ChatError
from chat.protocol.messages import message_to_json
from chat.services.pool import in_pool
from chat.services.reading import PAGE, read_transcript
from chat.services.stop import stop_generation
from chat.services.turn import take_turn

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
        self._spend()
        match name:
            case "attach":
                return await self._attach(values)
            case "ack":
                return await self._ack(values)
            case "send":
                return await self._send(client_id, values)
            case "stop":
                return await self._stop()
            case "messages":
                return await self._messages(values)
            case _:
                raise ChatError("error.chat_unknown_command")

    def _spend(self) -> None:
        """A burst of two seconds' worth is fine; a flood is not."""
        rate = settings.PARLEY_LIMITS["frames_per_second"]
        now = time.monotonic()
        self._allowance = min(2.0 * rate, self._allowance + (now - self._at) * rate)
        self._at = now
        if self._allowance < 1:
            raise ChatError("error.chat_too_fast")
        self._allowance -= 1

    def _conversation(self) -> str:
        if not self.socket.conversation_id:
            raise ChatError("error.chat_conversation_not_found")
        return self.socket.conversation_id

    async def _attach(self, values: Values) -> Values:
        tab_id = str(values.get("tab_id") or "")[:100]
        await self.socket.attach(values.get("shown"), tab_id, values.get("column"))
        return {}

    async def _ack(self, values: Values) -> None:
        frames = values.get("frames", values.get("seq", 0))
        if not isinstance(frames, int):
            raise ChatError("error.chat_bad_command")
        await self.socket.acknowledge(frames)

    async def _send(self, client_id: str, values: Values) -> Values:
        sent = await take_turn(
            self.socket.user_id,
            self._conversation(),
            values.get("content"),
            tab_id=str(values.get("tab_id") or self.socket.tab_id)[:100],
            client_id=client_id,
        )
        return {"request_id": sent.request_id, "message_id": sent.message.info.id}

    async def _stop(self) -> Values:
        name = self.socket.reader.name
        await stop_generation(self.socket.user_id, self._conversation(), name)
        return {}

    async def _messages(self, values: Values) -> Values:
        before, limit = values.get("before"), values.get("limit", PAGE)
        whole = isinstance(limit, int) and (before is None or isinstance(before, int))
        if not whole or not 1 <= limit <= 200:
            raise ChatError("error.chat_bad_command")
        transcript = await in_pool(
            read_transcript, self._conversation(), before=before, limit=limit
        )
        messages = [message_to_json(message) for message in transcript.messages]
        return {"messages": messages, "older": transcript.older, "rev": transcript.rev}
