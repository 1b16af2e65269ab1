"""Changes become events, and small deltas fewer, larger ones."""

import json
from collections.abc import Callable
from typing import Any

from chat.engine.changes import PartClosed, PartGrew, PartOpened, ToolChanged
from chat.protocol.events import Event, EventName
from chat.protocol.parts import Part, ReasoningPart, TextPart, ToolPart
from chat.protocol.tool_state import ToolCompleted, ToolError, ToolPending
from chat.protocol.validation import part_to_json

MakeEvent = Callable[[EventName, dict[str, Any]], Event]


class Growth:
    """A delta that is still growing: the next piece of the same part joins it."""

    __slots__ = ("body", "name", "pieces")

    def __init__(self, name: EventName, position: int, part_id: str, offset: int) -> None:
        self.name = name
        self.pieces: list[str] = []
        self.body: dict[str, Any] = {"part_id": part_id, "position": position, "offset": offset}


class Frames:
    """What has changed since the last frame, in order."""

    def __init__(self, make_event: MakeEvent) -> None:
        self._make_event = make_event
        self._waiting: list[Growth | tuple[EventName, dict[str, Any]]] = []
        self._open: dict[int, Growth] = {}
        self._times: dict[int, dict[str, int]] = {}
        self.size = 0

    def grew(self, change: PartGrew) -> bool:
        """Note a growth; whether these are the first words of a part."""
        growth = self._open.get(change.position)
        if growth is None:
            name: EventName = "chat:chunk" if change.kind == "text" else "chat:thinking"
            growth = Growth(name, change.position, change.part_id, change.offset)
            time = self._times.pop(change.position, None)
            if time:
                growth.body["time"] = time
            self._open[change.position] = growth
            self._waiting.append(growth)
        growth.pieces.append(change.delta)
        self.size += len(change.delta)
        return change.offset == 0

    def add(self, name: EventName, body: dict[str, Any]) -> None:
        self._waiting.append((name, body))
        # What comes later must not be told before this.
        self._open.clear()

    def changed(self, change: PartOpened | PartClosed | ToolChanged) -> bool:
        """Note a change; whether it is worth a frame of its own."""
        part, position = change.part, change.position
        if isinstance(part, ToolPart):
            self.add("chat:tool", tool_body(part, position))
            return True
        if isinstance(part, TextPart | ReasoningPart):
            return self._text(change, part, position)
        kind = "start" if part.type == "step-start" else "finish"
        self.add("chat:step", {"type": kind, **part_body(part, position)})
        return False

    def _text(
        self,
        change: PartOpened | PartClosed | ToolChanged,
        part: TextPart | ReasoningPart,
        position: int,
    ) -> bool:
        """An open text is told by its first words; its end is told with its last."""
        time = part.time.model_dump(exclude_none=True) if part.time else {}
        if isinstance(change, PartOpened):
            self._times[position] = time
            return False
        growth = self._open.get(position)
        name: EventName = "chat:chunk" if isinstance(part, TextPart) else "chat:thinking"
        if growth is None:
            growth = Growth(name, position, part.id, len(part.text))
            self._waiting.append(growth)
        growth.body |= {"done": True, "time": time}
        self._open.pop(position, None)
        return False

    def take(self) -> list[Event]:
        """The events of the next frame."""
        waiting, self._waiting = self._waiting, []
        self._open.clear()
        self.size = 0
        return [self._event(entry) for entry in waiting]

    def _event(self, entry: "Growth | tuple[EventName, dict[str, Any]]") -> Event:
        if isinstance(entry, Growth):
            return self._make_event(entry.name, {**entry.body, "delta": "".join(entry.pieces)})
        return self._make_event(*entry)

    def __bool__(self) -> bool:
        return bool(self._waiting)


def tool_body(part: ToolPart, position: int) -> dict[str, Any]:
    match part.state:
        case ToolPending():
            kind, result = "call", None
        case ToolCompleted(output=text):
            kind, result = "result", text
        case ToolError(error=text):
            kind, result = "result", text
        case _:
            kind, result = "state", None
    return {
        "type": kind,
        "tool_call_id": part.call_id,
        "tool_name": part.tool,
        "args_json": json.dumps(part.state.input, ensure_ascii=False),
        "result_json": None if result is None else json.dumps(result, ensure_ascii=False),
        **part_body(part, position),
    }


def part_body(part: Part, position: int) -> dict[str, Any]:
    return {"part_id": part.id, "position": position, "part": part_to_json(part)}
