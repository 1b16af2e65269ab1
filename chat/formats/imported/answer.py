"""One answer that is being read: its texts, thoughts, calls and steps in their order."""

from collections.abc import Callable
from dataclasses import dataclass, field

from chat.formats.imported import displays
from chat.formats.imported.plans import Plans
from chat.formats.imported.updates import (
    Called,
    InlineFile,
    Returned,
    Step,
    StepUsed,
    TurnEnded,
    Words,
)
from chat.protocol import tool_state
from chat.protocol.citations import MOST, Citation
from chat.protocol.displays import TodoItem
from chat.protocol.factories import (
    create_answer,
    create_file_part,
    create_pending,
    create_step_finish_part,
    create_step_start_part,
    create_tool_part,
)
from chat.protocol.ids import new_id
from chat.protocol.interfaces import ToolResult
from chat.protocol.messages import AnswerTime, MessageError, ModelRef, WithParts, finish_answer
from chat.protocol.notes import PartNotes, part_notes, with_part_notes
from chat.protocol.outcome import ended
from chat.protocol.parts import (
    CacheTokens,
    FilePart,
    OpenSpan,
    Part,
    ReasoningPart,
    Span,
    StepStartPart,
    TextPart,
    Tokens,
    ToolPart,
)
from chat.protocol.tool_state import ToolPending, ToolRunning

UNKNOWN_TOOL = "Tool"
FAILED = "error.chat_generation_failed"
# The words are those of the file, which belongs to whoever imports it.
FAILED_SAYING = "error.chat_imported_failure"
LONGEST_WORDS = 2000


@dataclass(slots=True)
class _Text:
    """A text or a thought; its words are joined once, at the end."""

    kind: str
    parent: str
    start: int
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    citations: tuple[Citation, ...] = ()
    end: int = 0
    id: str = field(default_factory=new_id)


def file_part(session_id: str, message_id: str, file: InlineFile) -> FilePart:
    """A file that came along; one that is only named has no address that anybody asks."""
    mime, url = file.mime or "application/octet-stream", file.url or "about:blank"
    return create_file_part(session_id, message_id, mime, url, file.name or None)


