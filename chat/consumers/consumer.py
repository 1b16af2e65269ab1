"""A socket: commands come in, fragments or events go out.

The consumer reads its own channel in one pump and its client in one loop. Channels' dispatch
would pass every message through one shared thread, where one slow call stalls every socket.
"""

import asyncio
import itertools
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import nullcontext
from typing import Any, Literal

from channels.consumer import AsyncConsumer
from django.db import DatabaseError, InterfaceError

from chat import services
from chat.consumers.allowance import (
    Allowance,
    OpenSockets,
    acknowledgements_per_socket,
    commands_per_socket,
    count_socket,
)
from chat.consumers.commands import COMMANDS
from chat.consumers.html_wire import STILL_HERE, HtmlWire
from chat.consumers.incoming import id_at_end, is_acknowledgement, parsed
from chat.consumers.json_wire import SUBPROTOCOL, JsonWire
from chat.consumers.outbox import Outbox, Send
from chat.consumers.wire import Wire, is_behind
from chat.protocol.errors import ChatError
from chat.protocol.events import Deleted, Event
from chat.protocol.ids import new_id
from chat.protocol.trail import follow_request
from chat.protocol.transcript import Shown, Transcript
from chat.rendering.reader import Reader
from chat.services import Caller, Subscription
from chat.views.reader import (
    make_reader,
    socket_language,
    socket_session,
    socket_visitor,
    socket_zone,
)

log = logging.getLogger(__name__)

# Close codes that tell a page to go away and stay away.
LOGGED_OUT, NOT_FOUND = 4401, 4404
# A page opens another socket after these. (1011 is not a program's to send: servers refuse it.)
BROKEN, TOO_FAST, TOO_MANY, RESTARTING = 4500, 4429, 4430, 4503
# After so many refusals in a row nobody is at the other end.
PATIENCE = 100
# A page that shows more messages waits for its turn to be brought forward.
MANY = 2 * services.PAGE

Receive = Callable[[], Awaitable[dict[str, Any]]]


