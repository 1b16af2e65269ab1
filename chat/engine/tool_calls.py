"""The calls of one step: which part is which call, whatever ids the server gives them."""

from collections.abc import Iterator

from chat.protocol import tool_state
from chat.protocol.factories import create_pending, create_tool_part
from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolCall
from chat.protocol.parts import ToolPart
from chat.protocol.text import clean_json, clean_text
from chat.protocol.tool_state import JsonObject, ToolPending, ToolRunning, ToolState

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
        self._raw: dict[int, list[str]] = {}
        self._provider_runs: set[int] = set()
        self.provider_answered = False

    def new_step(self) -> None:
        self._places.clear()
        self._raw.clear()
        self._provider_runs.clear()
        self.provider_answered = False

    def position(self, call_id: str) -> int | None:
        return self._places.get(call_id)

    def all(self) -> list[int]:
        return list(self._places.values())

    def ours(self) -> list[int]:
        return [place for place in self._places.values() if place not in self._provider_runs]

    def open(self, call_id: str, name: str, position: int, metadata: JsonObject | None) -> ToolPart:
        """A new part for a call; an id that is taken, or no id, gets a fresh one (BR-02)."""
        self._places[call_id] = position
        self._raw[position] = []
        own = clean_text(call_id)
        notes: JsonObject = clean_json(metadata or {})
        if not own or len(own) > LONGEST or own in self._taken:
            notes["original_call_id"] = own
            own = f"call_{new_id()}"
        self._taken.add(own)
        return create_tool_part(
            self._session_id,
            self._message_id,
            own,
            _name(name),
            create_pending({}, ""),
            metadata=notes or None,
        )

    def hear(self, call_id: str, arguments: str) -> None:
        place = self._places.get(call_id)
        if place in self._raw:
            self._raw[place].append(arguments)

    def raw(self) -> Iterator[tuple[int, str]]:
        return ((place, clean_text("".join(pieces))) for place, pieces in self._raw.items())

    def complete(self, event: ToolCall) -> None:
        place = self._places[event.call_id]
        self._raw.pop(place, None)
        if event.by_provider:
            self._provider_runs.add(place)

    def answered(self, call_id: str) -> None:
        """The provider gave the result itself, so the call was never ours."""
        place = self._places.get(call_id)
        if place is not None:
            self._provider_runs.add(place)
            self.provider_answered = True

    def named(self, part: ToolPart, event: ToolCall) -> ToolPart:
        """The part with what only the whole call says of it."""
        notes = {**(part.metadata or {}), **clean_json(event.metadata or {})}
        name = _name(event.name) if event.name.strip() else part.tool
        return part.model_copy(update={"metadata": notes or None, "tool": name})

    def arguments(self, event: ToolCall) -> JsonObject:
        cleaned = clean_json(event.arguments)
        return cleaned if isinstance(cleaned, dict) else {"value": cleaned}


def _name(name: str) -> str:
    return clean_text(name).strip()[:LONGEST] or NAMELESS


def with_raw(part: ToolPart, raw: str) -> ToolPart:
    """The pending call with the arguments heard so far."""
    if not isinstance(part.state, ToolPending):
        return part
    return part.model_copy(update={"state": part.state.model_copy(update={"raw": raw})})


def if_lost(state: ToolState, ours: bool, now: int) -> ToolState | None:
    """The end of a call that nobody will answer once the model has said its words."""
    if isinstance(state, ToolPending):
        return tool_state.fail(tool_state.run(state, now), now, CUT_OFF)
    if isinstance(state, ToolRunning) and not ours:
        return tool_state.fail(state, now, NO_RESULT)
    return None