class Answer:
    def __init__(
        self, session_id: str, clock: Callable[[], int], plan: tuple[TodoItem, ...] = ()
    ) -> None:
        self.id = new_id()
        self._plans = Plans(plan)
        self.created: int | None = None
        self._session_id = session_id
        self._clock = clock
        # In their order: finished parts, texts that grow, and calls by their id.
        self._entries: list[Part | _Text | str] = []
        self._texts: dict[str, _Text] = {}
        self._tools: dict[str, ToolPart] = {}
        self._used: Tokens | None = None
        self._reason = ""
        self._last_at = 0
        self._is_timed = False

    @property
    def plan(self) -> tuple[TodoItem, ...]:
        """The last plan that was made, here or before."""
        return self._plans.main

    @property
    def is_empty(self) -> bool:
        return not self._texts and not self._tools

    # --- taking in ----------------------------------------------------------------

    def step(self, step: Step) -> None:
        self._at(step.at)
        if not step.parent:
            self._end_step()
            self._entries.append(create_step_start_part(self._session_id, self.id))
            self._used = Tokens()

    def used(self, step: StepUsed) -> None:
        """Each report knows some of the numbers; none of them goes down."""
        known, new = self._used or Tokens(), step.tokens
        self._used = Tokens(
            input=max(known.input, new.input),
            output=max(known.output, new.output),
            cache=CacheTokens(
                read=max(known.cache.read, new.cache.read),
                write=max(known.cache.write, new.cache.write),
            ),
        )
        self._reason = step.reason or self._reason

    def say(self, words: Words) -> None:
        at = self._at(words.at)
        text = self._texts.get(words.block)
        if text is None:
            text = self._texts[words.block] = _Text(words.kind, words.parent, at)
            self._entries.append(text)
        text.pieces.append(words.delta)
        text.signature = words.signature or text.signature
        text.citations += words.citations
        text.end = at

    def call(self, call: Called) -> None:
        at = self._at(call.at)
        known = self._tools.get(call.call_id)
        if known is None:
            self._entries.append(call.call_id)
            pending = create_pending(call.input, "")
            known = create_tool_part(
                self._session_id,
                self.id,
                call.call_id,
                call.name,
                pending,
                with_part_notes(
                    None,
                    PartNotes(parent_call_id=call.parent, original_call_id=call.original_id),
                ),
            )
        state = known.state
        if not call.is_pending and isinstance(state, ToolPending | ToolRunning):
            state = tool_state.run(state, at, input=call.input)
        self._tools[call.call_id] = known.model_copy(update={"state": state})

    def waits_for(self, call_id: str) -> bool:
        """Whether it has this call, and no result of it."""
        part = self._tools.get(call_id)
        return part is not None and isinstance(part.state, ToolPending | ToolRunning)

    def result(self, result: Returned) -> None:
        part = self.with_result(self._tools[result.call_id], result)
        self._tools[result.call_id] = part

    def unpaired(self, result: Returned) -> None:
        """A result whose call nobody saw has a card of its own."""
        is_taken = result.call_id in self._tools
        call_id = f"call_{new_id()}" if is_taken or not result.call_id else result.call_id
        self.call(Called(call_id, UNKNOWN_TOOL, {}, at=result.at))
        own = PartNotes(unpaired=True, original_call_id=result.call_id if is_taken else None)
        notes = with_part_notes(None, own)
        part = self.with_result(self._tools[call_id], result)
        self._tools[call_id] = part.model_copy(update={"metadata": notes})

    def with_result(self, part: ToolPart, result: Returned) -> ToolPart:
        """The call with what came of it."""
        at = self._at(result.at)
        state = part.state
        if isinstance(state, ToolPending):
            state = tool_state.run(state, at)
        agent = part_notes(part).parent_call_id
        call = Called(part.call_id, part.tool, part.state.input, agent)
        display = displays.of_returned(call, result, self._plans)
        files = tuple(file_part(self._session_id, part.message_id, file) for file in result.files)
        outcome = ToolResult(
            result.output, display=display, is_error=result.is_error, attachments=files
        )
        return part.model_copy(update={"state": ended(state, at, outcome)})

    # --- giving out ---------------------------------------------------------------

    def parts(self) -> tuple[Part, ...]:
        return tuple(self._part(entry) for entry in self._entries)

    def open_calls(self) -> dict[str, ToolPart]:
        return {
            call_id: part
            for call_id, part in self._tools.items()
            if isinstance(part.state, ToolPending | ToolRunning)
        }

    def finished(
        self, parent_id: str, model: str, end: TurnEnded | None, *, interrupted: bool
    ) -> WithParts:
        """The answer as it ended: whole, failed, or stopped."""
        at = self._at(end.at if end else None)
        self._end_step(end.cost if end else 0.0, end.finish if end else "")
        for call_id, part in self.open_calls().items():
            aborted = part.model_copy(update={"state": tool_state.abort(part.state, at)})
            self._tools[call_id] = aborted
        made = create_answer(
            self._session_id,
            parent_id,
            model=ModelRef(provider_id="", model_id=model),
            parts=self.parts(),
        )
        time = AnswerTime(created=self.created or at)
        made = WithParts(info=made.info.model_copy(update={"time": time}), parts=made.parts)
        if interrupted:
            return finish_answer(made, at, status="cancelled")
        if end is not None and end.status == "error":
            detail = end.message[:LONGEST_WORDS]
            data = {"code": end.error_code, "detail": detail, "status": end.http_status}
            known = {key: value for key, value in data.items() if value}
            key = FAILED_SAYING if end.message else FAILED
            error = MessageError(name="ImportedError", key=key, data=known)
            return finish_answer(made, at, status="error", finish="error", error=error)
        return finish_answer(made, at, status="success", finish=self._reason or "stop")

    def _part(self, entry: Part | _Text | str) -> Part:
        if isinstance(entry, str):
            return self._tools[entry]
        if not isinstance(entry, _Text):
            return entry
        own = PartNotes(parent_call_id=entry.parent, citations=entry.citations[:MOST])
        notes = with_part_notes(None, own)
        words = "".join(entry.pieces)
        if entry.kind == "text":
            return TextPart(
                id=entry.id,
                session_id=self._session_id,
                message_id=self.id,
                text=words,
                time=OpenSpan(start=entry.start, end=entry.end),
                metadata=notes,
            )
        signature = {"signature": entry.signature} if entry.signature else {}
        return ReasoningPart(
            id=entry.id,
            session_id=self._session_id,
            message_id=self.id,
            text=words,
            time=Span(start=entry.start, end=entry.end),
            metadata={**(notes or {}), **signature} or None,
        )

    def _end_step(self, cost: float = 0.0, reason: str = "") -> None:
        if self._used is None:
            return
        if self._entries and isinstance(self._entries[-1], StepStartPart) and not cost:
            # All that it said is of a kind that cannot be kept, such as a locked thought.
            self._entries.pop()
            self._used, self._reason = None, ""
            return
        reason = reason or self._reason or "stop"
        self._entries.append(
            create_step_finish_part(self._session_id, self.id, reason, cost, self._used)
        )
        self._used, self._reason = None, ""

    def _at(self, at: int | None) -> int:
        """The time of an update; it never goes back. Without one it is that of the last that had
        one, or now where none has."""
        if at is not None:
            self._is_timed = True
        elif not self._is_timed:
            at = self._clock()
        self._last_at = max(self._last_at, at or 0)
        if self.created is None:
            self.created = self._last_at
        return self._last_at
