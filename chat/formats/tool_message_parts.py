"""Parts ↔ the ToolMessage2 wire: written for exports and programs, read when importing, never
stored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from uuid import NAMESPACE_OID, uuid5

from chat.formats.tool_messages import PairedMessages, PairingFault, pair
from chat.formats.tool_results import CANCELLED_FOR_MODEL, result_from_wire, result_to_wire
from chat.protocol import tool_state
from chat.protocol.factories import (
    create_answer,
    create_file_part,
    create_pending,
    create_reasoning_part,
    create_step_start_part,
    create_text_part,
    create_tool_part,
    create_user_message,
)
from chat.protocol.frozen import JsonObject
from chat.protocol.ids import new_id, now_ms
from chat.protocol.messages import AnswerInfo, ModelRef, WithParts, finish_answer
from chat.protocol.notes import PartNotes, part_notes, with_part_notes
from chat.protocol.outcome import ended
from chat.protocol.parts import (
    FilePart,
    Part,
    ReasoningPart,
    StepFinishPart,
    StepStartPart,
    TextPart,
    ToolPart,
)
from chat.protocol.text import clean_json
from chat.protocol.tool_state import (
    ToolCompleted,
    ToolError,
    ToolPending,
    ToolRunning,
    ToolState,
)

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Imported:
    messages: tuple[WithParts, ...]
    faults: tuple[PairingFault, ...]


# --- out --------------------------------------------------------------------------


def to_tool_messages(
    messages: Sequence[WithParts], *, only_whole: bool = False
) -> list[JsonObject]:
    """The wire's list; each step is a message, followed by the results of its calls.

    The same message has the same `uuid` every time. With `only_whole` there is nothing of a
    running answer that may still change.
    """
    wire: list[JsonObject] = []
    after: str | None = None
    for message in messages:
        for form in _forms(message, only_whole=only_whole):
            wire.append({**form, "parentUuid": after})
            after = form["uuid"]
    return wire


def _forms(message: WithParts, *, only_whole: bool) -> Iterator[JsonObject]:
    info = message.info
    if not isinstance(info, AnswerInfo):
        yield {"role": "user", "uuid": info.id, "content": _question(message.parts)}
        return
    may_change = only_whole and info.status in ("pending", "streaming")
    steps = list(_steps(message))
    for number, (key, step) in enumerate(steps):
        # The order must be that of a reload: nothing overtakes what is not whole.
        if may_change and number + 1 == len(steps) and not _has_ended(step):
            return
        if content := [block for part in step if not _is_orphan(part) for block in _block(part)]:
            yield {
                "role": "assistant",
                "uuid": key,
                "content": content,
                "text": "".join(part.text for part in step if isinstance(part, TextPart)),
                "model": info.model_id,
                "usage": _usage(step),
            }
        if may_change and any(map(_is_open, step)):
            return
        if results := [result for part in step for result in _result(part)]:
            yield {"role": "tool", "uuid": _results_id(key), "content": results}


def _steps(message: WithParts) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """The steps of an answer, each with an id that stays."""
    key = message.info.id
    for is_mark, group in groupby(message.parts, lambda part: isinstance(part, StepStartPart)):
        step = tuple(group)
        if is_mark:
            key = step[-1].id
        else:
            yield key, step


def _has_ended(step: Sequence[Part]) -> bool:
    return any(isinstance(part, StepFinishPart) for part in step)


def _is_open(part: Part) -> bool:
    return isinstance(part, ToolPart) and isinstance(part.state, ToolPending | ToolRunning)


def _is_orphan(part: Part) -> bool:
    """A result that came without a call goes without one again."""
    return part_notes(part).unpaired


def _results_id(step: str) -> str:
    return str(uuid5(NAMESPACE_OID, f"{step} results"))


def _question(parts: Sequence[Part]) -> str | list[JsonObject]:
    blocks = [block for part in parts for block in _block(part)]
    if all(block["type"] == "text" for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks


def _block(part: Part) -> Iterator[JsonObject]:
    if part_notes(part).unreadable:
        return  # the wire has no form for it
    match part:
        case TextPart():
            yield {"type": "text", "text": part.text}
        case ReasoningPart():
            # Some have no words, but only what its model is given back.
            if part.text:
                yield {"type": "reasoning", "text": part.text}
        case ToolPart():
            call = {"id": part.call_id, "name": part.tool, "input": part.state.input}
            yield {"type": "tool_use", **call}
        case FilePart():
            yield {"type": "image", "data": part.url, "mimeType": part.mime}
        case StepStartPart() | StepFinishPart():
            return


def _result(part: Part) -> Iterator[JsonObject]:
    if isinstance(part, ToolPart) and isinstance(part.state, ToolCompleted | ToolError):
        yield {
            "type": "tool-result",
            "toolCallId": _call_id(part),
            "toolName": part.tool,
            "input": part.state.input,
            "result": result_to_wire(part.state),
        }


def _call_id(part: ToolPart) -> str:
    """An orphan names the call that it came for."""
    notes = part_notes(part)
    return notes.original_call_id or part.call_id if notes.unpaired else part.call_id


def _usage(step: Sequence[Part]) -> JsonObject:
    used = [part.tokens for part in step if isinstance(part, StepFinishPart)]
    return {
        "input_tokens": sum(tokens.input for tokens in used),
        "output_tokens": sum(tokens.output for tokens in used),
    }


# --- in ---------------------------------------------------------------------------


def from_tool_messages(
    wire: Iterable[JsonObject], session_id: str, clock: Clock = now_ms
) -> Imported:
    """Messages with parts. A result that answers no call is a part too, in the place where it
    came, and among the faults."""
    paired = pair(clean_json(list(wire)))
    reader = _Reader(session_id, clock)
    for role, group in groupby(_in_order(paired), _role):
        if role == "assistant":
            reader.answer(list(group))
        elif role == "user":
            for message in group:
                reader.question(message)
    return Imported(tuple(reader.messages), tuple(paired.faults))


def _in_order(paired: PairedMessages) -> Iterator[JsonObject]:
    """The messages, and the results without a call where they came."""
    for place in range(len(paired.messages) + 1):
        yield from paired.messages[place - 1 : place] if place else ()
        orphans = [_orphan(fault) for fault in paired.faults if fault.after == place]
        if orphans:
            yield {"role": "assistant", "content": orphans, "is_orphan": True}


def _orphan(fault: PairingFault) -> JsonObject:
    return {
        "type": "orphan",
        "id": fault.call_id,
        "name": fault.part.get("toolName"),
        "input": fault.part.get("input"),
        "result": fault.part.get("result"),
    }


def _role(message: JsonObject) -> object:
    return message.get("role")


class _Reader:
    def __init__(self, session_id: str, clock: Clock) -> None:
        self.messages: list[WithParts] = []
        self._session_id = session_id
        self._clock = clock

    def question(self, message: JsonObject) -> None:
        content = message.get("content")
        if isinstance(content, str):
            self.messages.append(create_user_message(self._session_id, content))
            return
        made = create_user_message(self._session_id, "")
        parts = tuple(self._parts(content or [], made.info.id))
        self.messages.append(WithParts(info=made.info, parts=parts))

    def answer(self, steps: Sequence[JsonObject]) -> None:
        message_id = new_id()
        parts: list[Part] = []
        for step in steps:
            content = step.get("content")
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            if not parts or not step.get("is_orphan"):
                parts.append(create_step_start_part(self._session_id, message_id))
            parts += self._parts(blocks or [], message_id)
        model = next((str(step["model"]) for step in reversed(steps) if step.get("model")), "")
        self._add_answer(
            message_id, list(_with_own_ids(parts)), ModelRef(provider_id="", model_id=model)
        )

    def _add_answer(self, message_id: str, parts: list[Part], model: ModelRef) -> None:
        parent = self.messages[-1].info.id if self.messages else None
        made = create_answer(self._session_id, parent, model=model, parts=parts)
        self.messages.append(finish_answer(made, self._clock(), status="success", finish="stop"))

    def _parts(self, blocks: Sequence[JsonObject], message_id: str) -> Iterator[Part]:
        for block in blocks:
            text = str(block.get("text") or "")
            match block.get("type"):
                case "text" if text:
                    yield create_text_part(self._session_id, message_id, text)
                case "reasoning" if text:
                    yield create_reasoning_part(self._session_id, message_id, text)
                case "tool":
                    yield self._tool(block, message_id)
                case "orphan":
                    notes = with_part_notes(None, PartNotes(unpaired=True))
                    yield self._tool(block, message_id).model_copy(update={"metadata": notes})
                case "image":
                    mime = str(block.get("mimeType") or "image/png")
                    url = str(block.get("data", ""))
                    name = str(block.get("name") or "") or None
                    yield create_file_part(self._session_id, message_id, mime, url, name)

    def _tool(self, block: JsonObject, message_id: str) -> ToolPart:
        given = block.get("input")
        arguments = given if isinstance(given, dict) else {"value": given}
        name = str(block.get("name") or "unknown")
        state = self._state(arguments, block.get("result"), message_id)
        call_id = str(block["id"]) or f"call_{new_id()}"
        return create_tool_part(self._session_id, message_id, call_id, name, state)

    def _state(self, input: JsonObject, wire: object, message_id: str) -> ToolState:
        now = self._clock()
        running = tool_state.run(create_pending(input, ""), now)
        if wire is None:
            return tool_state.abort(running, now)
        result = result_from_wire(wire, input, self._session_id, message_id)
        if result.is_error and result.text == CANCELLED_FOR_MODEL:
            return tool_state.abort(running, now)
        return ended(running, now, result)


def _with_own_ids(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts of a message, whose calls have ids of their own: one that is there already is kept
    as a note."""
    taken: set[str] = set()
    for part in parts:
        if isinstance(part, ToolPart) and part.call_id in taken:
            notes = replace(part_notes(part), original_call_id=part.call_id)
            own = {
                "call_id": f"call_{new_id()}",
                "metadata": with_part_notes(part.metadata, notes),
            }
            yield part.model_copy(update=own)
        else:
            yield part
        if isinstance(part, ToolPart):
            taken.add(part.call_id)
