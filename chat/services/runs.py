"""A run in this process: the engine's changes, told in frames and kept in rows."""

import asyncio
from dataclasses import dataclass
from typing import Any

from chat.engine.assembly import Assembly
from chat.engine.changes import Change, PartGrew
from chat.protocol.events import Event, EventName
from chat.protocol.messages import WithParts
from chat.protocol.parts import ReasoningPart, StepFinishPart, TextPart, ToolPart
from chat.services.assignment import Assignment
from chat.services.broadcast import publish
from chat.services.frames import Frames
from chat.services.pace import pace
from chat.services.settle import Placed

# A frame waits longer while it holds next to nothing: below about eight characters its
# wrapping would weigh more than its words.
SHORT_FRAME = 8
SHORT_FRAME_WAIT = 0.1


@dataclass(frozen=True, slots=True)
class Stop:
    """Who ended a run before its end, or why nobody did: `unwatched`, `shutdown`."""

    by_id: str = ""
    by: str = ""
    reason: str = ""

    def as_json(self) -> dict[str, str]:
        return {"by_id": self.by_id, "by": self.by, "reason": self.reason}


class Run:
    """One answer being written; the process holds it by `RUNS` until it has ended."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.info = assignment.info
        # What the model is told of the conversation; shortened when it would not fit.
        self.history = assignment.history
        self.conversation_id = assignment.info.session_id
        self.request_id = assignment.request_id
        self.assembly = Assembly(
            self.conversation_id,
            assignment.info.id,
            assignment.parts,
            prices=assignment.model.prices,
            taken_call_ids={
                tool.call_id for message in assignment.history for tool in message.tools
            },
        )
        self.frames = Frames(self.event)
        self.seq = 0
        self.rev = assignment.rev
        self.stopped: Stop | None = None
        self.lost = False
        self.begun = False
        self.ending = False
        self.task: asyncio.Task[None] | None = None
        self._dirty: set[int] = set()
        self._last_frame = 0.0
        self._written = sum(len(getattr(part, "text", "")) for part in assignment.parts)
        self._timer: asyncio.TimerHandle | None = None
        self._order = asyncio.Lock()
        self._sending: set[asyncio.Task[None]] = set()

    # --- telling ------------------------------------------------------------------

    def event(self, name: EventName, body: dict[str, Any]) -> Event:
        self.seq += 1
        return Event(
            name=name,
            conversation_id=self.conversation_id,
            rev=self.rev,
            tab_id=self.assignment.tab_id,
            request_id=self.request_id,
            seq=self.seq,
            message_id=self.info.id,
            body=body,
        )

    def note(self, change: Change) -> bool:
        """Take a change in; whether its rows should be written at once."""
        self._dirty.add(change.position)
        if isinstance(change, PartGrew):
            # Somebody waits for the first words: they do not wait for company.
            self._stir(urgent=self.frames.grew(change))
            return False
        self._stir(urgent=self.frames.changed(change))
        return isinstance(change.part, StepFinishPart | ToolPart)

    def tell(self, name: EventName, **body: Any) -> None:
        """Tell something that is not a change of parts, at once."""
        self.frames.add(name, body)
        self._stir(urgent=True)

    def _stir(self, *, urgent: bool) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        wait = pace.wait(self._written)
        if self.frames.size < SHORT_FRAME:
            wait = max(SHORT_FRAME_WAIT, wait)
        due = now if urgent else self._last_frame + wait
        if due <= now:
            self.hurry()
        elif self._timer is None or due < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due, self._on_time, due)

    def _on_time(self, due: float) -> None:
        pace.late(asyncio.get_running_loop().time() - due)
        self._timer = None
        self.hurry()

    def hurry(self) -> None:
        """Send what is waiting."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        # A run that another process has settled says nothing any more.
        if self.lost or not self.frames:
            return
        self._last_frame = asyncio.get_running_loop().time()
        self._written += self.frames.size
        task = asyncio.create_task(self._publish(self.frames.take()))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _publish(self, events: list[Event]) -> None:
        # A layer that waits on a network must not let a later frame pass an earlier one.
        async with self._order:
            await publish(self.conversation_id, events)

    async def drained(self) -> None:
        """Send what is waiting and see it gone."""
        self.hurry()
        while self._sending:
            await asyncio.wait(self._sending)

    # --- keeping ------------------------------------------------------------------

    def take_dirty(self) -> list[Placed]:
        """The parts whose rows are behind; whoever fails to write them puts them back."""
        dirty, self._dirty = self._dirty, set()
        parts = self.assembly.parts() if dirty else ()
        return [(position, parts[position]) for position in sorted(dirty)]

    def put_back(self, placed: list[Placed]) -> None:
        self._dirty.update(position for position, _ in placed)

    def has_spoken(self) -> bool:
        """Whether this run has added anything that a person could have read."""
        added = self.assembly.parts()[len(self.assignment.parts) :]
        return any(isinstance(part, TextPart | ReasoningPart | ToolPart) for part in added)

    def so_far(self) -> WithParts:
        """The answer as it stands, for the next request and for whoever joins now."""
        return WithParts(info=self.info, parts=self.assembly.parts())

    # --- ending -------------------------------------------------------------------

    def stop(self, stop: Stop) -> None:
        """Cancel the model call and its tools; what was said is kept."""
        if self.stopped is None and not self.ending:
            self.stopped = stop
            self._cancel()

    def lose(self) -> None:
        """Another process has settled this run: say and write nothing any more."""
        self.lost = True
        self._cancel()

    def _cancel(self) -> None:
        # A task cancelled before its first step would never come to its end.
        if self.task is not None and self.begun:
            self.task.cancel()


RUNS: dict[str, Run] = {}


def hold(run: Run) -> None:
    RUNS[run.conversation_id] = run
    pace.runs = len(RUNS)


def release(run: Run) -> None:
    """Let go of a run that has ended, unless another has taken its place."""
    if RUNS.get(run.conversation_id) is run:
        del RUNS[run.conversation_id]
        pace.runs = len(RUNS)
