"""How far somebody has followed a conversation: the one rule for new, known and missed events.

Channel layers lose, double and reorder what they carry. Whoever follows a conversation keeps a
`Position` and asks it about every event that comes. The answer is the event as far as it is
new, nothing when all of it is known, or `Gap` when something before it was missed: then the
conversation is read from the database, and the position told of it by `read`.
"""

from collections import deque
from dataclasses import replace
from typing import assert_never

from chat.protocol.events import (
    Choice,
    Chunk,
    Complete,
    ConversationEvent,
    Deleted,
    Delta,
    Edited,
    Ending,
    Error,
    Event,
    Kept,
    Queue,
    Retry,
    RunEvent,
    Start,
    Step,
    Stopped,
    Thinking,
    Title,
    Tool,
    UserMessage,
)
from chat.protocol.parts import ReasoningPart, TextPart
from chat.protocol.transcript import Transcript

# How many finished requests are remembered, so that what still comes of them is known as late.
REMEMBERED = 8


# A run whose process died goes on in another one with the next multiple of this as its `seq`: the
# last words of the dead may not have been stored, and whoever has them must read again.
TAKEN_OVER = 10_000_000


class Gap(Exception):
    """Something was missed: read the conversation again."""


class Position:
    """The last revision, the running request and its last event, and the lengths of its texts."""

    def __init__(self) -> None:
        self.rev = -1
        self.request_id = ""
        self.seq = 0
        # Of the running answer, by the position of the part.
        self.lengths: dict[int, int] = {}
        self._ended: deque[str] = deque(maxlen=REMEMBERED)

    def accept(self, event: Event) -> Event | None:
        """The event as far as it is new, and move on; nothing changes when it raises `Gap`."""
        match event:
            # Nearly all are of the first kind: what comes most often is looked for first.
            case (
                Chunk() | Thinking() | Tool() | Step() | Start() | Retry()
                | Complete() | Stopped() | Error()
            ):  # fmt: skip
                return self._accept_in_run(event)
            case (
                UserMessage() | Edited() | Queue() | Title() | Choice() | Kept() | Deleted()
            ):  # fmt: skip
                return self._accept_in_conversation(event)
            case _:
                assert_never(event)

    def read(self, transcript: Transcript, *, replaces: bool = False) -> None:
        """The conversation was read: from here on the events after this reading are new.

        Rows of another process's run are behind the events that have come already. A page keeps
        what it shows beyond them; where the reading `replaces` everything, it counts alone.
        """
        same = self.request_id == transcript.request_id and not replaces
        # What was told by a process that died counts no more.
        same = same and self.seq // TAKEN_OVER >= transcript.seq // TAKEN_OVER
        if self.request_id and self.request_id != transcript.request_id:
            self._ended.append(self.request_id)
        self.seq = max(self.seq if same else 0, transcript.seq)
        self.lengths = {**(self.lengths if same else {}), **self._lengths_in(transcript, same)}
        self.rev = transcript.rev
        self.request_id = transcript.request_id

    def is_ahead_of(self, transcript: Transcript) -> bool:
        """Whether more events have come than were stored when this was read."""
        same = (self.rev, self.request_id) == (transcript.rev, transcript.request_id)
        return same and transcript.seq < self.seq

    def differs_from(self, rev: int, request_id: str, seq: int) -> bool:
        """Whether the database says otherwise. Events come before their rows, so a lower `seq`
        there is no difference."""
        return (self.rev, self.request_id) != (rev, request_id) or self.seq < seq

    def _accept_in_conversation(self, event: ConversationEvent) -> ConversationEvent | None:
        if event.rev <= self.rev:
            return None
        if event.rev > self.rev + 1:
            raise Gap
        self.rev = event.rev
        return event

    def _accept_in_run(self, event: RunEvent) -> RunEvent | None:
        if event.request_id in self._ended:
            return None
        if event.request_id != self.request_id:
            return self._accept_start(event)
        if isinstance(event, Ending):
            return self._accept_ending(event)
        if event.seq <= self.seq:
            return None
        if event.seq > self.seq + 1:
            raise Gap
        if isinstance(event, Delta):
            return self._accept_delta(event)
        self.seq = event.seq
        return event

    def _accept_start(self, event: RunEvent) -> Start:
        """A request begins when none is running, after the message that it answers."""
        if not isinstance(event, Start) or self.request_id or event.rev != self.rev:
            raise Gap
        self.request_id, self.seq, self.lengths = event.request_id, event.seq, {}
        return event

    def _accept_ending(self, event: Ending) -> Ending:
        # The end of a run whose process died is told by another one, which knows only what
        # was stored: its `seq` may be lower than what has come.
        if event.seq != self.seq + 1 or event.rev > self.rev + 1:
            raise Gap
        self._ended.append(event.request_id)
        self.rev, self.request_id, self.seq = max(self.rev, event.rev), "", 0
        self.lengths = {}
        return event

    def _accept_delta(self, event: Chunk | Thinking) -> Chunk | Thinking:
        length = self.lengths.get(event.position, 0)
        if event.offset > length:
            raise Gap
        self.seq = event.seq
        self.lengths[event.position] = max(length, event.offset + len(event.delta))
        if event.offset == length:
            return event
        return replace(event, offset=length, delta=event.delta[length - event.offset :])

    def _lengths_in(self, transcript: Transcript, same: bool) -> dict[int, int]:
        if not transcript.running or not transcript.messages:
            return {}
        known = self.lengths if same else {}
        return {
            position: max(len(part.text), known.get(position, 0))
            for position, part in enumerate(transcript.messages[-1].parts)
            if isinstance(part, TextPart | ReasoningPart)
        }
