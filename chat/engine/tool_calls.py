"""The calls of one step: which part is which call, whatever ids the server gives them."""

from collections.abc import Iterator
from dataclasses import replace

from chat.protocol import tool_state
from chat.protocol.factories import create_pending, create_tool_part
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolCall, ToolCallStart, ToolResult
from chat.protocol.notes import PartNotes, part_notes, with_part_notes
from chat.protocol.outcome import ended
from chat.protocol.parts import ToolPart
from chat.protocol.reasons import reason
from chat.protocol.text import clean_json, clean_text
from chat.protocol.tool_state import ToolPending, ToolRunning, ToolState

# The columns that hold them end here.
LONGEST = 200
NAMELESS = "unknown"
CUT_OFF = "The call was cut off before its arguments were complete."
NO_RESULT = "The provider gave no result for this call."


class ToolCalls:
    def __init__(self, session_id: str, message_id: str, taken: set[str]) -> None:
        self._session_id = session_id
        self._message_id = message_id
        self._taken = taken
        self._places: dict[str, int] = {}
        # The ids that calls have here, by the ids that the server gave them.
        self._own_ids: dict[str, str] = {}
        self._raw: dict[int, list[str]] = {}
        self._provider_runs: set[int] = set()
        self._in_answer: set[int] = set()
        self.provider_answered = False

    def new_step(self) -> None:
        self._places.clear()
        self._raw.clear()
        self._provider_runs.clear()
        self._in_answer.clear()
        self.provider_answered = False

    def take(self, call_id: str, position: int) -> None:
        """A call of ours that another process has begun."""
        self._places[call_id] = position

    def position(self, call_id: str) -> int | None:
        return self._places.get(call_id)

    def all(self) -> list[int]:
        return list(self._places.values())

    def ours(self) -> list[int]:
        """The calls that we run; the others are run by the provider."""
        return [place for place in self._places.values() if place not in self._provider_runs]

    def open(self, event: ToolCallStart | ToolCall, position: int) -> ToolPart:
        """A new part for a call; an id that is taken, or no id, gets a fresh one (BR-02)."""
        self._places[event.call_id] = position
        self._raw[position] = []
        own = clean_text(event.call_id)
        notes = PartNotes(parent_call_id=self._parent(event), by_provider=event.in_answer)
        if not own or len(own) > LONGEST or own in self._taken:
            notes = replace(notes, original_call_id=own)
            own = f"call_{new_id()}"
        self._taken.add(own)
        self._own_ids[event.call_id] = own
        metadata = event.metadata if isinstance(event, ToolCall) else None
        return create_tool_part(
            self._session_id,
            self._message_id,
            own,
            _name(event.name),
            create_pending({}, ""),
            metadata=with_part_notes(clean_json(metadata), notes),
        )

    def _parent(self, event: ToolCallStart | ToolCall) -> str:
        parent = event.parent_call_id
        return self._own_ids.get(parent) or clean_text(parent)[:LONGEST]

    def add_arguments(self, call_id: str, arguments: str) -> None:
        """A piece of the arguments, which are still being written."""
        place = self._places.get(call_id)
        if place in self._raw:
            self._raw[place].append(arguments)

    def raw(self) -> Iterator[tuple[int, str]]:
        return ((place, clean_text("".join(pieces))) for place, pieces in self._raw.items())

    def complete(self, event: ToolCall) -> None:
        place = self._places[event.call_id]
        self._raw.pop(place, None)
        if event.by_provider or event.in_answer:
            self._provider_runs.add(place)
        if event.in_answer:
            self._in_answer.add(place)

    def answered(self, call_id: str) -> None:
        """The provider gave the result itself, so the call was never ours."""
        place = self._places.get(call_id)
        if place is not None:
            self._provider_runs.add(place)
            self.provider_answered |= place not in self._in_answer

    def named(self, part: ToolPart, event: ToolCall) -> ToolPart:
        """The part with the name and the metadata that are known only with the whole call."""
        notes = part_notes(part)
        if event.in_answer:
            notes = replace(notes, by_provider=True)
        if event.parent_call_id:
            notes = replace(notes, parent_call_id=self._parent(event))
        metadata = {**(part.metadata or {}), **clean_json(event.metadata or {})}
        name = _name(event.name) if event.name.strip() else part.tool
        changes = {"metadata": with_part_notes(metadata, notes), "tool": name}
        return part.model_copy(update=changes)

    def arguments(self, event: ToolCall) -> JsonObject:
        cleaned = clean_json(event.arguments)
        return cleaned if isinstance(cleaned, dict) else {"value": cleaned}


def _name(name: str) -> str:
    return clean_text(name).strip()[:LONGEST] or NAMELESS


def with_raw(part: ToolPart, raw: str) -> ToolPart:
    """The pending call with the arguments that have come so far."""
    if not isinstance(part.state, ToolPending):
        return part
    return part.model_copy(update={"state": part.state.model_copy(update={"raw": raw})})


def if_lost(state: ToolState, ours: bool, now: int) -> ToolState | None:
    """The failed state of a call that gets no result, once the model's reply is complete."""
    if isinstance(state, ToolPending):
        cut_off = ToolResult.failed(CUT_OFF, reason("cut_off"))
        return ended(tool_state.run(state, now), now, cut_off)
    if isinstance(state, ToolRunning) and not ours:
        return ended(state, now, ToolResult.failed(NO_RESULT, reason("no_result")))
    return None
