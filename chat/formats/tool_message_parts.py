"""Parts ↔ the ToolMessage2 wire: written when exporting, read when importing, never stored."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from chat.formats.tool_messages import PairingFault, pair
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
from chat.protocol.tool_state import ToolCompleted, ToolError, ToolState

Clock = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Imported:
    messages: tuple[WithParts, ...]
    faults: tuple[PairingFault, ...]


# --- out --------------------------------------------------------------------------


def to_tool_messages(messages: Sequence[WithParts]) -> list[JsonObject]:
    """The wire's list; each step is a message, followed by the results of its calls."""
    wire: list[JsonObject] = []
    for message in messages:
        for form in _forms(message):
            parent = wire[-1]["uuid"] if wire else None
            wire.append({**form, "uuid": new_id(), "parentUuid": parent})
    return wire


def _forms(message: WithParts) -> Iterator[JsonObject]:
    if not isinstance(message.info, AnswerInfo):
        yield {"role": "user", "content": _question(message.parts)}
        return
    for is_mark, group in groupby(message.parts, lambda part: isinstance(part, StepStartPart)):
        step = tuple(group)
        content = [block for part in step for block in _block(part)]
        if is_mark or not content:
            continue
        yield {
            "role": "assistant",
            "content": content,
            "text": "".join(part.text for part in step if isinstance(part, TextPart)),
            "model": message.info.model_id,
            "usage": _usage(step),
        }
        results = [result for part in step for result in _result(part)]
        if results:
            yield {"role": "tool", "content": results}


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
            "toolCallId": part.call_id,
            "toolName": part.tool,
            "input": part.state.input,
            "result": result_to_wire(part.state),
        }


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
    """Messages with parts. A result that answers no call is a part too, and among the faults."""
    paired = pair(clean_json(list(wire)))
    reader = _Reader(session_id, clock)
    for role, group in groupby(paired.messages, lambda message: message.get("role")):
        if role == "assistant":
            reader.answer(list(group))
        elif role == "user":
            for message in group:
                reader.question(message)
    for fault in paired.faults:
        reader.unpaired(fault)
    return Imported(tuple(reader.messages), tuple(paired.faults))


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
            parts.append(create_step_start_part(self._session_id, message_id))
            parts += self._parts(blocks or [], message_id)
        model = ModelRef(provider_id="", model_id=str(steps[-1].get("model") or ""))
        self._add_answer(message_id, parts, model)

    def unpaired(self, fault: PairingFault) -> None:
        if not self.messages or not isinstance(self.messages[-1].info, AnswerInfo):
            message_id = new_id()
            start = create_step_start_part(self._session_id, message_id)
            self._add_answer(message_id, [start], None)
        last = self.messages[-1]
        block = {
            "id": fault.call_id or f"call_{new_id()}",
            "name": fault.part.get("toolName"),
            "input": fault.part.get("input"),
            "result": fault.part.get("result"),
        }
        notes = with_part_notes(None, PartNotes(unpaired=True))
        part = self._tool(block, last.info.id).model_copy(update={"metadata": notes})
        taken = {tool.call_id for tool in last.tools}
        if part.call_id in taken:
            part = part.model_copy(update={"call_id": f"call_{new_id()}"})
        self.messages[-1] = WithParts(info=last.info, parts=(*last.parts, part))

    def _add_answer(self, message_id: str, parts: list[Part], model: ModelRef | None) -> None:
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
                case "image":
                    mime = str(block.get("mimeType") or "image/png")
                    url = str(block.get("data", ""))
                    yield create_file_part(self._session_id, message_id, mime, url)

    def _tool(self, block: JsonObject, message_id: str) -> ToolPart:
        given = block.get("input")
        arguments = given if isinstance(given, dict) else {"value": given}
        name = str(block.get("name") or "unknown")
        state = self._state(arguments, block.get("result"), message_id)
        return create_tool_part(self._session_id, message_id, str(block["id"]), name, state)

    def _state(self, input: JsonObject, wire: object, message_id: str) -> ToolState:
        now = self._clock()
        running = tool_state.run(create_pending(input, ""), now)
        if wire is None:
            return tool_state.abort(running, now)
        result = result_from_wire(wire, input, self._session_id, message_id)
        if result.is_error and result.text == CANCELLED_FOR_MODEL:
            return tool_state.abort(running, now)
        return ended(running, now, result)
