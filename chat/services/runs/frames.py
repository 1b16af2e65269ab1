"""The engine's changes become events, and small deltas fewer, larger ones."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from chat.engine.changes import PartClosed, PartGrew, PartOpened, ToolChanged
from chat.protocol.citations import Citation
from chat.protocol.events import Chunk, Heading, RunEvent, Step, Thinking, Tool
from chat.protocol.notes import part_notes
from chat.protocol.parts import (
    FilePart,
    OpenSpan,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.projections import result_json
from chat.protocol.tool_state import ToolCompleted, ToolError, ToolPending

# Where the next event belongs: the header of the run, and the next `seq`.
NextHeading = Callable[[], Heading]


@dataclass(slots=True)
class Growth:
    """A delta that is still growing: the next piece of the same part joins it."""

    kind: type[Chunk] | type[Thinking]
    part_id: str
    position: int
    offset: int
    pieces: list[str] = field(default_factory=list)
    done: bool = False
    time: OpenSpan | None = None
    citations: tuple[Citation, ...] = ()

    def event(self, heading: Heading) -> Chunk | Thinking:
        event = self.kind(
            **heading,
            part_id=self.part_id,
            position=self.position,
            offset=self.offset,
            delta="".join(self.pieces),
            done=self.done,
            time=self.time,
        )
        if self.citations and isinstance(event, Chunk):
            return replace(event, citations=self.citations)
        return event


class Frames:
    """What has changed since the last frame, in order."""

    def __init__(self, conversation_id: str) -> None:
        self._conversation_id = conversation_id
        self._waiting: list[Growth | RunEvent] = []
        self._open: dict[int, Growth] = {}
        self._times: dict[int, OpenSpan] = {}
        self._called: set[int] = set()
        # How many characters are waiting.
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def grew(self, change: PartGrew) -> bool:
        """Note a growth; whether these are the first words of a part."""
        growth = self._open.get(change.position)
        if growth is None:
            growth = Growth(
                Chunk if change.kind == "text" else Thinking,
                change.part_id,
                change.position,
                change.offset,
                time=self._times.pop(change.position, None),
            )
            self._open[change.position] = growth
            self._waiting.append(growth)
        growth.pieces.append(change.delta)
        self.size += len(change.delta)
        return change.offset == 0

    def changed(self, change: PartOpened | PartClosed | ToolChanged) -> bool:
        """Note a change; whether it is worth a frame of its own."""
        match change.part:
            case ToolPart() as part:
                self.add(self._tool(part, change.position))
                return True
            case TextPart() | ReasoningPart() as part:
                self._text(part, change.position, opened=isinstance(change, PartOpened))
            case StepStartPart() | StepFinishPart() as part:
                self.add(self._step(part, change.position))
            case FilePart():
                # An answer has no files of its own yet.
                pass
        return False

    def add(self, event: RunEvent) -> None:
        self._waiting.append(event)
        # What comes later must not be told before this.
        self._open.clear()

    def take(self, next_heading: NextHeading) -> list[RunEvent]:
        """The events of the next frame, each put in its place."""
        waiting, self._waiting = self._waiting, []
        self._open.clear()
        self.size = 0
        return [
            entry.event(next_heading())
            if isinstance(entry, Growth)
            else replace(entry, **next_heading())
            for entry in waiting
        ]

    def _text(self, part: TextPart | ReasoningPart, position: int, *, opened: bool) -> None:
        """An open text is told by its first words; its end is told with its last."""
        time = OpenSpan(start=part.time.start, end=part.time.end) if part.time else OpenSpan()
        if opened:
            self._times[position] = time
            return
        growth = self._open.pop(position, None)
        if growth is None:
            kind = Chunk if isinstance(part, TextPart) else Thinking
            growth = Growth(kind, part.id, position, len(part.text))
            self._waiting.append(growth)
        growth.done, growth.time = True, time
        if isinstance(part, TextPart) and part.metadata:
            # What a model wants back is nothing for those who read.
            growth.citations = tuple(each.without_raw() for each in part_notes(part).citations)

    def _tool(self, part: ToolPart, position: int) -> Tool:
        state = part.state
        ended = isinstance(state, ToolCompleted | ToolError)
        # A call is told as such once its arguments are whole, which is when it begins to run.
        first = not isinstance(state, ToolPending) and position not in self._called
        if not isinstance(state, ToolPending):
            self._called.add(position)
        return Tool(
            conversation_id=self._conversation_id,
            type="result" if ended else "call" if first else "state",
            part_id=part.id,
            position=position,
            tool_call_id=part.call_id,
            tool_name=part.tool,
            args_json=json.dumps(state.input, ensure_ascii=False),
            result_json=result_json(state)
            if isinstance(state, ToolCompleted | ToolError)
            else None,
            part=part,
        )

    def _step(self, part: StepStartPart | StepFinishPart, position: int) -> Step:
        return Step(
            conversation_id=self._conversation_id,
            type="start" if isinstance(part, StepStartPart) else "finish",
            part_id=part.id,
            position=position,
            part=part,
        )
