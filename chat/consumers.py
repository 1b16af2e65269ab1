"""A socket: commands come in, fragments or events go out.

The consumer reads its own channel in one pump and its client in one loop. Channels' dispatch
would pass every message through one shared thread, where one slow call stalls every socket.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from channels.consumer import AsyncConsumer
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, InterfaceError

from chat.commands import Commands
from chat.outbox import Outbox, Send
from chat.presenting import column_entries
from chat.protocol.errors import ChatError
from chat.protocol.ids import new_id
from chat.protocol.text import clean_json
from chat.readers import is_person, is_welcome, make_reader, socket_language
from chat.rendering.reader import Reader
from chat.services import presence
from chat.services.access import get_conversation
from chat.services.broadcast import Mailbox, conversation_group, user_group
from chat.services.current import current_transcript, digests
from chat.services.pool import in_pool
from chat.tongues import JSON, Behind, HtmlTongue, JsonTongue, Tongue

log = logging.getLogger(__name__)

# Close codes that tell a page to go away and stay away.
LOGGED_OUT, NOT_FOUND = 4401, 4404
# A page opens another socket after these. (1011 is not a program's to send: servers refuse it.)
BROKEN, TOO_FAST = 4500, 4429
# After so many refusals in a row nobody is at the other end.
PATIENCE = 100

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ChatConsumer(AsyncConsumer):
    """One view of one conversation, or of the column alone."""

    # How often a socket looks whether it has missed something, in seconds.
    compare_every = 5.0
    # The column is only told when it changes; that, too, can be lost.
    compare_column_every = 60.0

    reader: Reader
    tongue: Tongue
    mailbox: Mailbox

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive_message = receive
        self.socket = new_id()
        self.tab_id = ""
        self.attached = False
        self.lists = False
        self.refused = 0
        self.outbox = Outbox(send)
        # One at a time: what the other end has is known only between two frames.
        self.turn = asyncio.Lock()
        if (await receive())["type"] == "websocket.connect" and await self._accept(send):
            await self._converse()

    # --- opening and closing ------------------------------------------------------

    async def _accept(self, send: Send) -> bool:
        json_wanted = JSON in self.scope.get("subprotocols", ())
        protocol = JSON if json_wanted else None
        # Accepted first: a browser does not learn why a handshake was refused.
        await send({"type": "websocket.accept", "subprotocol": protocol})
        user = self.scope.get("user")
        if user is None or not is_person(user):
            return await self._refuse(LOGGED_OUT)
        self.user_id = user.pk
        self.session_key = self.scope["session"].session_key or ""
        self.conversation_id = str(self.scope["url_route"]["kwargs"].get("conversation_id", ""))
        try:
            self.reader = await in_pool(self._greet, user)
        except ChatError:
            return await self._refuse(NOT_FOUND)
        self.tongue = JsonTongue(self.reader) if json_wanted else HtmlTongue(self.reader)
        return True

    def _greet(self, user: Any) -> Reader:
        if self.conversation_id:
            get_conversation(user.pk, self.conversation_id)
        return make_reader(user, socket_language(self.scope))

    async def _refuse(self, code: int) -> bool:
        await self.outbox.close(code)
        return False

    async def _converse(self) -> None:
        self.mailbox = await Mailbox.open()
        # From the first moment: a log-out must reach a socket that has not attached too.
        await self.mailbox.join([user_group(self.user_id)])
        helpers = [
            asyncio.create_task(self._or_close(helper)) for helper in (self._pump, self._compare)
        ]
        try:
            await self._listen()
        finally:
            for helper in helpers:
                helper.cancel()
            await self.mailbox.close()
            if self.attached:
                await presence.detach(self.conversation_id, self.socket)

    async def _or_close(self, helper: Callable[[], Awaitable[None]]) -> None:
        try:
            await helper()
        except ObjectDoesNotExist:
            await self._refuse(NOT_FOUND)
        except Exception:  # whatever broke, a socket that hears nothing more must not stay open
            log.exception("a socket's helper broke")
            await self._refuse(BROKEN)

    # --- coming in ----------------------------------------------------------------

    async def _listen(self) -> None:
        commands = Commands(self)
        while True:
            message = await self.receive_message()
            if message["type"] == "websocket.disconnect":
                return
            if self.outbox.closed:
                continue
            if message["type"] == "websocket.receive":
                await self._command(commands, message)

    async def _command(self, commands: Commands, message: dict[str, Any]) -> None:
        name, client_id = "", ""
        try:
            commands.spend()
            command = _parsed(message)
            name = str(command.get("command", ""))[:40]
            client_id = str(command.get("client_id") or "")[:64]
            values = await commands.run(name, client_id, command)
            if values is not None:
                await self.say(self.tongue.reply(name, client_id, values))
            self.refused = 0
        except ChatError as error:
            await self._say_no(name, client_id, error)
        except Exception:  # a page repeats what is not answered: this is the answer
            log.exception("the command %s broke", name)
            await self._say_no(name, client_id, ChatError("error.chat_command_failed"))

    async def _say_no(self, name: str, client_id: str, error: ChatError) -> None:
        """Say why not; a flood is told once, and then shown the door."""
        self.refused += 1
        if self.refused > PATIENCE:
            await self._refuse(TOO_FAST)
        elif error.key != "error.chat_too_fast" or self.refused == 1:
            await self.say(self.tongue.refuse(name, client_id, error))

    async def attach(self, shown: Any, tab_id: str, column: Any = None) -> None:
        """Join the conversation and bring the other end from what it shows to now."""
        self.tab_id = tab_id
        if self.conversation_id:
            # Joined before reading: what happens in between comes twice, and is dropped once.
            await self.mailbox.join([conversation_group(self.conversation_id)])
        async with self.turn:
            if self.conversation_id:
                # From here on events wait for their turn.
                self.attached = True
                transcript = await current_transcript(self.conversation_id)
                await self.say(await self.tongue.attach(transcript, shown))
                await presence.attach(self.conversation_id, self.user_id, self.socket, tab_id)
            if isinstance(self.tongue, HtmlTongue):
                # A window of its own has no column.
                self.lists = column is not None
                self.tongue.listed.shown(self.conversation_id, column)
                await self._tell_column()

    async def acknowledge(self, frames: int) -> None:
        """The other end has read this many frames; one that was too far behind is caught up."""
        if self.outbox.acknowledge(frames) and self.attached:
            await self._catch_up()

    async def acknowledge_events(self, seq: int) -> None:
        """The same from a program, which counts events: it has read all, or not yet."""
        if seq >= self.tongue.seq and self.outbox.acknowledge_all() and self.attached:
            await self._catch_up()

    # --- going out ----------------------------------------------------------------

    async def say(self, frames: list[str]) -> None:
        await self.outbox.say(frames)

    async def _pump(self) -> None:
        while True:
            message = await self.mailbox.receive()
            match message["type"]:
                case "events":
                    await self._tell_events(message["events"])
                case "column":
                    async with self.turn:
                        await self._tell_column()
                case "goodbye" if message["session"] == self.session_key:
                    await self._refuse(LOGGED_OUT)

    async def _tell_events(self, events: list[Any]) -> None:
        if any(event.name == "chat:deleted" for event in events):
            await self._refuse(NOT_FOUND)
            return
        # A client that does not read is sent nothing more; later it gets the state of then.
        if self.outbox.is_full or not self.attached:
            return
        filled = None
        async with self.turn:
            while events:
                try:
                    await self.say(await self.tongue.events(events))
                    return
                except Behind as behind:
                    await self.say(behind.frames)
                    events = events[events.index(behind.event) :]
                    # Once for each: whatever an event misses, it must not hold up the others.
                    if behind.event is filled or not await self._fill_gap(behind.event):
                        events = events[1:]
                    filled = behind.event

    async def _fill_gap(self, event: Any) -> bool:
        """Read until what is stored has come up to the event (rows are half a second behind).

        Whether the event is still worth telling: one of a run that is over is late.
        """
        for _ in range(8):
            transcript = await current_transcript(self.conversation_id)
            await self.say(await self.tongue.catch_up(transcript))
            if not event.seq or transcript.request_id != event.request_id:
                return False
            if transcript.seq >= event.seq - 1:
                return True
            await asyncio.sleep(0.25)
        return False

    async def _tell_column(self) -> None:
        if self.lists and not self.outbox.is_full:
            await self.say(self.tongue.column(await in_pool(column_entries, self.user_id)))

    async def _catch_up(self) -> None:
        async with self.turn:
            transcript = await current_transcript(self.conversation_id)
            await self.say(await self.tongue.catch_up(transcript))

    async def _compare(self) -> None:
        """A lost first or last event leaves no gap behind it: compare now and then."""
        for tick in itertools.count(1):
            await asyncio.sleep(self.compare_every)
            try:
                await self._look_around(tick)
            except (DatabaseError, InterfaceError):
                log.warning("a socket could not compare itself with the database", exc_info=True)

    async def _look_around(self, tick: int) -> None:
        if tick % 5 == 0 and not await in_pool(is_welcome, self.user_id, self.session_key):
            await self._refuse(LOGGED_OUT)
            return
        await self.mailbox.join_again()
        if tick % max(1, round(self.compare_column_every / self.compare_every)) == 0:
            async with self.turn:
                await self._tell_column()
        if not self.attached or self.outbox.is_full:
            return
        digest = await digests.get(self.conversation_id)
        if digest is None:
            await self._refuse(NOT_FOUND)
        elif self.tongue.is_behind(digest):
            await self._catch_up()


def _parsed(message: dict[str, Any]) -> dict[str, Any]:
    text = message.get("text")
    limit = settings.PARLEY_LIMITS["frame_bytes"]
    # Counted in characters first: encoding a flood would cost more than refusing it.
    if text is None or len(text) > limit:
        raise ChatError("error.chat_bad_command")
    try:
        command = clean_json(json.loads(text))
    except (ValueError, RecursionError):
        raise ChatError("error.chat_bad_command") from None
    if not isinstance(command, dict):
        raise ChatError("error.chat_bad_command")
    return command
