"""Builds the parts of one message from the events of a provider, and lists what changed.

The order of parts is the order of events. Nothing here waits, saves or publishes.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import assert_never

from chat.engine.changes import Change, PartClosed, PartGrew, PartOpened, TextKind, ToolChanged
from chat.engine.context import used_so_far
from chat.engine.limits import Limits
from chat.engine.open_text import OpenText, is_open, with_end
from chat.engine.tool_calls import ToolCalls, if_lost, with_raw
from chat.engine.usage import Prices, cost_of_call
from chat.protocol import tool_state
from chat.protocol.factories import create_step_finish_part, create_step_start_part
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import now_ms
from chat.protocol.interfaces import (
    Adjusted,
    CaughtUp,
    Cited,
    Finish,
    ModelRequest,
    ProviderEvent,
    ReasoningDelta,
    Retrying,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolCallStart,
    ToolOutput,
    ToolResult,
    Usage,
)
from chat.protocol.notes import StateNotes, part_notes, with_state_notes
from chat.protocol.outcome import ended
from chat.protocol.parts import Part, StepFinishPart, StepStartPart, Tokens, ToolPart
from chat.protocol.reasons import Reason, reason
from chat.protocol.text import clean_text
from chat.protocol.tool_state import ToolRunning, ToolState

log = logging.getLogger(__name__)

# Why a step ended that was stopped, where its tokens are estimated.
ESTIMATED = "cancelled-estimated"


class Assembly:
    """One message in the making."""

    def __init__(
        self,
        session_id: str,
        message_id: str,
        parts: Sequence[Part] = (),
        *,
        prices: Prices | None = None,
        taken_call_ids: Collection[str] = (),
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.session_id = session_id
        self.message_id = message_id
        self._parts: list[Part] = list(parts)
        self._prices = prices or Prices()
        self._clock = clock
        self._open: OpenText | None = None
        self._calls = ToolCalls(
            session_id,
            message_id,
            {part.call_id for part in parts if isinstance(part, ToolPart)} | set(taken_call_ids),
        )
        self._step_is_open = False
        # What is asked in this step, and where its parts begin.
        self._asked: ModelRequest | None = None
        self._step_from = 0
        # Whether the provider is at work on it: it takes what it reads, also before its first word.
        self._under_way = False
        self._usage: Usage | None = None
        self.finish_reason = ""
        # The end of the last reply, as the provider told it.
        self.finish: Finish | None = None
        # In one step. One more is kept, to be refused: its card says that there were too many.
        self.max_calls = Limits().max_calls

    # --- what there is -----------------------------------------------------------

    def parts(self) -> tuple[Part, ...]:
        """All parts as they are now, open ones with the text that has come so far."""
        parts = list(self._parts)
        if self._open and self._open.is_shown:
            parts[self._open.position] = self._open.part()
        for position, raw in self._calls.raw():
            parts[position] = with_raw(self._tool(position), raw)
        return tuple(parts)

    def step_calls(self) -> tuple[ToolPart, ...]:
        """The calls of this step that are ours to answer, in their order."""
        places = self._calls.ours()
        return tuple(part for place in places if isinstance(part := self._parts[place], ToolPart))

    @property
    def runs_calls(self) -> bool:
        """Whether the reply is complete and calls of ours are under way."""
        return not self._step_is_open and any(
            isinstance(call.state, ToolRunning) for call in self.step_calls()
        )

    @property
    def runs_foreign_calls(self) -> list[ToolPart]:
        """The calls that the provider has begun and not answered yet."""
        ours = self._calls.ours()
        calls = (self._tool(place) for place in self._calls.all() if place not in ours)
        return [call for call in calls if isinstance(call.state, ToolRunning)]

    # --- steps -------------------------------------------------------------------

    def open_step(self, request: ModelRequest | None = None) -> list[Change]:
        self._calls.new_step()
        self._usage = None
        self._asked = request
        self._under_way = request is not None
        self._step_from = len(self._parts)
        self.finish_reason = ""
        self._step_is_open = True
        return [self._add(create_step_start_part(self.session_id, self.message_id))]

    def close_step(self, reason: str = "", usage: Usage | None = None) -> list[Change]:
        """The reply is complete: nothing stays open but the calls that we run."""
        changes = self._close_text()
        if self.finish_reason != "pause":
            # What a provider makes a pause in goes on in the next step.
            changes += self._fail_lost_calls()
        used = usage or self._usage or Usage(Tokens())
        reason = reason or self.finish_reason or ("tool-calls" if self.step_calls() else "unknown")
        self.finish_reason = reason
        self._usage = None
        self._step_is_open = False
        cost = cost_of_call(used, self._prices)
        part = create_step_finish_part(
            self.session_id, self.message_id, clean_text(reason), cost, used.tokens
        )
        return [*changes, self._add(part)]

    def refuse_step(self) -> None:
        """The request was not answered: if nothing has come of it, it has cost nothing."""
        self._under_way = False

    def abort(self, error: str = tool_state.ABORTED) -> list[Change]:
        """Close everything that is open, keeping all text, and the cost if it is known."""
        changes = self._close_text() + self._close_stored() + self._abort_calls(error)
        return changes + self._cut_step()

    def pause(self) -> list[Change]:
        """Close what is open so that another assembly can go on: calls of ours that are whole stay
        as they are, to be run there."""
        changes = self._close_text() + self._close_stored()
        changes += self._abort_calls(tool_state.ABORTED, keep=set(self._calls.ours()))
        return changes + self._cut_step()

    def take_over(self) -> list[Change]:
        """Go on with the parts of another assembly: what was being written there is closed, and
        calls that have no result are calls of this step."""
        places = [
            place
            for place, part in enumerate(self._parts)
            if isinstance(part, ToolPart)
            and isinstance(part.state, ToolRunning)
            and not part_notes(part).by_provider
        ]
        changes = self._close_stored() + self._abort_calls(tool_state.ABORTED, keep=set(places))
        for place in places:
            self._calls.take(self._tool(place).call_id, place)
        if not places and self._parts and isinstance(last := self._parts[-1], StepFinishPart):
            self.finish_reason = last.reason
        return changes

    def _cut_step(self) -> list[Change]:
        changes: list[Change] = []
        if self._step_is_open and self._usage and not self._usage.is_of_begin:
            changes += self.close_step("cancelled")
        elif self._step_is_open and (estimate := self._estimate()):
            changes += self.close_step(ESTIMATED, estimate)
        self._step_is_open = False
        return changes

    def _estimate(self) -> Usage | None:
        """About what a step has used that was stopped before its provider said so; nothing if its
        request was refused, or waited to be made again."""
        written = self._parts[self._step_from :]
        has_begun = any(not isinstance(part, StepStartPart) for part in written)
        if self._asked is None or not (self._under_way or has_begun):
            return None
        used = used_so_far(self._asked, written)
        if self._usage is not None:
            # Of the beginning it was told: what was read is exact then.
            told = self._usage.tokens
            used = used.model_copy(update={"input": told.input, "cache": told.cache})
        return Usage(used)

    # --- events ------------------------------------------------------------------

    def apply(self, event: ProviderEvent) -> list[Change]:
        match event:
            case TextDelta():
                return self._next_step() + self._grow("text", event.text, event.metadata)
            case ReasoningDelta():
                return self._next_step() + self._grow("reasoning", event.text, event.metadata)
            case ToolCallStart():
                return self._next_step() + self._open_call(event)
            case ToolCall():
                return self._next_step() + self._call(event)
            case ToolOutput():
                return self._output(event)
            case Retrying() | Adjusted():
                self._under_way = not (isinstance(event, Retrying) and event.wait)
                return self._start_over()
            case CaughtUp():
                return []
            case ToolCallDelta() | Cited() | Usage() | Finish():
                self._note(event)
                return []
            case _:
                assert_never(event)

    def _note(self, event: ToolCallDelta | Cited | Usage | Finish) -> None:
        """What changes nothing yet: it is told with the part or the step that it belongs to."""
        match event:
            case ToolCallDelta():
                self._calls.add_arguments(event.call_id, event.arguments)
            case Cited():
                if self._open is not None and self._open.kind == "text":
                    self._open.cite(event)
            case Usage():
                self._usage = event
            case Finish():
                self.finish_reason, self.finish = event.reason, event
            case _:
                assert_never(event)

    def finish_tool(self, call_id: str, result: ToolResult) -> list[Change]:
        """The result of a running call; for any other call it comes too late and is dropped."""
        if (found := self._running(call_id)) is None:
            return []
        return [self._set(found[0], ended(found[1].state, self._clock(), result))]

    def fail_tool(self, call_id: str, error: str, *reasons: Reason) -> list[Change]:
        return self.finish_tool(call_id, ToolResult.failed(error, *reasons))

    def update_tool(
        self, call_id: str, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> list[Change]:
        """A running call gets a title or metadata."""
        if (found := self._running(call_id)) is None:
            return []
        state = tool_state.run(found[1].state, self._clock(), title=title, metadata=metadata)
        return [self._set(found[0], state)]

    # --- text and thoughts -------------------------------------------------------

    def _grow(self, kind: TextKind, text: str, metadata: JsonObject | None = None) -> list[Change]:
        changes: list[Change] = []
        if self._open and (self._open.kind != kind or self._open.ends_before(text, metadata)):
            changes = self._close_text()
        if not text and not metadata:
            return changes
        if self._open is None:
            self._open = OpenText(self.session_id, self.message_id, kind, self._clock())
        if metadata:
            self._open.add_metadata(metadata)
        return changes + self._show(self._open, self._open.add(text))

    def _show(self, text: OpenText, delta: str) -> list[Change]:
        changes: list[Change] = []
        if not text.is_shown and (delta or (text.metadata and text.kind == "reasoning")):
            text.position = len(self._parts)
            changes.append(self._add(text.part(empty=True)))
        if delta:
            changes.append(PartGrew(text.position, text.id, text.length, delta, text.kind))
            text.length += len(delta)
        return changes

    def _close_text(self, abandoned: bool = False) -> list[Change]:
        text, self._open = self._open, None
        if text is None:
            return []
        changes = self._show(text, text.finish())
        if not text.is_shown:
            return []
        part = text.part(end=self._clock(), abandoned=abandoned)
        self._parts[text.position] = part
        return [*changes, PartClosed(text.position, part)]

    def _close_stored(self) -> list[Change]:
        """What was open when it was last saved, by a process that is gone, ends now."""
        changes: list[Change] = []
        for position, part in enumerate(self._parts):
            if is_open(part):
                self._parts[position] = closed = with_end(part, self._clock())
                changes.append(PartClosed(position, closed))
        return changes

    # --- calls -------------------------------------------------------------------

    def _open_call(self, event: ToolCallStart | ToolCall) -> list[Change]:
        known = self._calls.position(event.call_id) is not None
        if known or len(self._calls.all()) > self.max_calls:
            return []
        changes = self._close_text()
        part = self._calls.open(event, len(self._parts))
        return [*changes, self._add(part)]

    def _call(self, event: ToolCall) -> list[Change]:
        changes = self._open_call(event)
        position = self._calls.position(event.call_id)
        if position is None:
            return changes
        self._calls.complete(event)
        part = self._tool(position)
        if not isinstance(part.state, tool_state.ToolPending | ToolRunning):
            log.warning("call %s came again after its end", part.call_id)
            return changes
        self._parts[position] = self._calls.named(part, event)
        state = tool_state.run(part.state, self._clock(), input=self._calls.arguments(event))
        changes.append(self._set(position, state))
        if event.fault:
            changes += self._refuse_arguments(part.call_id, event)
        return changes

    def _refuse_arguments(self, call_id: str, event: ToolCall) -> list[Change]:
        notes = with_state_notes(None, StateNotes(raw_arguments=clean_text(event.raw)))
        reasons = event.reasons or (reason("unusable_arguments"),)
        return [
            *self.update_tool(call_id, metadata=notes),
            *self.fail_tool(call_id, event.fault, *reasons),
        ]

    def _output(self, event: ToolOutput) -> list[Change]:
        position = self._calls.position(event.call_id)
        call_id = event.call_id if position is None else self._tool(position).call_id
        changes = self.finish_tool(call_id, event.result)
        if changes:
            self._calls.answered(event.call_id)
        return changes

    def _next_step(self) -> list[Change]:
        """A provider that runs its tools itself goes on after them: that is a new step."""
        if not self._step_is_open or not self._calls.provider_answered:
            return []
        if any(isinstance(self._tool(place).state, ToolRunning) for place in self._calls.all()):
            return []
        return self.close_step("tool-calls") + self.open_step()

    def _start_over(self) -> list[Change]:
        """The provider is asked again: what this attempt left unfinished is not its answer."""
        changes = self._close_text(abandoned=True) + self._abort_calls(tool_state.ABORTED)
        self._calls.new_step()
        self._usage = None
        return changes

    def _fail_lost_calls(self) -> list[Change]:
        ours, now = self._calls.ours(), self._clock()
        lost = {p: if_lost(self._tool(p).state, p in ours, now) for p in self._calls.all()}
        return [self._set(place, state) for place, state in lost.items() if state]

    def _abort_calls(self, error: str, keep: Collection[int] = ()) -> list[Change]:
        """End all calls without a result, except running ones at these places."""
        return [
            self._set(place, tool_state.abort(part.state, self._clock(), error))
            for place, part in enumerate(self._parts)
            if isinstance(part, ToolPart)
            and isinstance(part.state, tool_state.ToolPending | ToolRunning)
            and not (place in keep and isinstance(part.state, ToolRunning))
        ]

    def _running(self, call_id: str) -> tuple[int, ToolPart] | None:
        for position in range(len(self._parts) - 1, -1, -1):
            part = self._parts[position]
            if isinstance(part, ToolPart) and part.call_id == call_id:
                if isinstance(part.state, ToolRunning):
                    return position, part
                break
        log.warning("a result for call %s, which is not running, was dropped", call_id)
        return None

    # --- the list ----------------------------------------------------------------

    def _tool(self, position: int) -> ToolPart:
        part = self._parts[position]
        assert isinstance(part, ToolPart)
        return part

    def _add(self, part: Part) -> PartOpened:
        self._parts.append(part)
        return PartOpened(len(self._parts) - 1, part)

    def _set(self, position: int, state: ToolState) -> ToolChanged:
        part = self._tool(position).model_copy(update={"state": state})
        self._parts[position] = part
        return ToolChanged(position, part)
