"""A run in this process: an answer being written, told in frames and kept in rows."""

import asyncio
import time
from typing import TYPE_CHECKING

from chat.engine.assembly import Assembly
from chat.engine.changes import Change, PartGrew
from chat.protocol.events import Edited, Event, Heading, Retry, RunEvent, Start, UserMessage
from chat.protocol.ids import now_ms
from chat.protocol.messages import WithParts
from chat.protocol.parts import ReasoningPart, TextPart, ToolPart
from chat.protocol.stopped import StoppedBy
from chat.services.background import Background
from chat.services.broadcast import publish, put_at_once
from chat.services.runs.frames import Frames
from chat.services.runs.pace import pace
from chat.services.runs.rows import Placed
from chat.services.runs.spec import RunSpec

if TYPE_CHECKING:
    from chat.services.telemetry.spans import RunSpans

# A frame waits a little longer while it holds next to nothing: with fewer than five characters in
# each a tab would be sent more than fourteen bytes for a character, nearly all of them wrapping.
SHORT_FRAME = 5
SHORT_FRAME_WAITS = 0.060
# Whoever sends more than so many characters in a frame is read without a pause: ten times as fast
# as people read, a provider would fill what may lie here unread, and have to wait.
MUCH = 250


class Run:
    """One answer being written; the process holds it in `RUNS` until it has ended."""

    def __init__(self, spec: RunSpec) -> None:
        self.spec = spec
        self.info = spec.info
        # What the model is told of the conversation; shortened when it would not fit.
        self.history = spec.history
        self.conversation_id = spec.info.session_id
        self.request_id = spec.request_id
        self.assembly = Assembly(
            self.conversation_id,
            spec.info.id,
            spec.parts,
            prices=spec.model.prices,
            taken_call_ids={tool.call_id for message in spec.history for tool in message.tools},
        )
        # What is told before anything else: of the messages that this run answers.
        self._before: list[Event] = []
        self.frames = Frames(self.conversation_id)
        self.seq = spec.seq
        self.rev = spec.rev
        self.stopped: StoppedBy | None = None
        # The provider failed and will be asked again. No row says so: who joins meanwhile is told
        # of it from here.
        self.retry: Retry | None = None
        # Set by somebody who does not want to wait until then.
        self.try_now = asyncio.Event()
        # Where an operator traces: the span of this answer.
        self.spans: RunSpans | None = None
        # Another process has settled this run, or goes on with it.
        self.lost = False
        # The process goes down, and another shall go on with this run: this one, if it can.
        self.leaving = False
        self.successor = ""
        self.began_at = time.monotonic()
        self.begun = False
        self.ending = False
        self.task: asyncio.Task[None] | None = None
        self._dirty: set[int] = set()
        # When the next frame may leave.
        self._due = 0.0
        self._last_size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._order = asyncio.Lock()
        self._sending = Background()

    # --- telling ------------------------------------------------------------------

    def begin(self, asked: UserMessage | Edited) -> None:
        """Tell what was asked, and that the answer begins."""
        self._before.append(asked)
        self.tell(
            Start(
                conversation_id=self.conversation_id,
                position=self.info.position,
                user_message_id=self.info.parent_id or "",
                info=self.info,
            )
        )

    def note(self, change: Change) -> bool:
        """Take a change in; whether its rows should be written at once."""
        self._dirty.add(change.position)
        self.retry = None
        if isinstance(change, PartGrew):
            # Somebody waits for the first words: they do not wait for company.
            self._schedule(urgent=self.frames.grew(change))
            return False
        self._schedule(urgent=self.frames.changed(change))
        # The end of a step is written with what follows it: its tools, or the end of the answer.
        return isinstance(change.part, ToolPart)

    def tell(self, event: RunEvent) -> None:
        """Tell something that is not a change of parts, at once."""
        if isinstance(event, Retry):
            self.retry = event
        self.frames.add(event)
        self._schedule(urgent=True)

    def _next_heading(self) -> Heading:
        """The header of this run with the next `seq`."""
        self.seq += 1
        return Heading(
            conversation_id=self.conversation_id,
            rev=self.rev,
            tab_id=self.spec.tab_id,
            request_id=self.request_id,
            seq=self.seq,
            message_id=self.info.id,
            ts=now_ms(),
        )

    def _schedule(self, *, urgent: bool) -> None:
        """Send a frame now, or when the last one is long enough ago."""
        loop = asyncio.get_running_loop()
        now, due = loop.time(), self._due
        if due <= now and self.frames.size < SHORT_FRAME:
            due += SHORT_FRAME_WAITS
        if urgent or due <= now:
            self.flush_now()
        elif self._timer is None:
            self._timer = loop.call_at(due, self._on_time, due)

    async def rest(self) -> None:
        """Wait until the next frame may leave, unless much is coming: what the provider sends
        meanwhile is then read, joined and told at once, instead of each token by itself."""
        loop = asyncio.get_running_loop()
        due, now = self._due, loop.time()
        if self._last_size < MUCH and due > now:
            await asyncio.sleep(due - now)
            pace.late(loop.time() - due)

    def _on_time(self, due: float) -> None:
        pace.late(asyncio.get_running_loop().time() - due)
        self._timer = None
        self._schedule(urgent=False)

    def flush_now(self) -> None:
        """Send what is waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # A run that another process has settled tells nothing any more.
        if self.lost or not self.frames:
            return
        self._due = pace.next_frame(asyncio.get_running_loop().time())
        self._last_size = self.frames.size
        events = [*self._before, *self.frames.take(self._next_heading)]
        self._before.clear()
        if not put_at_once(self.conversation_id, events):
            self._sending.spawn(self._publish(events), f"frame of {self.request_id}")

    async def _publish(self, events: list[Event]) -> None:
        # A layer that waits on a network must not let a later frame pass an earlier one.
        async with self._order:
            await publish(self.conversation_id, events)

    async def drained(self) -> None:
        """Send what is waiting and see it gone."""
        self.flush_now()
        while self._sending:
            await self._sending.finish()

    # --- keeping ------------------------------------------------------------------

    def take_dirty(self) -> list[Placed]:
        """The parts whose rows are behind; whoever fails to write them puts them back."""
        dirty, self._dirty = self._dirty, set()
        parts = self.assembly.parts() if dirty else ()
        return [(position, parts[position]) for position in sorted(dirty)]

    def put_back(self, placed: list[Placed]) -> None:
        self._dirty.update(position for position, _ in placed)

    def has_written(self) -> bool:
        """Whether this run has added anything that a person could have read."""
        added = self.assembly.parts()[len(self.spec.parts) :]
        return any(isinstance(part, TextPart | ReasoningPart | ToolPart) for part in added)

    def so_far(self) -> WithParts:
        """The answer as it stands, for the next request and for whoever joins now."""
        return WithParts(info=self.info, parts=self.assembly.parts())

    # --- ending -------------------------------------------------------------------

    def stop(self, stop: StoppedBy) -> None:
        """Cancel the model call and its tools; what was written is kept."""
        if self.stopped is None and not self.ending:
            self.stopped = stop
            self._cancel()

    @property
    def attempt(self) -> tuple[str, int]:
        """Which run this is, and how often others have gone on with it before."""
        return self.request_id, self.spec.attempt

    @property
    def is_free(self) -> bool:
        """Whether it can be left now: none of our tools is at work."""
        return not self.assembly.runs_calls

    def leave(self, successor: str = "") -> None:
        """Come to an end here as soon as no tool is at work, so that another goes on."""
        self.leaving, self.successor = True, successor
        if self.is_free:
            self.leave_now()

    def leave_now(self) -> None:
        if self.stopped is None and not self.ending:
            self._cancel()

    def lose(self) -> None:
        """Another process has settled this run: tell and write nothing any more."""
        self.lost = True
        self._cancel()

    def _cancel(self) -> None:
        # A task cancelled before its first step would never come to its end.
        if self.task is not None and self.begun:
            self.task.cancel()


RUNS: dict[str, Run] = {}


def hold(run: Run) -> None:
    RUNS[run.conversation_id] = run


def release(run: Run) -> None:
    """Let go of a run that has ended, unless another has taken its place."""
    if RUNS.get(run.conversation_id) is run:
        del RUNS[run.conversation_id]