class ChatConsumer(AsyncConsumer):
    """One view of one conversation, or of the sidebar alone."""

    # How often a socket looks whether it has missed something, in seconds.
    compare_every = 5.0
    # The sidebar is only told when it changes; that, too, can be lost.
    compare_column_every = 60.0
    # A page hears something so often, in seconds, and so knows that it is still connected: its
    # browser does not tell it when nobody is at the other end any more.
    speak_every = 15.0
    # How long a change of the sidebar waits for others.
    column_pause = 0.25

    reader: Reader
    wire: Wire
    subscription: Subscription
    open_sockets: OpenSockets

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive_message = receive
        self.socket = new_id()
        self.tab_id = ""
        self.attached = False
        # Who watches through this socket, once they have said so.
        self.viewer: Caller | None = None
        self.refused = 0
        self.allowance = Allowance(commands_per_socket)
        self.read_allowance = Allowance(acknowledgements_per_socket)
        self.outbox = Outbox(send)
        # One at a time: what the other end has is known only between two frames.
        self.telling = asyncio.Lock()
        self.column_changed = asyncio.Event()
        # Held from a command to its reply.
        self.commanding = asyncio.Lock()
        if (await receive())["type"] == "websocket.connect" and await self._accept(send):
            # Counted first: whoever has too many does not wait where others would wait for them.
            with count_socket(self.user_id) as mine:
                if mine is None:
                    await self._close(TOO_MANY)
                    return
                self.open_sockets = mine
                if await self._enter():
                    with services.open_socket("json" if self.speaks_json else "html"):
                        await self._serve()

    # --- opening and closing ------------------------------------------------------

    async def _accept(self, send: Send) -> bool:
        """Whether it is somebody who comes."""
        self.speaks_json = SUBPROTOCOL in self.scope.get("subprotocols", ())
        # Accepted first: a browser does not learn why a handshake was refused.
        await send(
            {"type": "websocket.accept", "subprotocol": SUBPROTOCOL if self.speaks_json else None}
        )
        self.conversation_id = str(self.scope["url_route"]["kwargs"].get("conversation_id", ""))
        follow_request(self.socket, self.conversation_id)
        # Strangers are told so before they wait in line, where members would wait for them.
        session = socket_session(self.scope)
        visitor = await services.visitors.get(session) if session else None
        if not visitor:
            return await self._close(LOGGED_OUT)
        self.user_id = visitor
        return True

    async def _enter(self) -> bool:
        """Whether they may see what they came for."""
        try:
            async with services.in_line(self.user_id):
                reader = await services.in_pool(self._make_reader)
        except ChatError:
            return await self._close(NOT_FOUND)
        if reader is None:
            return await self._close(LOGGED_OUT)
        self.reader = reader
        self.wire = JsonWire(reader) if self.speaks_json else HtmlWire(reader)
        return True

    def _make_reader(self) -> Reader | None:
        """Who reads here; nobody without a log-in."""
        user, self.session_key = socket_visitor(self.scope)
        if user is None or user.pk != self.user_id:
            return None
        if self.conversation_id:
            services.get_conversation(Caller(user.pk), self.conversation_id)
        return make_reader(user, socket_language(self.scope), zone=socket_zone(self.scope))

    async def _close(self, code: int) -> bool:
        await self.outbox.close(code)
        return False

    async def _close_for_good(self) -> None:
        """The conversation is gone, or no longer this person's. Whoever deleted it through this
        socket is given the reply first, however the socket has learnt of it."""
        async with self.commanding:
            await self._close(NOT_FOUND)

    async def _serve(self) -> None:
        self.subscription = await Subscription.open()
        # From the first moment: a log-out must reach a socket that has not attached too.
        await self.subscription.join([services.user_group(self.user_id)])
        helpers = [
            asyncio.create_task(self._or_close(helper))
            for helper in (self._pump, self._keep_column, self._keep_comparing)
        ]
        try:
            await self._listen()
        except asyncio.CancelledError:
            # The server goes down; the page comes back to the next one.
            await self._close(RESTARTING)
            raise
        finally:
            for helper in helpers:
                helper.cancel()
            await asyncio.wait(helpers)
            await self.subscription.close()
            await self._leave(closed=False)

    async def _or_close(self, helper: Callable[[], Awaitable[None]]) -> None:
        try:
            # Set once for all that this task draws.
            with self.reader.speaking():
                await helper()
        except ChatError:
            await self._close_for_good()
        except Exception:  # whatever broke, a socket that is told nothing more must not stay open
            log.exception("a socket's helper broke")
            await self._close(BROKEN)

    # --- coming in ----------------------------------------------------------------

    async def _listen(self) -> None:
        while True:
            message = await self.receive_message()
            if message["type"] == "websocket.disconnect":
                return
            if message["type"] == "websocket.receive" and not self.outbox.closed:
                async with self.commanding:
                    await self._command(message)

    async def _command(self, message: dict[str, Any]) -> None:
        """Do what a message asks for, and answer it."""
        name, client_id = "", ""
        try:
            reading = is_acknowledgement(message)
            if reading:
                self.read_allowance.spend()
            else:
                self._spend(message)
            values = parsed(message)
            name = str(values.get("command", ""))[:40]
            if reading and name != "ack":
                # It only looked like one: of two equal names in an object the last counts.
                self._spend(message)
            client_id = str(values.get("client_id") or "")[:64]
            command = COMMANDS.get(name)
            if command is None:
                raise ChatError("error.chat_unknown_command")
            reply = await command(self, self._caller(client_id, values), values)
            if isinstance(reply, str):
                await self.outbox.say([reply])
            elif reply is not None:
                await self.outbox.say(self.wire.reply(name, client_id, reply))
            self.refused = 0
        except ChatError as error:
            await self._refuse(name, client_id or id_at_end(message), error)
        except Exception:  # a page repeats what is not answered: this is the answer
            log.exception("the command %s broke", name)
            await self._refuse(name, client_id, ChatError("error.chat_command_failed"))

    def _spend(self, message: dict[str, Any]) -> None:
        """What this socket may still ask for, and its person through all of theirs."""
        self.allowance.spend()
        self.open_sockets.spend(message)

    def _caller(self, client_id: str, values: dict[str, Any]) -> Caller:
        head = values.get("head")
        return Caller(
            user_id=self.user_id,
            name=self.reader.name,
            tab_id=str(values.get("tab_id") or self.tab_id)[:100],
            client_id=client_id,
            head=head if isinstance(head, int) else None,
        )

    async def _refuse(self, name: str, client_id: str, error: ChatError) -> None:
        """Say why not; a flood is told once, and then shown the door."""
        services.count_refusal(error.key)
        self.refused += 1
        if self.refused > PATIENCE:
            await self._close(TOO_FAST)
        elif error.key != "error.chat_too_fast" or self.refused == 1:
            await self.outbox.say(self.wire.refuse(name, client_id, error))

    async def attach(self, caller: Caller, values: dict[str, Any]) -> None:
        """Join the conversation and bring the other end from what it shows to now."""
        if isinstance(self.wire, JsonWire):
            self.wire.speak(values.get("form"))
        self.tab_id = caller.tab_id
        if self.conversation_id:
            # Joined before reading: events in between come although the reading has them, and
            # are then known.
            await self.subscription.join([services.conversation_group(self.conversation_id)])
        async with self.telling:
            if self.conversation_id:
                await self._attach(caller, values)
            elif caller.tab_id:
                # Nothing is shown here, but the tab is open.
                await self._view(caller, values)
            if isinstance(self.wire, HtmlWire):
                self.wire.listed.shown(values.get("column"))
                self.wire.menu.shown(values.get("archived"))
                self.wire.read_mark.shown(values.get("was_read"))
                self.column_changed.set()

    async def _attach(self, caller: Caller, values: dict[str, Any]) -> None:
        # From here on events wait until the other end has been brought forward.
        self.attached = True
        # A program is given everything, whatever it has.
        page = isinstance(self.wire, HtmlWire)
        shown = Shown.from_json(values.get("shown")) if page else Shown()
        try:
            transcript = await self._transcript(shown.messages, returns=True)
            frames = await self.wire.attach(transcript, shown)
            await self.outbox.say(frames, self.wire.position.seq)
            await self._view(caller, values)
        except BaseException:
            # Nobody knows what the other end shows now: it must not be sent anything else.
            self.attached = False
            await self._close(BROKEN)
            raise

    async def list_more(self, rows: int, folder_id: str) -> None:
        """The end of the column, or of a folder in it, was reached: list so many."""
        if isinstance(self.wire, HtmlWire):
            self.wire.listed.list_more(rows, folder_id)
            self.column_changed.set()

    async def _view(self, caller: Caller, values: dict[str, Any]) -> None:
        hidden = values.get("hidden") is True
        async with services.in_line(self.user_id):
            await services.attach_view(caller, self.conversation_id, self.socket, hidden=hidden)
        self.viewer = caller

    async def detach(self) -> None:
        """The tab is closed, and says so."""
        async with self.telling:
            self.attached = False
        await self._leave(closed=True)

    async def _leave(self, *, closed: bool) -> None:
        viewer, self.viewer = self.viewer, None
        if viewer is not None:
            await services.leave_view(viewer, self.socket, closed=closed)

    async def acknowledge(self, frames: int) -> None:
        """The other end has read this many frames; one that was too far behind is caught up."""
        if self.outbox.acknowledge(frames):
            await self._go_on()

    async def acknowledge_events(self, seq: int) -> None:
        """The same from a program, which may count events instead."""
        if self.outbox.acknowledge_events(seq):
            await self._go_on()

    async def _go_on(self) -> None:
        """It has read all that it was sent before it was sent nothing more."""
        # The column may have changed since.
        self.column_changed.set()
        if self.attached:
            await self._catch_up("slow")

    # --- going out ----------------------------------------------------------------

    async def _pump(self) -> None:
        while True:
            match await self.subscription.receive():
                case services.Events(events=events):
                    await self._tell(events)
                case services.SidebarChanged():
                    self.column_changed.set()
                case services.LoggedOut(session=session) if session == self.session_key:
                    await self._close(LOGGED_OUT)
                case services.GoesDown():
                    await self._close(RESTARTING)
                case services.Missed():
                    self.column_changed.set()
                    await self._compare()
                case services.AccessChanged():
                    await self._close_to_the_unwelcome()

    async def _tell(self, events: Sequence[Event]) -> None:
        if _is_deleted(events):
            await self._close_for_good()
            return
        # A client that does not read is sent nothing more; later it gets the state of then.
        if self.outbox.is_full or not self.attached:
            return
        filled: Event | None = None
        async with self.telling:
            while events:
                frames, rest = await self.wire.tell(events)
                told, events = events[: len(events) - len(rest)], rest
                await self.outbox.say(frames, told[-1].seq if told else 0)
                if not events:
                    return
                # Once for each: whatever an event misses, it must not hold up the others.
                missing = events[0]
                if missing is filled or not await self._fill_gap(missing):
                    events = events[1:]
                filled = missing

    async def _fill_gap(self, event: Event) -> bool:
        """Read until what is stored has come up to the event (rows are half a second behind).

        Whether the event is still worth telling: one of a run that is over is late.
        """
        services.count_catch_up("gap")
        for _ in range(8):
            transcript = await self._bring_forward()
            if not event.seq or transcript.request_id != event.request_id:
                return False
            if transcript.seq >= event.seq - 1:
                return True
            await asyncio.sleep(0.25)
        return False

    async def _keep_column(self) -> None:
        """Apart from the events: no word waits until the column is read."""
        while True:
            await self.column_changed.wait()
            # Answers that begin or end now need the time more, and a change seldom comes alone.
            await asyncio.sleep(self.column_pause)
            self.column_changed.clear()
            wire = self.wire
            if isinstance(wire, HtmlWire) and not self.outbox.is_full:
                column = await wire.column(self.user_id, self.conversation_id)
                async with self.telling:
                    await self.outbox.say(await wire.sidebar(column))

    async def _catch_up(self, why: Literal["behind", "slow"]) -> None:
        services.count_catch_up(why)
        async with self.telling:
            await self._bring_forward()

    async def _bring_forward(self) -> Transcript:
        """From what the other end has to what is stored now."""
        transcript = await self._transcript(self.wire.shown())
        frames = await self.wire.catch_up(transcript)
        await self.outbox.say(frames, self.wire.position.seq)
        return transcript

    async def _transcript(self, shown: Collection[int], *, returns: bool = False) -> Transcript:
        """What is stored now, for a page that shows this much. Whoever returns waits in line, and
        so does a page for which much is read."""
        waits = returns or len(shown) > MANY
        async with services.in_line(self.user_id) if waits else nullcontext():
            return await services.transcript_for_page(
                Caller(self.user_id), self.conversation_id, shown
            )

    async def _keep_comparing(self) -> None:
        """A lost first or last event leaves no gap behind it: compare now and then."""
        rounds = max(1, round(self.compare_column_every / self.compare_every))
        for number in itertools.count(1):
            await asyncio.sleep(self.compare_every)
            if number % rounds == 0:
                self.column_changed.set()
            await self._compare()

    async def _compare(self) -> None:
        """What the other end has with what is stored."""
        try:
            await self._look_for_differences()
        except (DatabaseError, InterfaceError):
            log.warning("a socket could not compare itself with the database", exc_info=True)

    async def _look_for_differences(self) -> None:
        if await self._close_to_the_unwelcome():
            return
        if services.is_visit_due(self.session_key):
            # A tab that is only looked at is used as well.
            await services.in_writer(services.note_visit, self.user_id, self.session_key)
        await self._speak()
        if not self.attached or self.outbox.is_full:
            return
        digest = await services.digests.get(self.conversation_id)
        if digest is None:
            await self._close_for_good()
        elif is_behind(self.wire, digest):
            await self._catch_up("behind")

    async def _speak(self) -> None:
        is_silent = time.monotonic() - self.outbox.said_at >= self.speak_every
        if isinstance(self.wire, HtmlWire) and is_silent and not self.outbox.is_full:
            async with self.telling:
                await self.outbox.say([STILL_HERE])

    async def _close_to_the_unwelcome(self) -> bool:
        """Close where this session no longer lets its person in; whether that was so."""
        if await services.welcomes.get((self.user_id, self.session_key)):
            return False
        await self._close(LOGGED_OUT)
        return True


def _is_deleted(events: Sequence[Event]) -> bool:
    # Asked with every frame of every tab: a generator would cost more than all it looks at.
    for event in events:  # noqa: SIM110
        if isinstance(event, Deleted):
            return True
    return False
